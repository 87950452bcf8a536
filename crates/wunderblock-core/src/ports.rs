//! What core asks of the world: two small, synchronous traits over recorded inputs.

use crate::budget::Reason;
use crate::id::Handle;
use crate::message::{Body, Part};
use crate::units::{Cost, Tokens};

/// What texts cost for the model a request is for.
///
/// An implementation is a function of its inputs: the same text always costs the same. A token count is never below the
/// o200k count of the text.
pub trait CostModel: Sync {
    /// The cost of a text as a JSON string value.
    fn text(&self, text: &str) -> Cost;
    /// The cost of a JSON text that may be sent as a JSON value or as a string: covers both.
    fn json(&self, text: &str) -> Cost;
    /// The cost of a body in a blob, as text: that of [`CostModel::text`] of it. Of a body that has been erased, at least that
    /// of [`crate::stub::ERASED`].
    fn blob(&self, handle: Handle) -> Cost;
    /// The cost of a body in a blob, as JSON: that of [`CostModel::json`] of it. Of a body that has been erased, at least that
    /// of [`crate::stub::ERASED_JSON`].
    fn json_blob(&self, handle: Handle) -> Cost;
    /// What the provider adds around the texts, beyond the frames every dialect has.
    fn framing(&self) -> Framing {
        Framing::default()
    }
    /// Whether the provider takes thinking only behind the beginning it was written behind.
    fn binds_thinking(&self) -> bool {
        false
    }
    /// Why the model's dialect has no place for a part; `None` when it has.
    fn refuses(&self, part: &Part) -> Option<Reason> {
        let _ = part;
        None
    }
}

/// What a provider adds around texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Framing {
    /// Per message.
    pub message: Tokens,
    /// Per tool call.
    pub call: Tokens,
}

/// The texts of blobs.
pub trait Bodies: Sync {
    /// The text behind a handle; `None` when it has been erased.
    fn text(&self, handle: Handle) -> Option<&str>;

    /// The text of a body, wherever it is; `None` when it has been erased.
    fn of<'a>(&'a self, body: &'a Body) -> Option<&'a str> {
        match body {
            Body::Inline(text) => Some(text),
            Body::Blob { blob, .. } => self.text(*blob),
        }
    }
}

/// No blobs: for views whose bodies are all inline.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoBodies;

impl Bodies for NoBodies {
    fn text(&self, _: Handle) -> Option<&str> {
        None
    }
}
