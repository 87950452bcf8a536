//! Compares texts by their words.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher};
use wunderblock_core::literal::{Literal, literals};

/// Calls `told` for each word as written. In scripts without blanks, each pair of characters is a word.
pub fn each_word(text: &str, mut told: impl FnMut(&str)) {
    let is_wide = |c: char| c.is_alphanumeric() && c.len_utf8() >= 3;
    let mut begun: Option<usize> = None;
    let mut before: Option<(usize, char)> = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let wide = is_wide(c);
        if c.is_alphanumeric() && !wide {
            begun.get_or_insert(at);
        } else if let Some(from) = begun.take() {
            let word = text.get(from..at).unwrap_or_default();
            if word.chars().nth(WORD_MIN - 1).is_some() {
                told(word);
            }
        }
        if wide && let Some((from, _)) = before {
            told(text.get(from..at + c.len_utf8()).unwrap_or_default());
        }
        before = Some((at, c)).filter(|_| wide);
    }
}

/// Minimum number of characters in a word, because shorter ones say nothing.
const WORD_MIN: usize = 3;

/// Returns a hash for each word of a text, ignoring case.
pub(in crate::extract) fn distinct_words(text: &str) -> HashSet<u64> {
    let mut found = HashSet::new();
    each_word(text, |word| {
        let mut hasher = DefaultHasher::new();
        word.chars().flat_map(char::to_lowercase).for_each(|c| hasher.write_u32(c.into()));
        found.insert(hasher.finish());
    });
    found
}

/// Minimum percentage of a sentence's words that a line must contain to state the sentence.
const SAID: usize = 60;
/// Maximum number of bytes of a sentence that are compared, counted from its start.
pub(in crate::extract) const HEAD: usize = 240;
/// Percentage of letters from a script without blanks above which a text counts as written in that script.
const WIDE: usize = 30;

/// Lines of a summary as sets of words. A quotation that spans several lines counts as one line.
pub(crate) struct SummaryLines {
    lines: Vec<HashSet<u64>>,
    is_wide: bool,
    names: HashSet<u64>,
}

impl SummaryLines {
    pub(crate) fn of(text: &str) -> Self {
        let mut lines: Vec<HashSet<u64>> = Vec::new();
        let mut quotes = false;
        for line in text.lines() {
            let quoted = line.trim_start().starts_with('>');
            let words = distinct_words(line);
            match lines.last_mut().filter(|_| quoted && quotes) {
                Some(block) => block.extend(words),
                None => lines.push(words),
            }
            quotes = quoted;
        }
        Self { lines, is_wide: is_wide(text), names: names(text) }
    }

    /// Returns whether a line states a sentence. If the sentence and the summary are in different scripts, returns
    /// whether the summary contains half of the sentence's names. Returns `None` if the sentence has no words, or no
    /// names to compare.
    pub(crate) fn says(&self, sentence: &str) -> Option<bool> {
        let head = sentence
            .get(..super::plain::cut(sentence, HEAD))
            .filter(|head| !head.is_empty())
            .unwrap_or(sentence);
        let words = distinct_words(head);
        if words.is_empty() {
            return None;
        }
        let shared = |line: &HashSet<u64>| words.iter().filter(|word| line.contains(*word)).count();
        if self.lines.iter().any(|line| shared(line) * 100 >= words.len() * SAID) {
            return Some(true);
        }
        if is_wide(head) == self.is_wide {
            return Some(false);
        }
        let wanted = names(head);
        let had = wanted.iter().filter(|name| self.names.contains(*name)).count();
        (!wanted.is_empty()).then_some(had * 2 >= wanted.len())
    }
}

fn names(text: &str) -> HashSet<u64> {
    literals(text).map(|literal: Literal<'_>| literal.key()).collect()
}

/// Returns whether more than [`WIDE`] percent of a text's letters belong to scripts without blanks.
pub(crate) fn is_wide(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let (wide, all) = letters.fold((0, 0), |(wide, all), c| (wide + usize::from(c.len_utf8() >= 3), all + 1));
    wide * 100 > all * WIDE
}
