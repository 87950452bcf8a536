//! Lists of words, read from `rules/words.rules`.

use crate::part::PartOfList;
use std::sync::OnceLock;

/// A list of words, which is read when it is first used.
pub(crate) struct WordList {
    name: &'static str,
    words: OnceLock<SortedWords>,
}

/// Words ordered by their first bytes, and the start of the words for each first byte.
struct SortedWords {
    words: Vec<&'static str>,
    starts: [u16; 257],
}

impl WordList {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, words: OnceLock::new() }
    }

    pub(crate) fn has(&self, word: &str) -> bool {
        self.first(word.as_bytes()).contains(&word)
    }

    /// Returns whether the list contains a word, regardless of case. The words of the list must be in lower case.
    pub(crate) fn has_any_case(&self, word: &[u8]) -> bool {
        let Some(first) = word.first() else { return false };
        self.first(&[first.to_ascii_lowercase()])
            .iter()
            .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
    }

    /// Returns whether a text begins with a word of the list.
    pub(crate) fn begins(&self, text: &[u8]) -> bool {
        self.first(text).iter().any(|word| text.starts_with(word.as_bytes()))
    }

    /// Returns the words whose first byte is the first byte of a text.
    fn first(&self, text: &[u8]) -> &[&'static str] {
        let sorted = self.sorted();
        let start = |byte: usize| sorted.starts.item(byte).map_or(0, |start| usize::from(*start));
        let of = |first: &u8| sorted.words.part(start(usize::from(*first))..start(usize::from(*first) + 1));
        text.first().map(of).unwrap_or_default()
    }

    fn sorted(&self) -> &SortedWords {
        self.words.get_or_init(|| {
            let table = include_str!("../../rules/words.rules");
            let mut sections = table.split("\n[").skip(1).filter_map(|section| section.split_once("]\n"));
            let list = sections.find(|(name, _)| *name == self.name).map_or("", |(_, list)| list);
            let mut words: Vec<&str> =
                list.split([',', '\n']).map(str::trim).filter(|word| !word.is_empty()).collect();
            debug_assert!(!words.is_empty(), "missing word list `{}`", self.name);
            words.sort_by_key(|word| word.bytes().next());
            let before = |byte: usize| {
                words.partition_point(|word| {
                    word.bytes().next().is_some_and(|first| usize::from(first) < byte)
                })
            };
            let starts = std::array::from_fn(|byte| u16::try_from(before(byte)).unwrap_or(u16::MAX));
            SortedWords { words, starts }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_by_their_first_byte() {
        static FOLDERS: WordList = WordList::new("vendored folders");
        static ALARMS: WordList = WordList::new("alarms");
        assert!(
            FOLDERS.has("node_modules") && FOLDERS.has(".git") && !FOLDERS.has("nodes") && !FOLDERS.has("")
        );
        assert!(ALARMS.has_any_case(b"Timeout") && !ALARMS.has_any_case(b"time"));
        assert!(FOLDERS.begins(b"target/debug") && !FOLDERS.begins(b"src"));
    }
}
