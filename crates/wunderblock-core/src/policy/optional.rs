//! Values that a policy may leave unset.

use super::permille::Permille;
use crate::units::Tokens;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A value that may be unset, such as a limit. Policy files and ledgers write an unset value as 0, so a set value is
/// never 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Optional<T>(Option<T>);

impl<T: Copy + Default + PartialEq> Optional<T> {
    /// Returns the value, unset if it is 0.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self((value != T::default()).then_some(value))
    }

    /// Returns the value, if it is set.
    #[must_use]
    pub const fn get(self) -> Option<T> {
        self.0
    }
}

impl<T: Copy + Ord> Optional<T> {
    /// An unset value.
    pub const UNSET: Self = Self(None);

    /// Returns `value`, but at most this value if it is set.
    #[must_use]
    pub fn cap(self, value: T) -> T {
        self.0.map_or(value, |most| value.min(most))
    }
}

impl Optional<Permille> {
    /// Returns this fraction of a number of tokens. A fraction of less than one token is unset.
    #[must_use]
    pub fn of(self, whole: Tokens) -> Optional<Tokens> {
        Optional::new(self.0.unwrap_or_default().of(whole))
    }
}

impl<T: fmt::Display + Copy + Default> fmt::Display for Optional<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.unwrap_or_default().fmt(f)
    }
}

impl<T: Serialize + Copy + Default> Serialize for Optional<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.unwrap_or_default().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de> + Copy + Default + PartialEq> Deserialize<'de> for Optional<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::new)
    }
}
