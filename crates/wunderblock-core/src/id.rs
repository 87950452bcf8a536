//! Names of things: ids are types, so that a call's id is never taken for a session's.

use crate::units::Seq;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The longest id the ledger takes, in bytes.
pub const MAX_ID_BYTES: usize = 512;

/// Why a text cannot be an id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Nothing there.
    #[error("the {what} is empty")]
    Empty {
        /// Which kind of id.
        what: &'static str,
    },
    /// Longer than [`MAX_ID_BYTES`].
    #[error("the {what} is {bytes} bytes long; at most {MAX_ID_BYTES} are kept")]
    TooLong {
        /// Which kind of id.
        what: &'static str,
        /// How long it was.
        bytes: usize,
    },
    /// Control characters make ids that look alike but are not, and write to terminals.
    #[error("the {what} contains a control character")]
    Control {
        /// Which kind of id.
        what: &'static str,
    },
    /// Not of the form `wb:` + 8 to 16 hexadecimal digits.
    #[error("`{0}` is not a handle: a handle is `wb:` and 8 to 16 hexadecimal digits, like wb:3f9c1a7b")]
    NotAHandle(String),
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Box<str>);

        impl $name {
            /// Takes a text as this kind of id.
            ///
            /// # Errors
            /// When it is empty, too long, or contains control characters.
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

            /// The id as text.
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
    /// Whose ledger it is. Nothing of one tenant is visible to, or ranks anything of, another.
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
text_id! {
    /// One consumer's view of a session.
    LaneId, "lane"
}

impl TenantId {
    /// The tenant of a machine with one user.
    #[must_use]
    pub fn local() -> Self {
        Self("local".into())
    }
}

impl LaneId {
    /// The lane that is meant when none is named.
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

/// What joins a tool call to its result. Providers choose it, so any text is taken, the empty one too.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub Box<str>);

impl CallId {
    /// The id as the provider wrote it.
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

/// How a person or a model names something kept: `wb:` and 16 hexadecimal digits.
///
/// The digits are the first 64 bits of a hash keyed with the tenant's secret, so a handle tells nothing about the
/// content, and resolves only inside its tenant. A handle names a body, a stream or an imported source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Handle(pub u64);

impl Handle {
    /// What `read` takes for a range of positions of a session with this handle: `wb:3f9c1a7be2d04c58#12-80`, or `…#12` for
    /// one.
    #[must_use]
    pub fn range(self, from: Seq, to: Seq) -> String {
        if from == to { format!("{self}#{from}") } else { format!("{self}#{from}-{to}") }
    }
}

/// The beginning of a handle, `wb:` and 8 to 16 digits: what a mark prints, and a person types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandlePrefix {
    /// The first handle that begins so.
    pub first: Handle,
    /// The last one.
    pub last: Handle,
}

impl HandlePrefix {
    /// Minimum number of digits: of 100,000 handles one given handle shares them with another with a probability of
    /// 1 in 43,000.
    pub const MIN_DIGITS: usize = 8;

    /// The handle, if all of its digits are given.
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
    /// The shortest form that stands for it in marks: `wb:` and 8 digits.
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

/// Whose something is, from the widest to the narrowest. Stored with every stream from the first version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// The person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The repository or workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The agent program or role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The session it belongs to, where that is not the stream itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// One run inside the session: a sub-agent, a batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}
