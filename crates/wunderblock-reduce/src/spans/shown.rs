//! Stretches of lines that are shown in a different form, divided into parts, some of which a budget may keep.

use std::ops::Range;

use crate::result::mark;
use crate::spans::span::{LineSpan, Rank};

/// The position of a part in the hierarchy of its stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ShownLevel {
    /// Independent of the other parts.
    #[default]
    Alone,
    /// The heading of the parts below it. A heading says nothing without the parts below it.
    Heading,
    /// Under the preceding heading.
    Item,
    /// Under the preceding item, or under an independent part.
    Detail,
}

/// A part in the form in which it is shown, and its worth.
#[derive(Debug)]
pub(crate) struct ShownPart {
    pub(crate) text: String,
    pub(crate) level: ShownLevel,
    pub(crate) rank: Rank,
    pub(crate) score: u16,
}

/// Returns the spans of a stretch that is shown in these parts. The first span has all the bytes, so that the stretch
/// is one gap, whichever parts are shown.
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
