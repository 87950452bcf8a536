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
