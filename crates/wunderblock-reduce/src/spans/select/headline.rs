//! Headings and signatures within a budget that has no room for a mark around each of them. Marks list the headlines,
//! so that the text keeps its table of contents, and the rest of the budget shows the text below them.

use std::cmp::Reverse;
use std::ops::Range;

use crate::part::PartOfList;
use crate::spans::span::{LineSpan, Rank};

/// Maximum number of bytes of headlines in a mark.
const MAX_HEADLINE_BYTES: usize = 400;
/// Cost of a mark in bytes of text. Because of its numbers, a mark has more tokens than text of the same length.
pub(super) const MARK_COST: usize = 38;

/// Returns whether all headlines stay and at least a third of the room is used for the text below them.
pub(super) fn all_fit(spans: &[LineSpan], kept: &[bool], bytes: usize) -> bool {
    let (mut headlines, mut rest) = (0, 0);
    for (span, kept) in spans.iter().zip(kept) {
        match (span.headline(), kept) {
            (Some(_), false) => return false,
            (Some(_), true) => headlines += 1,
            (None, true) => rest += span.bytes(),
            (None, false) => {}
        }
    }
    headlines == 0 || rest * 3 >= bytes
}

/// Returns the spans whose headlines are listed in marks if the spans do not stay: all of them, or the best ones for
/// which there is room.
pub(super) fn listed(spans: &[LineSpan], bytes: usize) -> Vec<bool> {
    let mut listed = vec![false; spans.len()];
    // Spans that must stay, and the spans under them, get up to half of the room before other headlines are listed.
    let is_matching = |span: &&LineSpan| span.rank == Rank::Must || span.score == UNDER_QUERY_SCORE;
    let matching: usize = spans.iter().filter(is_matching).map(LineSpan::bytes).sum();
    let matching = if matching > 0 { matching + 2 * MARK_COST } else { 0 };
    let mut room = bytes.saturating_sub(MARK_COST + matching.min(bytes / 2));
    for at in rank_order(spans) {
        let headline = spans.item(at).and_then(LineSpan::headline);
        if let Some((cost, listed)) = headline.map(|line| length_in_mark(line)).zip(listed.item_mut(at))
            && cost <= room
        {
            room -= cost;
            *listed = true;
        }
    }
    listed
}

/// Score of the spans under a headline that matches the query, so that they follow the headline directly.
const UNDER_QUERY_SCORE: u16 = 50_000;
/// Maximum number of spans raised under one headline.
const MAX_UNDER_QUERY: usize = 60;

/// Raises the spans under headlines that must stay.
pub(crate) fn raise_under_query(spans: &mut [LineSpan]) {
    let mut left = 0;
    for span in spans {
        if span.headline().is_some() {
            left = if span.rank == Rank::Must { MAX_UNDER_QUERY } else { 0 };
        } else if left > 0 {
            left -= 1;
            span.rank = span.rank.max(Rank::Context);
            span.score = span.score.max(UNDER_QUERY_SCORE);
        }
    }
}

/// Returns the size of a headline in a mark, in bytes, including its share of the mark.
pub(super) fn length_in_mark(headline: &str) -> usize {
    let length = headline.len() + ", ".len();
    length + length * MARK_COST / MAX_HEADLINE_BYTES
}

pub(super) fn rank_order(spans: &[LineSpan]) -> Vec<usize> {
    let mut order: Vec<(usize, &LineSpan)> = spans.iter().enumerate().collect();
    order.sort_by_key(|(at, span)| (Reverse((span.rank, span.score)), *at));
    order.into_iter().map(|(at, _)| at).collect()
}

/// Returns the end of a gap that begins at a given span: the position before the first headline for which the mark
/// has no room.
pub(super) fn gap_end(spans: &[LineSpan], listed: &[bool], run: Range<usize>) -> usize {
    let mut room = MAX_HEADLINE_BYTES;
    for at in run.clone() {
        let headline = spans.item(at).filter(|_| listed.get(at) == Some(&true)).and_then(LineSpan::headline);
        let length = headline.map_or(0, |headline| headline.len() + ", ".len());
        if length > room && at > run.start {
            return at;
        }
        room = room.saturating_sub(length);
    }
    run.end
}
