//! Words of a text, to see whether another says the same.

use std::collections::HashSet;
use wunderblock_core::literal::{Literal, literals};

/// Words without case; of scripts without spaces, pairs of characters.
pub(in super::super) fn distinct_words(text: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut before: Option<char> = None;
    let mut word = String::new();
    for c in text.chars().chain([' ']) {
        let wide = c.is_alphanumeric() && c.len_utf8() >= 3;
        if c.is_alphanumeric() && !wide {
            word.extend(c.to_lowercase());
        } else {
            if word.chars().count() >= 3 {
                found.insert(std::mem::take(&mut word));
            }
            word.clear();
        }
        if wide && let Some(before) = before {
            found.insert([before, c].iter().collect());
        }
        before = Some(c).filter(|_| wide);
    }
    found
}

/// A line says a sentence if it has this part of its words, in percent.
const SAID: usize = 60;
/// Of a longer sentence its head is looked for, in bytes.
const HEAD: usize = 240;
/// A text of which more than this part, in percent, is in a script without blanks is of such a language.
const WIDE: usize = 30;

/// The lines of a summary by their words; a quotation of several lines is one.
pub(in super::super) struct SummaryLines {
    lines: Vec<HashSet<String>>,
    is_wide: bool,
    names: HashSet<u64>,
}

impl SummaryLines {
    pub(in super::super) fn of(text: &str) -> Self {
        let mut lines: Vec<HashSet<String>> = Vec::new();
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

    /// Whether a line says a sentence. In another language, whether the summary has half of its names; where it has none,
    /// nobody can tell.
    pub(in super::super) fn says(&self, sentence: &str) -> Option<bool> {
        let head = sentence
            .get(..super::plain::cut(sentence, HEAD))
            .filter(|head| !head.is_empty())
            .unwrap_or(sentence);
        let words = distinct_words(head);
        if words.is_empty() {
            return None;
        }
        let shared = |line: &HashSet<String>| words.iter().filter(|word| line.contains(*word)).count();
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

fn is_wide(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let (wide, all) = letters.fold((0, 0), |(wide, all), c| (wide + usize::from(c.len_utf8() >= 3), all + 1));
    wide * 100 > all * WIDE
}
