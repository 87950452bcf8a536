//! The same text in fewer words, and back.
//!
//! [`pack`] works on a text as it is written, marks and escapes in place; [`undo`] gives exactly that text again.

mod block;
mod code;
mod repeat;
mod template;
mod weigh;

use code::Code;

use crate::kind::Kind;
use crate::mark;

/// A shorter text that says the same, or none. What is returned was undone and compared.
pub(crate) fn pack(text: &str, kind: Kind) -> Option<String> {
    // Codes of a document's own stay as they are.
    if text.contains(OPEN_CODE) {
        return None;
    }
    let packed = layers(text, kind)?;
    (packed.len() < text.len() && undo(&packed).as_deref() == Some(text)).then_some(packed)
}

const OPEN_CODE: &str = "⟨=";

fn layers(text: &str, kind: Kind) -> Option<String> {
    let mut packed: Option<String> = None;
    if takes_templates(kind) {
        packed = template::pack(text).or(packed);
    }
    if packed.is_none() {
        packed = block::pack(text);
    }
    repeat::pack(packed.as_deref().unwrap_or(text)).or(packed)
}

/// Whether lines of such a text may be taken apart. Where they are searched for as they are, they stay so.
fn takes_templates(kind: Kind) -> bool {
    matches!(kind, Kind::Log | Kind::Search | Kind::Listing | Kind::Table | Kind::Infra | Kind::Blob)
}

/// The written text a packed one stands for. None where a code is broken.
pub(crate) fn undo(text: &str) -> Option<String> {
    code::undo(text, &decode)
}

fn decode(code: Code<'_>) -> Option<String> {
    match code.name {
        "t" => template::undo(code),
        "json" | "rows" => undo_document(code.name, code.args, code.body),
        _ => None,
    }
}

/// The codes of documents are undone where they are made.
fn undo_document(_name: &str, _args: &str, _body: &str) -> Option<String> {
    None
}

/// The source of a text that was reduced losslessly, byte for byte. None for a text that was not written by
/// [`crate::reduce`].
#[must_use]
pub fn invert(text: &str) -> Option<String> {
    undo(text).and_then(|written| mark::unescape(&written))
}
