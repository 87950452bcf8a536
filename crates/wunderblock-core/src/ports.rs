//! Ports: everything that core requires of its caller, as two small, synchronous traits over recorded inputs.

use crate::id::Handle;
use crate::record::budget::Reason;
use crate::record::message::{Body, Extra, Part, Role};
use crate::units::{Cost, Tokens};

/// Cost of texts for the model to which a request is sent.
///
/// An implementation must be a pure function: the same text always has the same cost. A token count is never below
/// the o200k count of the text.
pub trait CostModel: Sync {
    /// Returns the cost of a text as a JSON string value.
    fn text(&self, text: &str) -> Cost;
    /// Returns the cost of a JSON text that may be sent as a JSON value or as a string. The cost covers both.
    fn json(&self, text: &str) -> Cost;
    /// Returns the cost as text of a body in a blob, equal to [`CostModel::text`] of the body. An erased body costs
    /// at least as much as [`crate::form::stub::ERASED`].
    fn blob(&self, handle: Handle) -> Cost;
    /// Returns the cost as JSON of a body in a blob, equal to [`CostModel::json`] of the body. An erased body costs
    /// at least as much as [`crate::form::stub::ERASED_JSON`].
    fn json_blob(&self, handle: Handle) -> Cost;
    /// Returns the overhead that the provider adds around texts, beyond the frames that every dialect has.
    fn framing(&self) -> Framing {
        Framing::default()
    }
    /// Returns whether the provider accepts thinking only if it follows the same beginning as when it was written.
    fn binds_thinking(&self) -> bool {
        false
    }
    /// Returns the reason why the model's dialect has no place for a part in a message of this role; `None` if it has
    /// one. The content of a tool result has the role [`Role::Tool`].
    fn refuses(&self, role: Role, part: &Part) -> Option<Reason> {
        let _ = (role, part);
        None
    }
    /// Returns the cost of the fields of an extra that the model's dialect sends.
    fn fields(&self, extra: &Extra) -> Cost {
        extra.as_deref().map_or(Cost::ZERO, |fields| self.json(fields))
    }
}

/// Tokens that a provider adds around texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Framing {
    /// Tokens per message.
    pub message: Tokens,
    /// Tokens per tool call.
    pub call: Tokens,
}

/// The texts of blobs.
pub trait Bodies: Sync {
    /// Returns the text behind a handle; `None` if the text was erased.
    fn text(&self, handle: Handle) -> Option<&str>;

    /// Returns the text of a body, inline or in a blob; `None` if the text was erased.
    fn of<'a>(&'a self, body: &'a Body) -> Option<&'a str> {
        match body {
            Body::Inline(text) => Some(text),
            Body::Blob { blob, .. } => self.text(*blob),
        }
    }
}

/// Empty source of blobs, for views whose bodies are all inline.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoBodies;

impl Bodies for NoBodies {
    fn text(&self, _: Handle) -> Option<&str> {
        None
    }
}
