//! Replaces repeated lines with a reference to their first occurrence, for example: `⟨=wb:3f9c1a7b#L209-218: again
//! L182-191⟩`.
//!
//! Both places are lines of the source. If fewer lines are named than replaced, the named lines are repeated, for
//! example: `⟨=L2-48: again L1⟩`. Lines that mention an error are never replaced.

use crate::part::{PartOfList, PartOfText};
use std::hash::{BuildHasher as _, RandomState};
use std::ops::RangeInclusive;

use super::error_words::mentions_error;
use super::rewrite::Rewrite;
use super::slots::SlotTable;
use super::source_lines::SourceLines;
use super::token_estimate;
use crate::result::mark::{NAMED_AGAIN, OPEN};
use crate::result::sink::TextSink;
use crate::text::lines::TextLines;

/// Minimum lines of a block. A block of fewer lines is not worth looking up.
const MIN_LINES: usize = 3;
/// Minimum number of tokens in a block. The mark costs fifteen tokens, and the reader has to look up the lines.
const MIN_TOKENS: usize = 40;

/// Replaces the second and later occurrences of a block of lines with references to the first occurrence.
pub(super) fn encode(text: &str, source: SourceLines<'_>) -> Option<String> {
    if !text.contains('\n') {
        return None;
    }
    let lines = TextLines::of(text);
    let hasher = RandomState::new();
    let hashes: Vec<u64> =
        (0..lines.len()).map(|line| hasher.hash_one(line_with_ending(&lines, line))).collect();
    let mut seen = SeenBlocks { hashes: &hashes, lines: SlotTable::with_room(hashes.len()) };
    let mut instead = Rewrite::of(text);
    let (mut at, mut named) = (0, None);
    while at < lines.len() {
        let found = hashes.get(at..at + MIN_LINES).and_then(|key| seen.find(key));
        let run = found.map_or(0, |first| common_run(&lines, first, at));
        let span = lines.spans(at..at + run);
        let block = text.part(span.clone());
        if let (Some(first), true) = (found, run >= MIN_LINES && block.ends_with('\n') && is_worth_it(block))
        {
            instead.replace(span, |out| {
                let is_named = named.is_some_and(|named| out.len() < named + NAMED_AGAIN);
                out.push_str("⟨=");
                if let Some(handle) = source.handle.filter(|_| !is_named) {
                    out.push_str(handle);
                    out.push('#');
                    named = Some(out.len());
                }
                let place = |from: usize, to: usize| match (source.before + from + 1, source.before + to) {
                    (first, last) if first == last => format!("L{first}"),
                    (first, last) => format!("L{first}-{last}"),
                };
                // If the block overlaps its first occurrence, only the lines before the block are named.
                let before = place(first, (first + run).min(at));
                out.push_str(&format!("{}: again {before}⟩\n", place(at, at + run)));
            });
            at += run;
            continue;
        }
        // A repetition that is too small to be replaced is skipped as a whole, so that its lines are compared only
        // once.
        for line in at..at + run.max(1) {
            if let Some(key) = hashes.get(line..line + MIN_LINES) {
                seen.note(key, line);
            }
        }
        at += run.max(1);
    }
    instead.finish()
}

/// The lines at which blocks were seen, indexed by the hashes of the blocks' first lines.
struct SeenBlocks<'h> {
    hashes: &'h [u64],
    lines: SlotTable,
}

impl SeenBlocks<'_> {
    /// Returns the line at which a block was seen first.
    fn find(&self, block: &[u64]) -> Option<usize> {
        self.lines.find(block_hash(block), |line| self.hashes.get(line..line + MIN_LINES) == Some(block))
    }

    fn note(&mut self, block: &[u64], line: usize) {
        if self.find(block).is_none() {
            self.lines.put(line, |line| block_hash(self.hashes.part(line..line + MIN_LINES)));
        }
    }
}

fn block_hash(block: &[u64]) -> u64 {
    block.iter().fold(0, |mixed, hash| mixed.rotate_left(21) ^ hash)
}

fn line_with_ending<'t>(lines: &TextLines<'t>, line: usize) -> &'t str {
    lines.text().part(lines.span(line))
}

/// Returns the number of lines from `second` on that equal the lines from `first` on. Stops at a line that mentions
/// an error.
fn common_run(lines: &TextLines<'_>, first: usize, second: usize) -> usize {
    let alike = |step: &usize| {
        let line = line_with_ending(lines, second + step);
        line == line_with_ending(lines, first + step) && !mentions_error(line)
    };
    (0..lines.len() - second).take_while(alike).count()
}

fn is_worth_it(block: &str) -> bool {
    // The first 4 KiB of a long block are enough for an estimate.
    let mut head = block.len().min(4096);
    while !block.is_char_boundary(head) {
        head -= 1;
    }
    !block.contains(OPEN) && token_estimate::estimate_tokens(block.part(..head)) >= MIN_TOKENS
}

/// Returns the lines that a reference replaces and the lines that it names. `None` for the tag of an encoded block.
pub(super) fn parse_tag(tag: &str) -> Option<(RangeInclusive<usize>, RangeInclusive<usize>)> {
    let (here, there) = tag.split_once(": again ")?;
    let lines = |place: &str| {
        let lines = place.strip_prefix('L')?;
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        Some(first.parse().ok()?..=last.parse().ok()?)
            .filter(|lines: &RangeInclusive<usize>| !lines.is_empty())
    };
    let here = here.rsplit_once('#').map_or(here, |(_, place)| place);
    Some((lines(here)?, lines(there)?))
}

/// Appends to `out` the lines of `out` that a reference names.
pub(super) fn decode(
    here: RangeInclusive<usize>,
    there: RangeInclusive<usize>,
    out: &mut TextSink<'_>,
    index: &mut LineIndex,
) -> Option<()> {
    index.scan(out.written())?;
    // The text may begin after the first line of its source, and the line ends before the text are not in the index.
    let before = here.start().checked_sub(index.ends.len() + 1)?;
    let all = there.end() - there.start() + 1;
    for (nth, _) in here.enumerate() {
        out.push(if nth > 0 { "\n" } else { "" })?;
        let line = (there.start() + nth % all).checked_sub(before)?;
        out.repeat(index.line(line)?)?;
    }
    Some(())
}

/// Index of the line ends of a text that grows.
#[derive(Debug, Default)]
pub(super) struct LineIndex {
    ends: Vec<usize>,
    scanned: usize,
}

impl LineIndex {
    fn scan(&mut self, text: &str) -> Option<()> {
        let new = text.as_bytes().get(self.scanned..)?;
        self.ends.extend(memchr::memchr_iter(b'\n', new).map(|at| self.scanned + at));
        self.scanned = text.len();
        Some(())
    }

    /// Returns the byte range of a line (counted from 1), without its newline.
    fn line(&self, line: usize) -> Option<std::ops::Range<usize>> {
        let start = if line == 1 { 0 } else { self.ends.get(line.checked_sub(2)?)? + 1 };
        Some(start..*self.ends.get(line.checked_sub(1)?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: SourceLines<'_> = SourceLines { handle: Some("wb:12"), before: 100, shortest: false };

    #[test]
    fn a_block_that_was_there_is_named_by_its_lines() {
        let block: String =
            (0..6).map(|n| format!("    at com.example.Service{n}.call(Service.java:{n}7)\n")).collect();
        let text = format!("one\n{block}two\n{block}three\n{block}");
        let packed = encode(&text, SOURCE).unwrap();
        let expected = format!(
            "one\n{block}two\n⟨=wb:12#L109-114: again L102-107⟩\nthree\n⟨=L116-121: again L102-107⟩\n"
        );
        assert_eq!(packed, expected);
        assert_eq!(crate::encode::decode(&packed), Some(text));
    }

    #[test]
    fn a_line_over_and_over_is_named_once() {
        let text = "waiting for the lock of the package manager\n".repeat(48);
        let packed = encode(&text, SourceLines::default()).unwrap();
        assert_eq!(packed, "waiting for the lock of the package manager\n⟨=L2-48: again L1⟩\n");
        assert_eq!(crate::encode::decode(&packed), Some(text));
    }

    #[test]
    fn what_points_nowhere_is_broken() {
        for text in [
            "⟨=L1-2: again L1⟩",
            "a\n⟨=L2-3: again L2⟩",
            "a\nb\n⟨=L3-4: again L2-1⟩",
            "a\nb\n⟨=L3-4: again L0-1⟩",
            "a\nb\n⟨=L2-3: again L1⟩",
            "a\nb\n⟨=L3: again⟩",
        ] {
            assert_eq!(crate::encode::decode(text), None, "{text}");
        }
    }
}
