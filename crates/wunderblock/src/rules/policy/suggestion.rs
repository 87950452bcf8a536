//! Words of a policy in messages: quoted, and with the word that a user probably meant.

use wunderblock_core::nearest::nearest;

/// Returns the nearest known word as `; did you mean …?`, if there is one, and the list of all known words.
pub(super) fn suggestion(typed: &str, known: &[impl AsRef<str>]) -> String {
    let all = quoted(known);
    match nearest(typed, known.iter().map(AsRef::as_ref)) {
        Some(near) => format!("; did you mean `{near}`? expected one of {all}"),
        None => format!("; expected one of {all}"),
    }
}

/// Shortens and escapes a typed word, so that an error message can quote it.
pub(super) fn shortened(typed: &str) -> String {
    let mut short: String = typed.chars().take(40).collect();
    if short.len() < typed.len() {
        short.push('…');
    }
    short.escape_debug().collect()
}

/// Returns the words in backticks, separated by commas.
pub(super) fn quoted(words: &[impl AsRef<str>]) -> String {
    words.iter().map(|word| format!("`{}`", word.as_ref())).collect::<Vec<_>>().join(", ")
}
