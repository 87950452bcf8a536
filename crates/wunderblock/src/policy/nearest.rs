//! Finds the word that a user probably meant.

/// Returns the known word nearest to a typed one, if the difference is small enough for a typing mistake: at most one
/// wrong letter, plus one for every four letters. Ignores case, and treats `_` and `-` as equal.
pub fn nearest<'k>(typed: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let plain = |word: &str| word.to_lowercase().replace('_', "-");
    // No known word is nearly as long as this limit, and the cost of a comparison is the product of the lengths.
    if typed.len() > 64 {
        return None;
    }
    let typed = plain(typed);
    let slips = 1 + typed.chars().count() / 4;
    let distances = known.into_iter().map(|word| (strsim::osa_distance(&typed, &plain(word)), word));
    distances
        .filter(|(distance, _)| *distance <= slips)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_near_and_another_word_is_not() {
        let known = ["fraction", "tokens", "free", "messages", "age_s", "cache_s"];
        let table = [
            ("fracton", Some("fraction")),
            ("fration", Some("fraction")),
            ("Fraction", Some("fraction")),
            ("fractoin", Some("fraction")),
            ("token", Some("tokens")),
            ("age-s", Some("age_s")),
            ("ages", Some("age_s")),
            ("threshold", None),
            ("", None),
            ("压缩", None),
        ];
        for (typed, expected) in table {
            assert_eq!(nearest(typed, known), expected, "{typed}");
        }
        assert_eq!(nearest(&"fraction".repeat(1_000), known), None);
    }
}
