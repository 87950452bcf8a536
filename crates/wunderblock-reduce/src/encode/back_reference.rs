//! Lines that were there before, replaced by a reference to them, and how they begin: `⟨=↑ 12–30: first of them⟩`.
//!
//! Lines that mention an error are never replaced.
//!
//! Numbers are those of the text's own lines, from 1, so this is only for texts from which no line was left out.

use std::fmt::Write as _;
use std::hash::{BuildHasher as _, RandomState};

use super::error_words::mentions_error;
use super::line_index::LineIndex;
use super::rewrite::Rewrite;
use super::slots::SlotTable;
use super::token_estimate;
use crate::lines::TextLines;
use crate::mark::OPEN;
use crate::sink::TextSink;

/// Minimum lines of a block: fewer are not worth looking up.
const MIN_LINES: usize = 3;
/// Characters that tell how a block begins.
const HINT_CHARS: usize = 32;
/// Minimum tokens of a block: the mark costs ten, and the reader has to look up.
const MIN_TOKENS: usize = 40;

/// The second and later occurrences of a block of lines as references to the first.
pub(super) fn encode(text: &str) -> Option<String> {
    if !text.contains('\n') || has_gap(text) {
        return None;
    }
    let lines = TextLines::of(text);
    let hasher = RandomState::new();
    let hashes: Vec<u64> =
        (0..lines.len()).map(|line| hasher.hash_one(line_with_ending(&lines, line))).collect();
    let mut seen = SeenBlocks { hashes: &hashes, lines: SlotTable::with_room(hashes.len()) };
    let mut instead = Rewrite::of(text);
    let mut at = 0;
    while at < lines.len() {
        let found = block_at(&hashes, at).and_then(|key| seen.find(key));
        let run = found.map_or(0, |first| common_run(&lines, first, at));
        let span = lines.spans(at..at + run);
        let block = text.get(span.clone()).unwrap_or("");
        if let (Some(first), true) = (found, run >= MIN_LINES && block.ends_with('\n') && is_worth_it(block))
        {
            instead.replace(span, |out| {
                let _ = writeln!(out, "⟨=↑ {}–{}: {}⟩", first + 1, first + run, hint(block));
            });
            at += run;
            continue;
        }
        // A repetition too light to be replaced is stepped over whole: it was compared once and is not compared again.
        for line in at..at + run.max(1) {
            if let Some(key) = self::block_at(&hashes, line) {
                seen.note(key, line);
            }
        }
        at += run.max(1);
    }
    instead.finish()
}

/// The places of blocks that were seen, by the hashes of their first lines.
struct SeenBlocks<'h> {
    hashes: &'h [u64],
    lines: SlotTable,
}

impl SeenBlocks<'_> {
    /// The line at which a block was seen first.
    fn find(&self, block: &[u64]) -> Option<usize> {
        self.lines.find(block_hash(block), |line| self.hashes.get(line..line + MIN_LINES) == Some(block))
    }

    fn note(&mut self, block: &[u64], line: usize) {
        if self.find(block).is_none() {
            self.lines
                .put(line, |line| block_hash(self.hashes.get(line..line + MIN_LINES).unwrap_or_default()));
        }
    }
}

fn block_hash(block: &[u64]) -> u64 {
    block.iter().fold(0, |mixed, hash| mixed.rotate_left(21) ^ hash)
}

/// Whether lines are missing already: then numbers would not be those of the source.
fn has_gap(text: &str) -> bool {
    crate::mark::gaps(text).next().is_some()
}

fn block_at(hashes: &[u64], at: usize) -> Option<&[u64]> {
    let key = hashes.get(at..at + MIN_LINES)?;
    // Equal lines in a row are counted, not pointed at.
    key.windows(2).any(|two| two.first() != two.last()).then_some(key)
}

fn line_with_ending<'t>(lines: &TextLines<'t>, line: usize) -> &'t str {
    lines.text().get(lines.span(line)).unwrap_or("")
}

/// The number of lines from `second` on that equal those from `first` on. The two never overlap.
fn common_run(lines: &TextLines<'_>, first: usize, second: usize) -> usize {
    let reach = (second - first).min(lines.len() - second);
    let alike = |step: &usize| {
        let line = line_with_ending(lines, second + step);
        line == line_with_ending(lines, first + step) && !mentions_error(line)
    };
    (0..reach).take_while(alike).count()
}

/// The first words of a block, by which a reader finds it again.
fn hint(block: &str) -> String {
    let line = block.lines().map(str::trim).find(|line| line.contains(char::is_alphanumeric)).unwrap_or("");
    line.chars().filter(|c| !c.is_control() && !matches!(c, '⟨' | '⟩')).take(HINT_CHARS).collect()
}

fn is_worth_it(block: &str) -> bool {
    // The head of a long block says enough.
    let mut head = block.len().min(4096);
    while !block.is_char_boundary(head) {
        head -= 1;
    }
    !block.contains(OPEN) && token_estimate::estimate_tokens(block.get(..head).unwrap_or("")) >= MIN_TOKENS
}

/// Writes the lines of `out` that are referred to again.
pub(super) fn decode(named: &str, out: &mut TextSink<'_>, index: &mut LineIndex) -> Option<()> {
    let (first, last) = named.split_once(": ")?.0.split_once('–')?;
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    if first == 0 || last < first {
        return None;
    }
    let span = index.lines(out.written(), first, last)?;
    out.repeat(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_was_there_is_named_by_its_lines() {
        let block: String =
            (0..6).map(|n| format!("    at com.example.Service{n}.call(Service.java:{n}7)\n")).collect();
        let text = format!("one\n{block}two\n{block}three");
        let packed = encode(&text).unwrap();
        assert_eq!(packed, format!("one\n{block}two\n⟨=↑ 2–7: at com.example.Service0.call(Ser⟩\nthree"));
        assert_eq!(crate::encode::decode(&packed), Some(text.clone()));
        // With lines missing, numbers would not be those of the source.
        assert_eq!(encode(&(text + "\n⟨… L20-30: 11 lines⟩\n")), None);
    }

    #[test]
    fn what_points_nowhere_is_broken() {
        for text in [
            "⟨=↑ 1–2: a⟩",
            "a\n⟨=↑ 1–2: a⟩",
            "a\nb\n⟨=↑ 2–1: a⟩",
            "a\nb\n⟨=↑ 0–1: a⟩",
            "a\nb\n⟨=↑ 1-2: a⟩",
            "a\nb\n⟨=↑ 1–2⟩",
        ] {
            assert_eq!(crate::encode::decode(text), None, "{text}");
        }
    }
}
