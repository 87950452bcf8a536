//! Placeholders of secrets: `[[secret:<rule>:<8 hex digits>]]`, or `[[secret:<rule>]]` without a key.
//!
//! The digits are the start of a keyed hash of the secret. The same secret therefore has the same placeholder
//! everywhere, so texts can still be compared and searched, but guesses cannot be verified without the key.

use memchr::memmem;
use std::ops::Range;

const START: &[u8] = b"[[secret:";
/// Word that every placeholder contains.
pub const PLACEHOLDER_WORD: &str = "secret";
const END: &[u8] = b"]]";
/// Maximum length in bytes: the start, an id of 40 characters, a colon, 8 digits, and the end.
const LONGEST: usize = 9 + 40 + 1 + 8 + 2;

/// Appends the placeholder of `secret`.
pub(super) fn write(out: &mut String, rule: &str, secret: &str, key: Option<&[u8; 32]>) {
    out.push_str("[[secret:");
    out.push_str(rule);
    if let Some(key) = key {
        out.push(':');
        let hex = blake3::keyed_hash(key, secret.as_bytes()).to_hex();
        out.push_str(hex.get(..8).unwrap_or_default());
    }
    out.push_str("]]");
}

/// Returns the ranges of existing placeholders, in order.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    memmem::find_iter(bytes, START)
        .filter_map(|start| {
            let rest = bytes.get(start..bytes.len().min(start + LONGEST))?;
            let end = memmem::find(rest, END)?;
            let inner = rest.get(START.len()..end)?;
            is_inner(inner).then_some(start..start + end + END.len())
        })
        .collect()
}

/// Returns whether the bytes are a rule's id, alone or with eight hexadecimal digits.
fn is_inner(inner: &[u8]) -> bool {
    let mut pieces = inner.split(|byte| *byte == b':');
    let id = pieces.next().unwrap_or_default();
    let hash = pieces.next();
    let fits = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    !id.is_empty()
        && id.iter().all(fits)
        && hash.is_none_or(|hash| hash.len() == 8 && hash.iter().all(u8::is_ascii_hexdigit))
        && pieces.next().is_none()
}
