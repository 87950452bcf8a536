//! Values in the cells of a table, and the names before them.
//!
//! A string has no quotes if it cannot be mistaken for anything else. A cell that begins with `"`, `[` or `{` is
//! JSON, and so is a cell that reads as a number, `true`, `false` or `null`. `!name` states that a member is missing.
//! `name=value` is a member that is not in its column. `~` precedes JSON, whatever the column is.

use super::inner_mark;
use crate::json::tree::JsonTree;
use crate::part::{PartOfList, PartOfText};

/// Returns whether the content of a string can be written without quotes.
pub(super) fn is_plain(raw: &str) -> bool {
    let bytes = raw.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    !matches!(first, b'~' | b' ' | b'@' | b'!')
        && *last != b' '
        && !bytes.iter().any(|byte| matches!(byte, b',' | b';' | b'"' | b'[' | b']' | b'{' | b'}'))
        && name_length(raw).is_none()
        && !is_literal(raw)
}

/// Returns whether a text is a number, `true`, `false` or `null`.
pub(super) fn is_literal(text: &str) -> bool {
    match text.as_bytes().first() {
        Some(b'-' | b'0'..=b'9') => {
            JsonTree::value(text, 0, false).is_ok_and(|tree| tree.node(0).end as usize == text.len())
        }
        Some(b't' | b'f' | b'n') => matches!(text, "true" | "false" | "null"),
        _ => false,
    }
}

/// Returns a key as part of a path.
pub(super) fn path_part(name: &str) -> String {
    if is_word(name) { name.to_owned() } else { format!("\"{name}\"") }
}

fn is_word(name: &str) -> bool {
    name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && name.bytes().all(is_word_byte)
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$')
}

/// Returns the usual value of a column as it is written in the header.
pub(super) fn header_value(source: &str) -> String {
    let raw = source.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match raw {
        Some(raw) if is_plain(raw) => raw.to_owned(),
        _ => source.to_owned(),
    }
}

/// Returns the length of the path before a `=` at the start of a cell, without the `=`.
pub(super) fn name_length(cell: &str) -> Option<usize> {
    let end = path_length(cell)?;
    (cell.as_bytes().get(end) == Some(&b'=')).then_some(end)
}

/// Returns the length of the path that a text begins with.
pub(super) fn path_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        if bytes.get(at) == Some(&b'"') {
            at = string_end(bytes, at)?;
        } else {
            if !bytes.get(at).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_') {
                return None;
            }
            while bytes.get(at).is_some_and(|byte| is_word_byte(*byte)) {
                at += 1;
            }
        }
        if bytes.get(at) != Some(&b'.') {
            return Some(at);
        }
        at += 1;
    }
}

/// Returns the end of the string that begins at a given byte, including its quotes.
pub(super) fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            // The first byte of `⟨`.
            0xe2 => at = inner_mark::after_bracket(bytes, at)?,
            _ => at += 1,
        }
    }
}

/// Returns whether a key can be written without quotes before its row.
pub(super) fn is_plain_key(name: &str) -> bool {
    is_plain(name) && !name.contains(':')
}

/// Returns the parts of a path, as keys with their quotes.
pub(super) fn path_keys(path: &str) -> Vec<std::borrow::Cow<'_, str>> {
    let bytes = path.as_bytes();
    let mut keys = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = if bytes.get(at) == Some(&b'"') {
            string_end(bytes, at).unwrap_or(bytes.len())
        } else {
            memchr::memchr(b'.', bytes.part(at..)).map_or(bytes.len(), |end| at + end)
        };
        let part = path.part(at..end);
        keys.push(if part.starts_with('"') { part.into() } else { format!("\"{part}\"").into() });
        at = end + 1;
    }
    keys
}
