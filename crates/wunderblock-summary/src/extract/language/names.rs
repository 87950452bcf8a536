//! Names in a range: entities and terms, with their counts and positions.

use std::collections::HashMap;
use wunderblock_core::author::Author;
use wunderblock_core::literal::{Literal, LiteralKind, literals};
use wunderblock_core::units::Seq;

/// A name and its occurrences.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    /// The name in its normal form.
    pub(crate) text: String,
    pub(in crate::extract) kind: Option<LiteralKind>,
    pub(in crate::extract) count: u32,
    /// Position of the first occurrence.
    pub(in crate::extract) first: Seq,
    /// Position of the last occurrence.
    pub(crate) last: Seq,
    /// Whether a user wrote the name.
    pub(crate) by_user: bool,
    /// Whether a user or the model wrote the name, so that it does not occur only in tool results.
    pub(in crate::extract) is_written: bool,
}

/// Names in the order of their first occurrence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    places: HashMap<u64, usize>,
    terms: HashMap<String, usize>,
    /// Paths, identifiers, numbers and ids.
    pub(crate) entities: Vec<Named>,
    /// Names of tools, languages, libraries and people, that is, capitalised words within a sentence, programs, and
    /// words in a different script from the words around them.
    pub(in crate::extract) terms_found: Vec<Named>,
}

/// Maximum number of names that are kept.
const NAMES_MAX: usize = 200_000;
/// Maximum number of bytes in a name; a longer name is not worth repeating.
const NAME_MAX: usize = 160;

impl Names {
    /// Adds the entities of a text.
    pub(in crate::extract) fn learn(&mut self, text: &str, at: Seq, by: Author) {
        let (by_user, is_written) = (by == Author::Person, by != Author::Tool);
        for literal in literals(text).filter(wunderblock_core::literal::Literal::is_entity) {
            let key = literal.key();
            if let Some(named) = self.places.get(&key).and_then(|place| self.entities.get_mut(*place)) {
                named.count = named.count.saturating_add(1);
                named.last = at;
                named.by_user |= by_user;
                named.is_written |= is_written;
            } else if self.entities.len() < NAMES_MAX && literal.text.len() <= NAME_MAX {
                self.places.insert(key, self.entities.len());
                let (text, kind) = (literal.normal().to_owned(), Some(literal.kind));
                self.entities.push(Named { text, kind, count: 1, first: at, last: at, by_user, is_written });
            }
        }
    }

    /// Returns whether a name has occurred.
    pub(in crate::extract) fn has(&self, name: &Literal<'_>) -> bool {
        self.places.contains_key(&name.key())
    }

    /// Adds a term.
    pub(in crate::extract) fn term(&mut self, word: &str, at: Seq, by_user: bool) {
        if let Some(named) = self.terms.get(word).and_then(|place| self.terms_found.get_mut(*place)) {
            named.count = named.count.saturating_add(1);
            named.last = at;
            named.by_user |= by_user;
        } else if self.terms_found.len() < NAMES_MAX && word.len() <= 40 {
            self.terms.insert(word.to_owned(), self.terms_found.len());
            let text = word.to_owned();
            let is_written = true;
            self.terms_found.push(Named {
                text,
                kind: None,
                count: 1,
                first: at,
                last: at,
                by_user,
                is_written,
            });
        }
    }

    /// Adds the terms of a text that a user or the model wrote.
    pub(in crate::extract) fn learn_terms(&mut self, text: &str, at: Seq, by_user: bool) {
        let bytes = text.as_bytes();
        let is_wide = |c: Option<char>| c.is_some_and(|c| c.len_utf8() >= 3 && c.is_alphanumeric());
        let wide_before = |at: usize| is_wide(text.get(..at).and_then(|text| text.chars().next_back()));
        let wide_after = |at: usize| is_wide(text.get(at..).and_then(|text| text.chars().next()));
        let mut from = 0;
        while let Some(start) =
            bytes.get(from..).and_then(|rest| rest.iter().position(u8::is_ascii_alphabetic))
        {
            let start = from + start;
            let is_word =
                |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'/');
            let len = bytes.get(start..).unwrap_or_default().iter().take_while(is_word).count();
            let end = start + len;
            from = end;
            let Some(word) = text.get(start..end).map(|word| word.trim_end_matches(['.', '-', '/'])) else {
                continue;
            };
            let plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric());
            if !plain || !(2..=24).contains(&word.len()) {
                continue;
            }
            let letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && c.len_utf8() < 3);
            let joined = letter(text.get(..start).and_then(|text| text.chars().next_back()))
                || letter(text.get(end..).and_then(|text| text.chars().next()));
            if joined {
                continue;
            }
            let capital = word.starts_with(|c: char| c.is_ascii_uppercase());
            let before = start.checked_sub(1).and_then(|at| bytes.get(at)).copied();
            let sentence = start.checked_sub(2).and_then(|at| bytes.get(at)).copied();
            // A capital letter at the beginning of a sentence does not indicate a name.
            let inside = before == Some(b' ')
                && sentence.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b',');
            let foreign = word.len() >= 3
                && (wide_before(start) || wide_after(end) || before == Some(b' ') && wide_before(start - 1));
            let shouted = word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase());
            if (capital && inside && word.len() >= 3 && !shouted) || foreign {
                self.term(word, at, by_user);
            }
        }
    }
}
