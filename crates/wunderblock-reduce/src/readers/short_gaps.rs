//! Gaps that are not worth their mark.

use crate::spans::span::{LineSpan, Rank};

/// Minimum number of spans in a gap between spans that stay. A shorter gap saves too little for the interruption.
const MIN_GAP_SPANS: usize = 3;
/// Minimum size, in bytes, of a gap that is kept although it has too few spans.
const MIN_GAP_BYTES: usize = 160;

/// Keeps the spans of gaps that have too few spans and bytes.
pub(crate) fn close_short(spans: &mut [LineSpan]) {
    for gap in spans.split_mut(|span| span.rank != Rank::Filler) {
        let bytes: usize = gap.iter().map(|span| span.range().len()).sum();
        if gap.len() < MIN_GAP_SPANS && bytes < MIN_GAP_BYTES {
            gap.iter_mut().for_each(|span| span.rank = Rank::Context);
        }
    }
}
