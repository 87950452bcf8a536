//! Blocks of lines that also occur in an earlier text. Repeated blocks are replaced by references to their places in
//! the earlier text.
//!
//! Lines that must be seen stay even if they have already been seen: a test that still fails is important.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::ops::Range;

use crate::input::source;
use crate::result::mark::SEEN;
use crate::spans::span::{LineSpan, Rank};
use crate::text::lines::TextLines;

/// A text that the reader has seen, or can read.
#[derive(Clone, Copy, Debug)]
pub struct EarlierText<'t> {
    /// Handle by which the text can be read.
    pub handle: &'t str,
    /// The text itself.
    pub text: &'t str,
}

/// Minimum number of consecutive equal lines that count as a repeated block.
const MIN_LINES: usize = 4;
/// Minimum size of a repeated block, in bytes. Shorter blocks are not worth looking up.
const MIN_BYTES: usize = 400;
/// Maximum number of bytes of earlier texts that are indexed, in the order given.
const MAX_INDEXED_BYTES: usize = 4 << 20;

/// A block of lines that also occurs in an earlier text, and the fact that names the block's place in that text.
struct DuplicateBlock {
    range: Range<usize>,
    description: Cow<'static, str>,
}

/// Ranks spans in blocks of an earlier text as filler, except spans that must be seen.
pub(crate) fn demote(lines: &TextLines<'_>, spans: &mut [LineSpan], earlier: &[EarlierText<'_>]) {
    let blocks = find_blocks(lines, earlier);
    let mut at = 0;
    for span in spans {
        while blocks.get(at).is_some_and(|block| block.range.end < span.range().end) {
            at += 1;
        }
        let Some(block) = blocks.get(at) else { return };
        if span.range().start >= block.range.start && span.rank < Rank::Must {
            span.rank = Rank::Filler;
            span.set_description(Some(block.description.clone()));
        }
    }
}

fn find_blocks(lines: &TextLines<'_>, earlier: &[EarlierText<'_>]) -> Vec<DuplicateBlock> {
    let mut room = MAX_INDEXED_BYTES;
    // A text that does not fit is skipped, because a smaller text after it may fit.
    let fits = |earlier: &&EarlierText<'_>| {
        let left = room.checked_sub(earlier.text.len());
        room = left.unwrap_or(room);
        left.is_some()
    };
    let known: Vec<&EarlierText<'_>> = earlier.iter().filter(fits).collect();
    let texts: Vec<_> =
        known.iter().map(|known| source::decode(known.text.as_bytes()).visible().text).collect();
    let texts: Vec<TextLines<'_>> = texts.iter().map(|text| TextLines::of(text)).collect();
    let hasher = RandomState::new();
    let mut places: HashMap<[u64; MIN_LINES], _> = HashMap::new();
    for (lines, known) in texts.iter().zip(known) {
        for (line, key) in block_keys(lines, &hasher).into_iter().enumerate() {
            // The latest text comes first, so a block refers to the latest text that contains it.
            places.entry(key).or_insert((lines, known, line));
        }
    }
    let keys = if places.is_empty() { Vec::new() } else { block_keys(lines, &hasher) };
    let (mut blocks, mut at) = (Vec::new(), 0);
    while let Some(key) = keys.get(at) {
        let Some((there, known, first)) = places.get(key) else {
            at += 1;
            continue;
        };
        let alike = |step: &usize| {
            at + step < lines.len()
                && first + step < there.len()
                && lines.get(at + step) == there.get(first + step)
        };
        let run = (0..).take_while(alike).count();
        let range = lines.spans(at..at + run);
        if run < MIN_LINES || range.len() < MIN_BYTES {
            at += 1;
            continue;
        }
        let description = format!("{SEEN}{}#L{}-{}", known.handle, first + 1, first + run);
        blocks.push(DuplicateBlock { range, description: description.into() });
        at += run;
    }
    blocks
}

/// Returns the hash of each run of [`MIN_LINES`] consecutive lines.
fn block_keys(lines: &TextLines<'_>, hasher: &RandomState) -> Vec<[u64; MIN_LINES]> {
    let hashes: Vec<u64> = lines.iter().map(|line| hasher.hash_one(line)).collect();
    hashes.windows(MIN_LINES).filter_map(|few| few.try_into().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Level, Options, gaps, reduce};

    fn listing(from: usize, to: usize) -> String {
        (from..to).map(|n| format!("unit {n:03} of the plan is made of {} parts\n", n * n)).collect()
    }

    fn short(text: &str, earlier: &[EarlierText<'_>]) -> crate::Reduced {
        let kind = Some(crate::Kind::Prose);
        reduce(text.as_bytes(), &Options { kind, earlier, handle: Some("wb:22"), ..Options::default() })
    }

    #[test]
    fn a_block_of_an_earlier_text_is_named_by_where_it_stands() {
        let first = format!("the first run\n{}it is over\n", listing(0, 60));
        let second = format!("the second run\n{}and something new\n{}", listing(20, 60), listing(90, 92));
        let earlier = [EarlierText { handle: "wb:11", text: &first }];
        let out = short(&second, &earlier);
        assert_eq!(
            out.text,
            format!(
                "the second run\n⟨… wb:22#L2-41: 40 lines, seen in wb:11#L22-61⟩\n\
                 and something new\n{}",
                listing(90, 92)
            )
        );
        assert_eq!(gaps(&out.text).next().unwrap().handle, Some("wb:22"));
        assert_eq!(&second[out.gaps[0].span.clone()], listing(20, 60));
        // Without an earlier text, nothing can be left out. A lossless reduction must not refer to another text.
        assert!(short(&second, &[]).gaps.is_empty());
        let exact = Options { level: Level::Lossless, earlier: &earlier, ..Options::default() };
        assert!(reduce(second.as_bytes(), &exact).gaps.is_empty());
    }

    #[test]
    fn a_failure_is_news_however_often_it_was_said() {
        let run = format!("{}test plan::fits ... FAILED\n{}", listing(0, 40), listing(40, 80));
        let out = short(&run, &[EarlierText { handle: "wb:11", text: &run }]);
        assert!(out.text.contains("seen in wb:11#L1-81"), "{}", out.text);
        let out = reduce(
            run.as_bytes(),
            &Options {
                kind: Some(crate::Kind::Tests),
                earlier: &[EarlierText { handle: "wb:11", text: &run }],
                ..Options::default()
            },
        );
        assert!(out.text.contains("test plan::fits ... FAILED"), "{}", out.text);
        assert!(out.tokens_after * 4 < out.tokens_before);
    }

    #[test]
    fn a_gap_that_has_more_than_was_seen_says_so() {
        let log = |from: usize, to: usize| -> String {
            (from..to)
                .map(|n| format!("09:14:{:02} INFO shelf {n} is sorted, {} parts\n", n % 60, n * 7))
                .collect()
        };
        let (first, second) = (log(0, 60), log(30, 120));
        let earlier = [EarlierText { handle: "wb:11", text: &first }];
        let kind = Some(crate::Kind::Log);
        let out = reduce(second.as_bytes(), &Options { kind, earlier: &earlier, ..Options::default() });
        assert!(out.text.contains(", partly seen in wb:11#L31-60"), "{}", out.text);
    }

    #[test]
    fn scattered_equal_lines_are_not_a_duplicate_block() {
        let first: String = (0..200).map(|n| format!("{n}\n}}\n")).collect();
        let second: String = (0..200).map(|n| format!("other {n} than before\n}}\n")).collect();
        assert!(!short(&second, &[EarlierText { handle: "wb:11", text: &first }]).text.contains("wb:11"));
    }
}
