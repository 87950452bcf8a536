//! Matching of whole phrases in a text.

/// Returns whether the match at `from..to` consists of whole words. A match that begins with a non-ASCII character
/// always counts: scripts without blanks have no word boundaries to check.
pub(super) fn stands_alone(text: &str, from: usize, to: usize) -> bool {
    let bytes = text.as_bytes();
    let letter = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/'))
    };
    let is_ascii = bytes.get(from).is_some_and(u8::is_ascii);
    !is_ascii || !letter(from.checked_sub(1)) && !letter(Some(to))
}
