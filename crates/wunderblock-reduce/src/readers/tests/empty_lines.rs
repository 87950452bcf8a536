//! Leaves out the empty lines between lines that are left out. Behind the task of a package, an empty line is as long
//! as its task.

use crate::part::PartOfList;
use crate::readers::line::build_line::strip_prefix;
use crate::spans::span::{LineSpan, Rank};
use crate::text::lines::TextLines;

pub(super) fn fold(lines: &TextLines<'_>, spans: &mut [LineSpan]) {
    let is_empty = |at: &usize| strip_prefix(lines.get(*at)).trim().is_empty();
    let mut last = None;
    for at in (0..lines.len()).filter(|at| !is_empty(at)) {
        let is_filler = spans.item(at).is_some_and(|span| span.rank == Rank::Filler);
        for empty in last.filter(|_| is_filler).map_or(0..0, |last: usize| last + 1..at) {
            if let Some(span) = spans.item_mut(empty) {
                (span.rank, span.score, span.label) = (Rank::Filler, 0, None);
            }
        }
        last = Some(at).filter(|_| is_filler);
    }
}
