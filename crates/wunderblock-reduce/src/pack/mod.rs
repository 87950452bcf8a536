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
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("⟨") {
        let (before, mark) = rest.split_at(at);
        out.push_str(before);
        if let Some(code) = mark.strip_prefix("⟨=") {
            let (head, body) = code.split_once('⟩')?;
            let (name, args) = head.split_once(' ').unwrap_or((head, ""));
            let (body, after) = body.split_at_checked(end(body)?)?;
            let after = after.strip_prefix("⟨=⟩")?;
            out.push_str(&crate::json::undo_code(name, args, body)?);
            rest = after;
        } else {
            let length = if mark.starts_with("⟨⟨") { "⟨⟨".len() } else { "⟨".len() };
            let (bracket, after) = mark.split_at(length);
            out.push_str(bracket);
            rest = after;
        }
    }
    out.push_str(rest);
    Some(out)
}

/// Where the body of a code ends: at the first `⟨=⟩` whose bracket is not an escape.
fn end(body: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let found = at + body.get(at..)?.find('⟨')?;
        let mark = body.get(found..)?;
        if mark.starts_with("⟨=⟩") {
            return Some(found);
        }
        at = found + if mark.starts_with("⟨⟨") { "⟨⟨".len() } else { "⟨".len() };
    }
}

/// The source of a text that was reduced losslessly, byte for byte. None for a text that was not written by
/// [`crate::reduce`].
#[must_use]
pub fn invert(text: &str) -> Option<String> {
    undo(text).map(|written| written.replace("⟨⟨", "⟨"))
}
