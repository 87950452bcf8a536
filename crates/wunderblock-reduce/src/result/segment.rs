//! A text cut into segments: those that stay, those that are encoded, and those that are left out.
//!
//! Segments tile the source: every byte is in exactly one segment. So nothing is left out without a mark, and the
//! ranges of all segments together are the whole source. [`tiles_source`] checks this before a text is shown.

use crate::part::PartOfText;
use std::ops::Range;

use crate::result::mark::{self, Gap, MARK_BYTES};

/// One segment of a reduced text, whose segments are in the order of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TextSegment {
    /// A stretch of the source, unchanged.
    Keep(Range<usize>),
    /// A stretch rewritten in a form from which its bytes can be restored (`encode::decode`). Marks in the text were
    /// written by this crate, and the text is already escaped.
    Coded { span: Range<usize>, text: String },
    /// A stretch that is left out, replaced by a mark. `shown`, if given, follows the mark and is already escaped.
    Gap { gap: Gap, shown: Option<String> },
    /// A fact about the preceding segment, such as `⟨×47⟩`. A note covers no bytes of the source.
    Note(String),
}

impl TextSegment {
    /// Returns the approximate size of the segment when written, in bytes.
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

/// Returns whether the segments cover `0..len` in order, without holes or overlaps.
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

/// Writes the segments with their marks. A mark of whole lines is written on a separate line.
pub(crate) fn write_segments(segments: &[TextSegment], source: &str, handle: Option<&str>) -> String {
    write_located(segments, source, handle, &Gap::clone)
}

/// Writes the segments with marks that name the places returned by `locate`.
pub(crate) fn write_located(
    segments: &[TextSegment],
    source: &str,
    handle: Option<&str>,
    locate: &dyn Fn(&Gap) -> Gap,
) -> String {
    // Position in `out` after the last mark that named the handle.
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

/// Inserts a note at the end of the preceding line, not at the start of the next one.
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
