//! A stretch of lines said in other words, in parts of which a budget may show some.

use std::ops::Range;

use crate::mark;
use crate::span::{LineSpan, Rank};

/// Where a part stands among those of its stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ShownLevel {
    /// By itself.
    #[default]
    Alone,
    /// Above what it is the heading of: it says nothing alone.
    Heading,
    /// Under the heading before it.
    Item,
    /// Under the item before it, or under what stands alone.
    Detail,
}

/// A part as it is shown, and what it is worth.
#[derive(Debug)]
pub(crate) struct ShownPart {
    pub(crate) text: String,
    pub(crate) level: ShownLevel,
    pub(crate) rank: Rank,
    pub(crate) score: u16,
}

/// The spans of a stretch that is said in these parts. The first has the bytes of all, so that the stretch is one gap
/// whatever is shown of it.
pub(crate) fn spans<'p>(
    range: Range<usize>,
    parts: &'p [ShownPart],
    description: &'p str,
) -> impl Iterator<Item = LineSpan> + 'p {
    let mut ranges = Some(range.clone()).into_iter().chain(std::iter::repeat(range.end..range.end));
    parts.iter().map(move |part| {
        let mut escaped = String::with_capacity(part.text.len());
        mark::escape(&part.text, &mut escaped);
        let span = LineSpan::new(ranges.next().unwrap_or_default(), part.rank).scored(part.score);
        span.described(Some(description.to_owned().into())).shown_as(escaped, part.level)
    })
}
