//! Typed identifiers, so that a call id is never mistaken for a session id.

use crate::units::Seq;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Maximum length of an id in the ledger, in bytes.
pub const MAX_ID_BYTES: usize = 512;

/// Reason why a text is not a valid id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The text is empty.
    #[error("the {what} is empty")]
    Empty {
        /// Kind of id.
        what: &'static str,
    },
    /// The text is longer than [`MAX_ID_BYTES`].
    #[error("the {what} is too long: {bytes} bytes; the maximum is {MAX_ID_BYTES}")]
    TooLong {
        /// Kind of id.
        what: &'static str,
        /// Length of the text, in bytes.
        bytes: usize,
    },
    /// The text has a control character. Ids with control characters can look alike without being equal, and could
    /// control a terminal.
    #[error("the {what} contains a control character")]
    Control {
        /// Kind of id.
        what: &'static str,
    },
    /// The text does not consist of `wb:` and 8 to 16 hexadecimal digits.
    #[error("invalid handle `{0}`: expected `wb:` and 8 to 16 hexadecimal digits, such as `wb:3f9c1a7b`")]
    NotAHandle(String),
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Box<str>);

        impl $name {
            /// Creates an id of this kind from a text.
            ///
            /// # Errors
            /// Returns an error if the text is empty, too long, or contains control characters.
            pub fn new(text: impl Into<String>) -> Result<Self, IdError> {
                let text = text.into();
                if text.is_empty() {
                    return Err(IdError::Empty { what: $what });
                }
                if text.len() > MAX_ID_BYTES {
                    return Err(IdError::TooLong { what: $what, bytes: text.len() });
                }
                if text.chars().any(char::is_control) {
                    return Err(IdError::Control { what: $what });
                }
                Ok(Self(text.into_boxed_str()))
            }

            /// Returns the id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0.into_string()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::new(text)
            }
        }
    };
}

text_id! {
    /// Owner of a ledger. A tenant's data is not visible to other tenants, and does not affect their search results.
    TenantId, "tenant"
}
text_id! {
    /// One ordered log: a session, or the memory log of a scope.
    StreamId, "session id"
}
text_id! {
    /// The caller's idempotency key for one event, unique in its stream.
    EventId, "event id"
}

impl StreamId {
    /// Returns the id of the session to which a branch belongs: the id without `~` and the branch's number.
    #[must_use]
    pub fn root(&self) -> &str {
        branch(self.as_str()).map_or(self.as_str(), |(root, _)| root)
    }
}

/// Splits the id of a branch into the id of its session and the branch's number. `None` for any other id.
#[must_use]
pub fn branch(id: &str) -> Option<(&str, u64)> {
    let (root, number) = id.rsplit_once('~')?;
    Some((root, number.parse().ok()?))
}
text_id! {
    /// Name of a lane, which is a sequence of requests over a session.
    LaneId, "lane"
}

impl TenantId {
    /// Returns the tenant of a single-user machine.
    #[must_use]
    pub fn local() -> Self {
        Self("local".into())
    }
}

impl LaneId {
    /// Returns the lane used if no lane is named.
    #[must_use]
    pub fn main() -> Self {
        Self("main".into())
    }
}

impl Default for LaneId {
    fn default() -> Self {
        Self::main()
    }
}

/// Id that joins a tool call to its result. Providers choose the id, so any text is valid, even an empty one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub Box<str>);

impl CallId {
    /// Returns the id as the provider wrote it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for CallId {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for CallId {
    fn from(text: String) -> Self {
        Self(text.into_boxed_str())
    }
}

/// Name by which a person or a model reads stored content: `wb:` and 16 hexadecimal digits.
///
/// The digits are the first 64 bits of a hash keyed with the tenant's secret, so a handle reveals nothing about the
/// content, and resolves only within its tenant. A handle names a body, a stream or an imported source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Handle(pub u64);

impl Handle {
    /// Returns the argument of `read` for a range of positions in a session with this handle, for example:
    /// `wb:3f9c1a7be2d04c58#12-80`, or `…#12` for one position.
    #[must_use]
    pub fn range(self, from: Seq, to: Seq) -> String {
        if from == to { format!("{self}#{from}") } else { format!("{self}#{from}-{to}") }
    }
}

/// Prefix of a handle, `wb:` and 8 to 16 digits, as marks print it and people type it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandlePrefix {
    /// First handle with this prefix.
    pub first: Handle,
    /// Last handle with this prefix.
    pub last: Handle,
}

impl HandlePrefix {
    /// Minimum number of digits. Among 100,000 handles, the probability that a given one shares its first 8 digits
    /// with another is 1 in 43,000.
    pub const MIN_DIGITS: usize = 8;

    /// Returns the handle if all of its digits are given.
    #[must_use]
    pub fn exact(self) -> Option<Handle> {
        (self.first == self.last).then_some(self.first)
    }
}

impl From<Handle> for HandlePrefix {
    fn from(handle: Handle) -> Self {
        Self { first: handle, last: handle }
    }
}

impl Handle {
    /// Returns the shortest form of the handle used in marks: `wb:` and 8 digits.
    #[must_use]
    pub fn short(self) -> String {
        format!("wb:{:08x}", self.0 >> 32)
    }
}

impl FromStr for HandlePrefix {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        let wrong = || IdError::NotAHandle(text.chars().take(64).collect());
        let digits = text.strip_prefix("wb:").ok_or_else(wrong)?;
        let missing = 16usize.checked_sub(digits.len()).ok_or_else(wrong)?;
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if digits.len() < Self::MIN_DIGITS || !digits.bytes().all(is_digit) {
            return Err(wrong());
        }
        let bound = |fill: &str| {
            let all = format!("{digits}{}", fill.repeat(missing));
            u64::from_str_radix(&all, 16).map(Handle).map_err(|_| wrong())
        };
        Ok(Self { first: bound("0")?, last: bound("f")? })
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wb:{:016x}", self.0)
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Handle {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        let wrong = || IdError::NotAHandle(text.chars().take(64).collect());
        let digits = text.strip_prefix("wb:").ok_or_else(wrong)?;
        if digits.len() != 16 || !digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(wrong());
        }
        u64::from_str_radix(digits, 16).map(Self).map_err(|_| wrong())
    }
}

impl TryFrom<String> for Handle {
    type Error = IdError;
    fn try_from(text: String) -> Result<Self, IdError> {
        text.parse()
    }
}

impl From<Handle> for String {
    fn from(handle: Handle) -> Self {
        handle.to_string()
    }
}

/// Scope of a stream, from the widest to the narrowest. Every stream has had a scope since the first version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// The person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The repository or workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Folder from which the project was found: it may get another project if its repository changes. `None` if a caller
    /// named the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The agent program or role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The session that the stream belongs to, unless the stream is that session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// One run inside the session, such as a sub-agent or a batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}
