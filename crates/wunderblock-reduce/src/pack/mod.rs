//! The same text in fewer words, and back.
//!
//! [`pack`] works on a text as it is written, marks and escapes in place; [`undo`] gives exactly that text again.

/// A shorter text that says the same, or none.
pub(crate) fn pack(text: &str, _kind: crate::kind::Kind) -> Option<String> {
    let _ = text;
    None
}

/// The written text a packed one stands for. None where a code is broken.
pub(crate) fn undo(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// The source of a text that was reduced losslessly, byte for byte. None for a text that was not written by
/// [`crate::reduce`].
#[must_use]
pub fn invert(text: &str) -> Option<String> {
    undo(text).map(|written| written.replace("⟨⟨", "⟨"))
}
