//! A term to look up: one entry of the dictionary, or all that belong to it.

use crate::words::MAX_TERM_BYTES;
use frostem::{Algorithm, Stemmer};

/// Minimum length of the letters that all words of a stem share. Shorter ones would make a search read a large part of
/// the dictionary.
const MIN_SHARED: usize = 2;
/// Maximum number of bytes that a word has after the letters that it shares with its stem: `ization` and `ability`, and
/// a doubled letter.
const MAX_ENDING: usize = 9;

/// A term to look up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Term {
    /// Bytes with which each entry begins.
    pub(crate) bytes: Box<[u8]>,
    kind: TermKind,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum TermKind {
    /// The entry that has exactly the bytes.
    Exact,
    /// Every entry that begins with the bytes: a single character of a script without spaces.
    Prefix,
    /// Every entry with this stem. The dictionary holds words as they were written, because the exact scan narrows by
    /// them, so the words of a stem are found when a question is asked.
    Stem(Box<str>),
}

impl Term {
    pub(crate) fn exact(bytes: &[u8]) -> Self {
        Self { bytes: bytes.into(), kind: TermKind::Exact }
    }

    pub(crate) fn prefix(bytes: &[u8]) -> Self {
        Self { bytes: bytes.into(), kind: TermKind::Prefix }
    }

    /// Returns the term of all words with the stem of an entry, or of the entry alone if it is not an English word.
    pub(crate) fn stem(entry: &[u8]) -> Self {
        let stem = stem_of(entry).filter(|_| entry.len() > MIN_SHARED);
        let Some(stem) = stem else { return Self::exact(entry) };
        // The stem is the beginning of its words, except that `y` becomes `i`, and a final `e` may be added.
        let shared = stem.strip_suffix(['e', 'i']).unwrap_or(&stem);
        let ending = entry.strip_prefix(shared.as_bytes());
        if shared.len() < MIN_SHARED || ending.is_none_or(|ending| ending.len() > MAX_ENDING) {
            return Self::exact(entry);
        }
        Self { bytes: shared.as_bytes().into(), kind: TermKind::Stem(stem.into()) }
    }

    /// Returns whether the term may be more than one entry of the dictionary.
    pub(crate) fn is_range(&self) -> bool {
        self.kind != TermKind::Exact
    }

    /// Returns whether an entry of the dictionary belongs to the term.
    pub(crate) fn has(&self, entry: &[u8]) -> bool {
        match &self.kind {
            TermKind::Exact => *entry == *self.bytes,
            TermKind::Prefix => entry.starts_with(&self.bytes),
            TermKind::Stem(stem) => {
                entry.starts_with(&self.bytes)
                    && entry.len() <= self.bytes.len() + MAX_ENDING
                    && stem_of(entry).is_some_and(|other| *other == **stem)
            }
        }
    }

    /// Returns the form in which tests show the term.
    #[cfg(test)]
    pub(crate) fn shown(&self) -> String {
        let bytes = String::from_utf8_lossy(&self.bytes);
        match &self.kind {
            TermKind::Exact => bytes.into_owned(),
            TermKind::Prefix => format!("{bytes}*"),
            TermKind::Stem(stem) => format!("~{stem}"),
        }
    }
}

/// Returns the English stem of an entry (Porter 2), or `None` if it is not a word of ASCII letters.
fn stem_of(entry: &[u8]) -> Option<String> {
    if entry.len() >= MAX_TERM_BYTES || !entry.iter().all(u8::is_ascii_lowercase) {
        return None;
    }
    let word = std::str::from_utf8(entry).ok()?;
    Some(Stemmer::new(Algorithm::English).stem(word).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stem_has_its_words_and_no_others() {
        for (asked, has, lacks) in [
            (
                "fail",
                vec!["fail", "failed", "failing"].as_slice(),
                vec!["failover", "failure", "fa"].as_slice(),
            ),
            ("using", &["use", "used", "using"], &["us", "user3", "usage"]),
            ("happiness", &["happy", "happiness"], &["happen"]),
            ("cooky", &["cooky", "cookie"], &["cook"]),
            ("run", &["run", "running"], &["runner"]),
            ("go", &["go"], &["going"]),
            ("v2", &["v2"], &["v"]),
            ("dying", &["dying"], &["did"]),
            ("naïve", &["naïve"], &["naive"]),
        ] {
            let term = Term::stem(asked.as_bytes());
            for entry in has {
                assert!(term.has(entry.as_bytes()), "{asked}: {entry}");
            }
            for entry in lacks {
                assert!(!term.has(entry.as_bytes()), "{asked}: {entry}");
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn a_word_is_one_of_its_stem(word in "[a-z]{1,12}(ing|ed|ly|ation|y|e|ness|)") {
            let term = Term::stem(word.as_bytes());
            assert!(term.has(word.as_bytes()) && word.as_bytes().starts_with(&term.bytes));
        }
    }
}
