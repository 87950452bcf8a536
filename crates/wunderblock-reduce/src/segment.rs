//! A text cut into segments: what stays, what is encoded, what is left out.
//!
//! Segments tile the source: every byte lies in exactly one. So nothing is dropped without a mark, and the segments and
//! the source give the source back; [`tiles_source`] checks that before a text is shown.

use crate::part::PartOfText;
use std::ops::Range;

use crate::mark::{self, Gap, MARK_BYTES};

/// One segment of a reduced text, in the order of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TextSegment {
    /// A stretch of the source, unchanged.
    Keep(Range<usize>),
    /// A stretch said in other words, from which its bytes can be had again (`pack::unpack`). Marks in it are ours,
    /// text in it is escaped already.
    Coded { span: Range<usize>, text: String },
    /// A stretch that is left out, replaced by a mark; after the mark stands `shown`, if given, whose text is escaped
    /// already.
    Gap { gap: Gap, shown: Option<String> },
    /// A fact about the segment before it, which covers nothing: `⟨×47⟩`.
    Note(String),
}

impl TextSegment {
    /// About the bytes it has when written.
    fn weight(&self) -> usize {
        match self {
            Self::Keep(span) => span.len(),
            Self::Coded { text, .. } => text.len(),
            Self::Gap { gap, shown } => {
                let facts: usize = gap.told.iter().map(|fact| fact.what.len() + ", ".len()).sum();
                MARK_BYTES + facts + shown.as_ref().map_or(0, String::len)
            }
            Self::Note(note) => note.len() + 1,
        }
    }

    fn range(&self) -> Option<&Range<usize>> {
        match self {
            Self::Keep(span) | Self::Coded { span, .. } => Some(span),
            Self::Gap { gap, .. } => Some(&gap.span),
            Self::Note(_) => None,
        }
    }
}

/// Whether the segments cover `0..len` in order, without holes or overlaps.
pub(crate) fn tiles_source(segments: &[TextSegment], len: usize) -> bool {
    let mut at = 0;
    for span in segments.iter().filter_map(TextSegment::range) {
        if span.start != at || span.end < span.start {
            return false;
        }
        at = span.end;
    }
    at == len
}

/// The text of the segments, marks in place. A mark of lines stands on a line of its own.
pub(crate) fn write_segments(segments: &[TextSegment], source: &str, handle: Option<&str>) -> String {
    write_located(segments, source, handle, &Gap::clone)
}

/// The same, where the marks name other places than those of the text at hand.
pub(crate) fn write_located(
    segments: &[TextSegment],
    source: &str,
    handle: Option<&str>,
    locate: &dyn Fn(&Gap) -> Gap,
) -> String {
    // Where the handle was named last.
    let mut named: Option<usize> = None;
    let mut out = String::with_capacity(segments.iter().map(TextSegment::weight).sum());
    for segment in segments {
        match segment {
            TextSegment::Keep(span) => mark::escape(source.part(span.clone()), &mut out),
            TextSegment::Coded { text, .. } => out.push_str(text),
            TextSegment::Note(note) => insert_note(&mut out, note),
            TextSegment::Gap { gap, shown } => {
                let span = gap.span.clone();
                let gap = locate(gap);
                if named.is_some_and(|named| out.len() < named + mark::NAMED_AGAIN) {
                    out.push_str(&gap.short_mark());
                } else {
                    out.push_str(&gap.mark(handle));
                    named = Some(out.len());
                }
                let whole_lines = source.part(span).ends_with('\n');
                if whole_lines || shown.is_some() {
                    out.push('\n');
                }
                out.push_str(shown.as_deref().unwrap_or(""));
            }
        }
    }
    out
}

/// Inserts a note at the end of the line before it, not at the start of the next.
fn insert_note(out: &mut String, note: &str) {
    let ending = if out.ends_with("\r\n") {
        "\r\n"
    } else if out.ends_with('\n') {
        "\n"
    } else {
        ""
    };
    out.truncate(out.len() - ending.len());
    out.push(' ');
    out.push_str(note);
    out.push_str(ending);
}
