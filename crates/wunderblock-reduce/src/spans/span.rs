//! Spans: the groups of lines that the reader of a kind ranks.
//!
//! A reader does not write or drop text, but states what each span is worth. [`crate::spans::select`] decides which spans
//! stay, in the same way for every kind.

use std::borrow::Cow;
use std::ops::Range;

use crate::result::label::Label;
use crate::result::mark::SEEN;
use crate::spans::shown::ShownLevel;

/// The rank of a span, from the spans that are left out first to those that are left out last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Rank {
    /// Repetition, progress, boilerplate. Filler is left out at the level `fold`, if there is enough of it.
    Filler,
    /// Everything else. Context stays unless a budget has no room for it.
    Context,
    /// The structure needed to understand the rest: headings, headers, first and last examples.
    Frame,
    /// The lines for which people read a text: errors, failures, changed lines, totals.
    Must,
}

/// A stretch of the source and its worth.
///
/// A text may have as many spans as lines, so a span is small: positions have 32 bits
/// ([`crate::text::lines::MAX_TEXT_BYTES`]), and notes, which few spans have, are stored separately.
#[derive(Clone, Debug)]
pub(crate) struct LineSpan {
    start: u32,
    end: u32,
    pub(crate) rank: Rank,
    /// Label under which the mark counts the span if it is left out.
    pub(crate) label: Option<Label>,
    /// Order among spans of the same rank: those with a higher score stay longer.
    pub(crate) score: u16,
    notes: Option<Box<SpanNotes>>,
}

/// Texts that marks contain about a span.
#[derive(Clone, Debug, Default)]
struct SpanNotes {
    note: Option<Box<str>>,
    description: Option<Cow<'static, str>>,
    shown: Option<Box<str>>,
    level: ShownLevel,
}

impl LineSpan {
    pub(crate) fn new(span: Range<usize>, rank: Rank) -> Self {
        Self { rank, score: 0, label: None, notes: None, start: to_u32(span.start), end: to_u32(span.end) }
    }

    pub(crate) fn scored(self, score: u16) -> Self {
        Self { score, ..self }
    }

    pub(crate) fn labelled(self, label: impl Into<Option<Label>>) -> Self {
        Self { label: label.into(), ..self }
    }

    pub(crate) fn described(mut self, description: Option<Cow<'static, str>>) -> Self {
        self.set_description(description);
        self
    }

    /// Returns the byte range of the span in the source.
    pub(crate) fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns the same span for another range.
    pub(crate) fn with_range(self, span: Range<usize>) -> Self {
        Self { start: to_u32(span.start), end: to_u32(span.end), ..self }
    }

    /// Moves the end of the span to `end`.
    pub(crate) fn extend(&mut self, end: usize) {
        self.end = to_u32(end);
    }

    /// Returns whether a fold treats this span and the next alike, and marks do not distinguish between them.
    pub(crate) fn is_folded_with(&self, next: &Self) -> bool {
        let [kept, next_kept] = [self.rank, next.rank].map(|rank| rank > Rank::Filler);
        // A description of a part of a gap applies to the whole gap, unless it names the place where lines have been
        // seen.
        let seen = !kept && self.description().is_some_and(|seen_in| seen_in.starts_with(SEEN));
        kept == next_kept
            && self.end == next.start
            && self.note().is_none()
            && !next.has_notes()
            && self.shown().is_none()
            && !seen
            && (kept || next.label.is_none())
    }

    /// Returns the note that follows the span if it stays: `⟨×47⟩`.
    pub(crate) fn note(&self) -> Option<&str> {
        self.notes.as_ref()?.note.as_deref()
    }

    pub(crate) fn set_note(&mut self, note: Option<Box<str>>) {
        if note.is_some() || self.notes.is_some() {
            self.notes.get_or_insert_default().note = note;
        }
    }

    /// Returns the description of the span in its mark if it is left out: `body of fn parse`.
    pub(crate) fn description(&self) -> Option<&Cow<'static, str>> {
        self.notes.as_ref()?.description.as_ref()
    }

    pub(crate) fn set_description(&mut self, mut description: Option<Cow<'static, str>>) {
        if let Some(Cow::Owned(description)) = &mut description {
            description.shrink_to_fit();
        }
        if description.is_some() || self.notes.is_some() {
            self.notes.get_or_insert_default().description = description;
        }
    }

    /// Sets a different text that is shown after the mark of the span. The text must be escaped. Empty spans that
    /// follow are shown together with the span (a group and its parts).
    pub(crate) fn shown_as(mut self, text: String, level: ShownLevel) -> Self {
        let notes = self.notes.get_or_insert_default();
        (notes.shown, notes.level) = (Some(text.into()), level);
        self
    }

    /// Returns the position of the shown text in the hierarchy of its stretch.
    pub(crate) fn level(&self) -> ShownLevel {
        self.notes.as_ref().map_or(ShownLevel::Alone, |notes| notes.level)
    }

    /// Returns the text that is shown instead of the span, if there is any.
    pub(crate) fn shown(&self) -> Option<&str> {
        self.notes.as_ref()?.shown.as_deref()
    }

    /// Returns whether marks say anything about the span.
    pub(crate) fn has_notes(&self) -> bool {
        self.notes.is_some()
    }

    /// Returns the span without its texts for marks.
    pub(crate) fn without_notes(self) -> Self {
        Self { notes: None, ..self }
    }

    /// Returns the text that a mark shows if a budget leaves the span out: a heading or a signature.
    pub(crate) fn headline(&self) -> Option<&Cow<'static, str>> {
        self.description().filter(|_| self.rank >= Rank::Frame)
    }

    /// Returns the number of bytes that the span takes in the result, including its note.
    pub(crate) fn bytes(&self) -> usize {
        let shown = self.shown().map_or(self.range().len(), str::len);
        shown + self.note().map_or(0, |note| note.len() + 1)
    }
}

/// Returns a position as a 32-bit number. All positions in a text that is read fit into 32 bits.
fn to_u32(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Returns the labels of spans, with the number of spans that have each label.
pub(crate) fn counts(run: &[LineSpan]) -> Vec<(Label, u64)> {
    let mut counts: Vec<(Label, u64)> = Vec::new();
    for label in run.iter().filter_map(|span| span.label) {
        match counts.iter_mut().find(|(known, _)| *known == label) {
            Some((_, count)) => *count += 1,
            None => counts.push((label, 1)),
        }
    }
    counts
}
