//! Groups: a stretch of lines said in other words, in parts of which a budget may show some.
//!
//! The first part has the bytes of all of them, so that the stretch is one gap whatever is shown of it.

use crate::span::{LineSpan, Rank};

/// Each group as one span, which says what stays of it; and whether each span stays.
pub(super) fn settle(spans: &[LineSpan], kept: &[bool]) -> (Vec<LineSpan>, Vec<bool>) {
    let mut settled: Vec<LineSpan> = Vec::new();
    let mut stays = Vec::new();
    let mut all = spans.iter().zip(kept).peekable();
    while let Some((span, kept)) = all.next() {
        if span.shown().is_none() {
            settled.push(span.clone());
            stays.push(*kept);
            continue;
        }
        let mut parts = vec![(span, *kept)];
        while let Some((part, kept)) =
            all.next_if(|(next, _)| next.shown().is_some() && next.range().is_empty())
        {
            parts.push((part, *kept));
        }
        let shown: String =
            parts.iter().filter(|(_, kept)| *kept).filter_map(|(part, _)| part.shown()).collect();
        let whole = LineSpan::new(span.range(), Rank::Must).described(span.description().cloned());
        stays.push(!shown.is_empty());
        settled.push(if shown.is_empty() {
            whole
        } else {
            let left = parts.iter().filter(|(_, kept)| !kept).count();
            let whole = if left == 0 {
                whole
            } else {
                whole.described(Some(format!("{left} of {} groups not shown", parts.len()).into()))
            };
            whole.shown_as(shown)
        });
    }
    (settled, stays)
}
