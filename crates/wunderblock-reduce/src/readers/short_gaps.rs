//! Gaps that are not worth their mark.

use crate::span::{LineSpan, Rank};

/// A gap of fewer spans than this between spans that stay breaks the text up for little.
const FEW: usize = 3;
/// Unless it saves so many bytes.
const WORTH: usize = 160;

/// Lets stay what would leave a gap of a span or two.
pub(crate) fn close_short(spans: &mut [LineSpan]) {
    let mut start = 0;
    for at in 0..=spans.len() {
        if spans.get(at).is_some_and(|span| span.rank == Rank::Filler) {
            continue;
        }
        let gap = spans.get_mut(start..at).unwrap_or_default();
        let bytes: usize = gap.iter().map(|span| span.range().len()).sum();
        if gap.len() < FEW && bytes < WORTH {
            gap.iter_mut().for_each(|span| span.rank = Rank::Context);
        }
        start = at + 1;
    }
}
