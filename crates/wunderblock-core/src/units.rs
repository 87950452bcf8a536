//! Units as types: a count of tokens cannot be used as a count of bytes, or as a position in a stream.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// Returns whether a field has its default value, which is not written.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

macro_rules! unit {
    ($(#[$doc:meta])* $name:ident($repr:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $repr);

        impl $name {
            /// Zero.
            pub const ZERO: Self = Self(0);

            /// Returns the difference, never below zero: a budget that is used up must not wrap.
            #[must_use]
            pub const fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
                items.fold(Self::ZERO, Add::add)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

unit! {
    /// Number of model tokens.
    Tokens(u64)
}
unit! {
    /// Number of bytes of UTF-8 text or of an encoded request.
    Bytes(u64)
}
unit! {
    /// Number of milliseconds; for a point in time, the number since 1970-01-01T00:00:00Z.
    Millis(i64)
}

impl Millis {
    /// Formats how long before `now` this time was, in at most eight characters: `5m ago`, `7d ago`, `11mo ago`, or
    /// `now` within a minute. Empty without a time.
    #[must_use]
    pub fn ago(self, now: Self) -> String {
        let seconds = now.0.saturating_sub(self.0) / 1_000;
        let units = [(31_536_000, "y"), (2_592_000, "mo"), (86_400, "d"), (3_600, "h"), (60, "m")];
        match units.into_iter().find(|(unit, _)| seconds >= *unit) {
            _ if self.0 <= 0 => String::new(),
            Some((unit, name)) => format!("{}{name} ago", seconds / unit),
            None => "now".to_owned(),
        }
    }
}

/// A position in a stream. The first event has `Seq(1)`; `Seq(0)` comes before all events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    /// Position before the first event.
    pub const START: Self = Self(0);

    /// Returns the position after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// Returns the position before this one. [`Seq::START`] returns itself.
    #[must_use]
    pub const fn prev(self) -> Self {
        Self(self.0.saturating_sub(1))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Cost of a text in a request: tokens for the window, bytes for the provider's size limit.
///
/// `bytes` is the length inside a JSON string, escapes included, without the quotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Number of tokens, as counted for the model that receives the request.
    pub tokens: Tokens,
    /// Bytes in the encoded request.
    pub bytes: Bytes,
}

impl Cost {
    /// Zero cost.
    pub const ZERO: Self = Self { tokens: Tokens(0), bytes: Bytes(0) };

    /// Creates a cost from tokens and bytes.
    #[must_use]
    pub const fn new(tokens: u64, bytes: u64) -> Self {
        Self { tokens: Tokens(tokens), bytes: Bytes(bytes) }
    }

    /// Returns what is left after paying `other`, never below zero.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }

    /// Returns whether the cost fits into `limit`, in tokens and in bytes.
    #[must_use]
    pub fn fits(self, limit: Self) -> bool {
        self.tokens <= limit.tokens && self.bytes <= limit.bytes
    }
}

impl Add for Cost {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { tokens: self.tokens + other.tokens, bytes: self.bytes + other.bytes }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::ZERO, Add::add)
    }
}
