//! Spans: the line groups that the reader of one kind judges.
//!
//! A reader never writes text and never drops any: it says of each span what it is worth. Which spans stay is decided
//! in [`crate::select`], the same way for every kind.

use std::borrow::Cow;
use std::ops::Range;

use crate::label::Label;
use crate::mark::SEEN;
use crate::shown::ShownLevel;

/// What a span is worth, in the order of the choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Rank {
    /// Repetition, progress, boilerplate: left out at the level `fold`, if there is enough of it.
    Filler,
    /// Stays unless a budget is short.
    Context,
    /// The structure in which the rest is understood: headings, headers, first and last examples.
    Frame,
    /// What people read such a text for: errors, failures, changed lines, totals.
    Must,
}

/// A stretch of the source and what it is worth.
///
/// A text may have as many as lines, so it is small: places have 32 bits ([`crate::lines::MAX_TEXT_BYTES`]), and notes,
/// which few spans have, are apart.
#[derive(Clone, Debug)]
pub(crate) struct LineSpan {
    start: u32,
    end: u32,
    pub(crate) rank: Rank,
    /// What the mark counts it as if it is left out.
    pub(crate) label: Option<Label>,
    /// The order among spans of the same rank: the higher score stays longer.
    pub(crate) score: u16,
    notes: Option<Box<SpanNotes>>,
}

/// What marks say about a span.
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

    /// The bytes of the source.
    pub(crate) fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The same span of another stretch.
    pub(crate) fn with_range(self, span: Range<usize>) -> Self {
        Self { start: to_u32(span.start), end: to_u32(span.end), ..self }
    }

    /// Extends it to `end`.
    pub(crate) fn extend(&mut self, end: usize) {
        self.end = to_u32(end);
    }

    /// Whether a fold treats the span after it alike, and marks say nothing of that.
    pub(crate) fn is_folded_with(&self, next: &Self) -> bool {
        let [kept, next_kept] = [self.rank, next.rank].map(|rank| rank > Rank::Filler);
        // A description of a part of a gap holds for all of it, except where it was seen.
        let seen = !kept && self.description().is_some_and(|seen_in| seen_in.starts_with(SEEN));
        kept == next_kept
            && self.end == next.start
            && self.note().is_none()
            && !next.has_notes()
            && self.shown().is_none()
            && !seen
            && (kept || next.label.is_none())
    }

    /// The mark that follows it if it stays: `⟨×47⟩`.
    pub(crate) fn note(&self) -> Option<&str> {
        self.notes.as_ref()?.note.as_deref()
    }

    pub(crate) fn set_note(&mut self, note: Option<Box<str>>) {
        if note.is_some() || self.notes.is_some() {
            self.notes.get_or_insert_default().note = note;
        }
    }

    /// Its description in the mark if it is left out: `body of fn parse`.
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

    /// The span said in other words, which stand after its mark: the text is escaped already. Spans that follow it and are
    /// empty are said with it (a group and its parts).
    pub(crate) fn shown_as(mut self, text: String, level: ShownLevel) -> Self {
        let notes = self.notes.get_or_insert_default();
        (notes.shown, notes.level) = (Some(text.into()), level);
        self
    }

    /// Where its words stand among those of its stretch.
    pub(crate) fn level(&self) -> ShownLevel {
        self.notes.as_ref().map_or(ShownLevel::Alone, |notes| notes.level)
    }

    /// The words in which it is said, if they are not its own.
    pub(crate) fn shown(&self) -> Option<&str> {
        self.notes.as_ref()?.shown.as_deref()
    }

    /// Whether marks say anything about it.
    pub(crate) fn has_notes(&self) -> bool {
        self.notes.is_some()
    }

    /// The same without what marks say about it.
    pub(crate) fn without_notes(self) -> Self {
        Self { notes: None, ..self }
    }

    /// What its mark says of it where a budget leaves it out: a heading, a signature.
    pub(crate) fn headline(&self) -> Option<&Cow<'static, str>> {
        self.description().filter(|_| self.rank >= Rank::Frame)
    }

    /// Its bytes in the result, its note included.
    pub(crate) fn bytes(&self) -> usize {
        let shown = self.shown().map_or(self.range().len(), str::len);
        shown + self.note().map_or(0, |note| note.len() + 1)
    }
}

/// A place in a text. Every text that is read has places that fit.
fn to_u32(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// The labels of spans, and how many spans have each.
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
