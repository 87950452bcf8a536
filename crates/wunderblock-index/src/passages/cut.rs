//! Cuts a text into passages at the ends of sentences and lines.
//!
//! A passage takes sentences while it has at most [`PASSAGE_WORDS`] words; a longer sentence is a passage of its own,
//! cut at [`MAX_PASSAGE_WORDS`]. A word is never cut, because the terms of the passages must be those of the text. Code
//! and rows of tables are cut at the ends of lines only: a point in them ends no sentence.

use crate::words::is_unspaced;
use std::ops::Range;

/// Number of words up to which a passage takes further sentences. Two characters of a script without spaces count as a
/// word.
pub const PASSAGE_WORDS: usize = 64;
/// Maximum number of words of a passage.
pub const MAX_PASSAGE_WORDS: usize = 96;
/// Maximum number of characters of a run of a script without spaces that is not cut, except where a passage of nothing
/// else would be too long.
const SHORT_RUN: usize = 32;
/// Number of bytes of signs and blanks that count as a word, so that a drawing is cut too.
const SIGNS: usize = 64;

/// Returns the passages of a text, in order, as ranges of bytes. They hold all bytes of the text except blanks between
/// them.
#[must_use]
pub fn cut(text: &str) -> Vec<Range<usize>> {
    let mut cutter = Cutter { text, ..Cutter::default() };
    for (at, c) in text.char_indices() {
        cutter.read(at, c);
    }
    cutter.cut(text.len());
    cutter.found
}

/// Part of a text, counted in half words.
#[derive(Clone, Copy, Default)]
struct Place {
    at: usize,
    size: usize,
}

#[derive(Default)]
struct Cutter<'t> {
    text: &'t str,
    found: Vec<Range<usize>>,
    /// Beginning of the current passage.
    start: usize,
    /// Size of the current passage up to here.
    size: usize,
    /// Last end of a sentence or a line at which the passage may end.
    end: Option<Place>,
    /// Last blank since the last word.
    blank: Option<usize>,
    /// Beginning of the current run of a script without spaces, and the size of the passage before it.
    run: Option<Place>,
    /// Bytes of signs since the last word.
    signs: usize,
    in_word: bool,
    line: Line,
    sentence: Sentence,
}

/// Kind of the current line.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Line {
    /// Nothing but blanks so far.
    #[default]
    Blank,
    Prose,
    /// A row of a table, or a line of code.
    Rigid,
    /// A line of code between fences.
    Fenced,
    FencedBlank,
}

/// State of the current sentence.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Sentence {
    #[default]
    Open,
    /// A point was read, which ends the sentence if a blank follows.
    Point,
    /// A full-width point was read, which ends the sentence.
    WidePoint,
}

impl Cutter<'_> {
    fn read(&mut self, at: usize, c: char) {
        if c == '\n' {
            self.end_line(at);
            return;
        }
        if matches!(self.line, Line::Blank | Line::FencedBlank) && !c.is_whitespace() {
            self.begin_line(at, c);
        }
        self.end_sentence(at, c);
        if is_unspaced(c) {
            if self.run.is_none() {
                self.run = Some(Place { at, size: self.size });
            }
            self.grow(at, 1);
            (self.in_word, self.signs, self.blank) = (false, 0, None);
            return;
        }
        self.run = None;
        if c == '_' || c.is_alphanumeric() {
            if !self.in_word {
                self.grow(at, 2);
                self.in_word = true;
            }
        } else {
            self.in_word = false;
            self.signs += c.len_utf8();
            if c.is_whitespace() {
                self.blank = Some(at);
            }
            if self.signs > SIGNS {
                self.grow(at, 2);
            }
            return;
        }
        (self.signs, self.blank) = (0, None);
    }

    /// Adds to the size of the passage, and ends passages that would be too long.
    fn grow(&mut self, at: usize, by: usize) {
        self.signs = 0;
        if self.size + by > 2 * PASSAGE_WORDS
            && let Some(Place { at, size }) = self.end.take()
        {
            let rest = self.size.saturating_sub(size);
            self.cut(at);
            self.size = rest;
            self.run = self.run.map(|run| Place { size: run.size.saturating_sub(size), ..run });
        }
        if self.size + by > 2 * MAX_PASSAGE_WORDS {
            // A run that is not much longer than a word goes to the next passage as a whole.
            let run = self.run.filter(|run| run.at > self.start && self.size - run.size <= SHORT_RUN);
            let rest = run.map_or(0, |run| self.size - run.size);
            self.cut(run.map_or(self.blank.unwrap_or(at), |run| run.at));
            self.size = rest;
        }
        self.size += by;
    }

    /// Notes a place at which the passage may end.
    fn may_end(&mut self, at: usize) {
        if self.size > 2 * PASSAGE_WORDS {
            self.cut(at);
        } else if self.size > 0 {
            self.end = Some(Place { at, size: self.size });
        }
    }

    fn end_sentence(&mut self, at: usize, c: char) {
        let is_over = match self.sentence {
            Sentence::Open => false,
            Sentence::Point => c.is_whitespace(),
            Sentence::WidePoint => !is_closing(c),
        };
        if is_over {
            self.may_end(at);
        }
        self.sentence = match c {
            '。' | '！' | '？' | '；' => Sentence::WidePoint,
            '.' | '!' | '?' | '…' if self.line == Line::Prose => Sentence::Point,
            _ if self.sentence == Sentence::Point && is_closing(c) => Sentence::Point,
            _ if self.sentence == Sentence::WidePoint && is_closing(c) => Sentence::WidePoint,
            _ => Sentence::Open,
        };
    }

    fn begin_line(&mut self, at: usize, c: char) {
        let rest = self.text.get(at..).unwrap_or_default();
        let is_fence = rest.starts_with("```") || rest.starts_with("~~~");
        self.line = match (self.line, is_fence) {
            (Line::FencedBlank, true) => Line::Rigid,
            (Line::FencedBlank, false) | (_, true) => Line::Fenced,
            _ if c == '|'
                || self.text.get(..at).is_some_and(|t| t.ends_with("    ") || t.ends_with('\t')) =>
            {
                Line::Rigid
            }
            _ => Line::Prose,
        };
    }

    fn end_line(&mut self, at: usize) {
        self.may_end(at);
        (self.in_word, self.blank, self.sentence) = (false, Some(at), Sentence::Open);
        self.line = match self.line {
            Line::Fenced | Line::FencedBlank => Line::FencedBlank,
            _ => Line::Blank,
        };
    }

    /// Ends the passage at a place.
    fn cut(&mut self, at: usize) {
        let part = self.text.get(self.start..at).unwrap_or_default();
        let start = self.start + (part.len() - part.trim_start().len());
        let end = self.start + part.trim_end().len();
        if start < end {
            self.found.push(start..end);
        }
        (self.start, self.size, self.end) = (at, 0, None);
    }
}

/// Returns whether a character may follow the point of a sentence and belongs to it.
fn is_closing(c: char) -> bool {
    matches!(c, '"' | '\'' | ')' | ']' | '}' | '*' | '`' | '»' | '”' | '’' | '」' | '』' | '）' | '》')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::terms;
    use proptest::prelude::*;

    fn cuts(text: &str) -> Vec<&str> {
        cut(text).into_iter().map(|range| &text[range]).collect()
    }

    /// Returns a sentence of a number of words.
    fn sentence(words: usize) -> String {
        format!("{}.", vec!["word"; words].join(" "))
    }

    #[test]
    fn passages_end_at_sentences_and_lines() {
        let (a, b, c) = (sentence(40), sentence(20), sentence(30));
        assert_eq!(cuts(&format!("{a} {b} {c}")), [format!("{a} {b}"), c.clone()]);
        assert_eq!(cuts(&format!(" {a}\n\n{c}\n")), [a.clone(), c.clone()]);
        assert_eq!(cuts(&sentence(90)), [sentence(90)]);
        assert_eq!(cuts(&format!("{b} {}", sentence(90))), [b, sentence(90)]);
        let words = |text: &&str| text.split(' ').count();
        assert_eq!(cuts(&sentence(200)).iter().map(words).collect::<Vec<_>>(), [96, 96, 8]);
        assert_eq!(cuts(""), [""; 0]);
        assert_eq!(cuts(" \n\t\n"), [""; 0]);
    }

    #[test]
    fn code_and_tables_are_cut_at_lines() {
        let row = |n: usize| format!("| a{n} | x. y | 3. z | five six seven |\n");
        let line = |n: usize| format!("let a{n} = b. c(); d. e();\n");
        let fenced = format!("```\n{}```", (0..40).map(line).collect::<String>());
        for text in [(0..40).map(row).collect::<String>(), fenced] {
            let parts = cuts(&text);
            assert!(parts.len() > 2);
            assert!(
                parts.iter().all(|part| text.lines().any(|line| part.ends_with(line.trim()))),
                "{parts:?}"
            );
        }
    }

    #[test]
    fn chinese_is_cut_at_its_own_points_and_counts_two_characters_as_a_word() {
        let sentence = |n: usize| format!("{}。", "字".repeat(n));
        let (a, b) = (sentence(100), sentence(50));
        assert_eq!(cuts(&format!("{a}{b}")), [a.as_str(), b.as_str()]);
        assert_eq!(cuts(&format!("{b}“{b}”{b}")), [format!("{b}“{b}”"), b.clone()]);
        assert_eq!(
            cuts(&sentence(400)).iter().map(|p| p.chars().count()).collect::<Vec<_>>(),
            [192, 192, 17]
        );
    }

    /// Returns the size of a passage in half words.
    fn size(text: &str) -> usize {
        let mut size = 0;
        let mut in_word = false;
        for c in text.chars() {
            let is_word = !is_unspaced(c) && (c == '_' || c.is_alphanumeric());
            size += if is_unspaced(c) { 1 } else { 2 * usize::from(is_word && !in_word) };
            in_word = is_word;
        }
        size
    }

    fn texts() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "word",
            " ",
            " ",
            "\n",
            ". ",
            "! ",
            "？",
            "。",
            "中文字符",
            "parse_config",
            "```\n",
            "| a |",
            "    ",
            "…)",
            "é",
            "=-=-",
            "\u{3000}",
            "7:30",
        ]);
        let long = (piece, 1usize..120).prop_map(|(piece, times)| piece.repeat(times));
        let short = prop::sample::select(vec!["word ", "a. ", "b\n", "字", "x_y ", "“好。”", "\"Yes.\" "]);
        let many = (prop::collection::vec(short, 1..9), 1usize..40)
            .prop_map(|(all, times)| all.concat().repeat(times));
        prop::collection::vec(prop_oneof![long, many, "\\PC{0,40}"], 0..8).prop_map(|all| all.concat())
    }

    proptest! {
        #[test]
        fn passages_hold_every_byte_in_order_and_are_short(text in texts()) {
            let mut from = 0;
            for range in cut(&text) {
                prop_assert!(range.start >= from && text[from..range.start].trim().is_empty());
                let part = &text[range.clone()];
                prop_assert!(!part.is_empty() && part == part.trim());
                prop_assert!(size(part) <= 2 * MAX_PASSAGE_WORDS, "{} {part:?}", size(part));
                from = range.end;
            }
            prop_assert!(text[from..].trim().is_empty());
        }

        #[test]
        fn no_word_is_cut(text in texts()) {
            let all = |texts: Vec<&str>| {
                let mut found = Vec::new();
                texts.iter().for_each(|text| terms(text, |term| found.push(term.to_vec())));
                found
            };
            let is_wide = |term: &Vec<u8>| term.first().is_some_and(|byte| *byte >= 0xE0);
            let (mut whole, mut parts) = (all(vec![&text]), all(cuts(&text)));
            for found in [&mut whole, &mut parts] {
                found.retain(|term| !is_wide(term));
            }
            prop_assert_eq!(whole, parts);
        }
    }
}
