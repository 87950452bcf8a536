//! The same text in fewer words, and back.
//!
//! [`pack`] works on a text as it is written, marks and escapes in place; [`undo`] gives exactly that text again.

mod bars;
mod block;
mod code;
mod heading;
mod repeat;
mod template;
mod terminal;
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

/// One code around another. What comes later may only shorten what stands there by then: it is undone first.
fn layers(text: &str, kind: Kind) -> Option<String> {
    let plain = terminal::pack_endings(text);
    let coloured = terminal::pack_colours(plain.as_deref().unwrap_or(text));
    let inner = coloured.as_ref().map(|(_, text)| text.as_str()).or(plain.as_deref());
    let packed = lines(inner.unwrap_or(text), kind);
    let mut packed = packed.or_else(|| inner.map(str::to_owned))?;
    if let Some((tag, _)) = coloured {
        packed = format!("⟨={tag}⟩{packed}{}", code::CLOSE);
    }
    if plain.is_some() {
        packed = format!("⟨=crlf⟩{packed}{}", code::CLOSE);
    }
    Some(packed)
}

fn lines(text: &str, kind: Kind) -> Option<String> {
    let mut packed = match kind {
        Kind::Search => heading::pack_results(text),
        Kind::Listing => heading::pack_paths(text),
        _ => None,
    };
    if packed.is_none() {
        packed = bars::pack(text);
    }
    if packed.is_none() && takes_templates(kind) {
        packed = template::pack(text);
    }
    if packed.is_none() {
        packed = block::pack(text);
    }
    packed = terminal::pack_states(packed.as_deref().unwrap_or(text)).or(packed);
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
        "under" => heading::undo_results(code),
        "dirs" => heading::undo_paths(code),
        "bars" => bars::undo(code),
        "ansi" => terminal::undo_colours(code),
        "crlf" => Some(code.body.replace('\n', "\r\n")),
        "cr" => terminal::undo_states(code),
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
