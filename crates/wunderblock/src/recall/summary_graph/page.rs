//! Writes a page as a model reads it.
//!
//! Every text appears verbatim, below a line that describes the text and, if only a part is shown, states the range
//! of that part. The descriptive lines are shortened in steps until the page fits, so that many tiny texts cannot
//! exceed the limit of a page.

use super::item::{PageItem, PagePiece};
use crate::rules::tokens::Vocabulary;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::Tokens;

/// Amount of detail in the lines above each text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MarkDetail {
    /// Full description of each text.
    Full,
    /// Only the kind of each text.
    Short,
    /// Only the heading of each message. Texts of one message follow each other directly.
    Heading,
    /// No lines at all.
    None,
}

/// Returns the text of a page, and its number of tokens (o200k).
pub(super) fn write(pieces: &[PagePiece], page: u64, most: u64) -> (String, Tokens) {
    let mut written = (String::new(), Tokens::ZERO);
    for marks in [MarkDetail::Full, MarkDetail::Short, MarkDetail::Heading, MarkDetail::None] {
        let text = text(pieces, page, marks);
        let tokens = u64::from(Vocabulary::O200k.count(&text));
        written = (text, Tokens(tokens));
        if tokens <= most {
            break;
        }
    }
    written
}

fn text(pieces: &[PagePiece], page: u64, marks: MarkDetail) -> String {
    let mut out = String::new();
    let mut above: Option<(Option<wunderblock_core::units::Seq>, &str)> = None;
    for PagePiece { heading, leaf } in pieces {
        let key = Some((leaf.item.seq, heading.as_str()));
        let fresh = above != key;
        above = key;
        if fresh && marks != MarkDetail::None {
            if !out.is_empty() {
                end_line(&mut out);
                out.push('\n');
            }
            out.push_str(heading);
            out.push('\n');
        }
        match marks {
            MarkDetail::Full => line(&mut out, &leaf.mark),
            MarkDetail::Short => line(&mut out, leaf.short),
            MarkDetail::Heading | MarkDetail::None => {}
        }
        if matches!(marks, MarkDetail::Full | MarkDetail::Short) {
            line(&mut out, &extent(&leaf.item, page));
            line(&mut out, leaf.instead.as_deref().unwrap_or_default());
        }
        out.push_str(&leaf.item.text);
        if !leaf.item.text.is_empty() && matches!(marks, MarkDetail::Full | MarkDetail::Short) {
            end_line(&mut out);
        }
    }
    if !out.is_empty() {
        end_line(&mut out);
    }
    out
}

fn line(out: &mut String, words: &str) {
    if !words.is_empty() {
        end_line(out);
        out.push_str(words);
        out.push('\n');
    }
}

fn end_line(out: &mut String) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}

/// Returns a line with the range of a partial text, or an empty string for a whole text.
fn extent(item: &PageItem, page: u64) -> String {
    // A hit is always a part of its text, and its heading states the range.
    if !item.matched.is_empty() || item.text.is_empty() || (item.from_byte == 0 && item.to_byte == item.bytes)
    {
        return String::new();
    }
    let place = format!("B{}-{} of {} bytes", item.from_byte, item.to_byte, grouped(item.bytes));
    if item.to_byte < item.bytes {
        format!("⟨{place}; page {} continues⟩", page.saturating_add(1))
    } else {
        format!("⟨{place}⟩")
    }
}
