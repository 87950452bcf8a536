//! Source code: definitions stay, and the bodies of functions are left out first.
//!
//! A text is recognised as code by its structure alone, because no caller states which file it came from. Its lines
//! are ranked by their indentation ([`indented`]) and by their words ([`keywords`]), in every language alike.

mod code_vote;
mod cues;
mod guess;
mod indented;
mod keywords;
mod language;
mod line_numbers;
mod line_worth;

pub use keywords::defined_name;

use crate::spans::span::LineSpan;
use crate::text::lines::TextLines;
use crate::text::sample::LineSample;
use line_worth::LineWorths;

/// Maximum size of a source whose lines are ranked by their words, in bytes: a span takes as much memory as a line or
/// two, so the bodies of a longer source are not ranked line by line.
const MAX_RANKED_BYTES: usize = 1 << 20;

pub(crate) fn vote(sample: &LineSample<'_>) -> u32 {
    code_vote::vote(&sample.lines)
}

/// Returns the spans of a source. The line numbers of a listing are ignored.
pub(crate) fn spans(lines: &TextLines<'_>) -> Vec<LineSpan> {
    let numbered = line_numbers::strip_numbers(lines);
    let stripped = numbered.as_deref().map(|text| TextLines::after(lines.number(0) - 1, text));
    // The stripped text differs only in its line numbers, so line N of both texts is the same line.
    let bare = stripped.as_ref().filter(|bare| bare.len() == lines.len()).unwrap_or(lines);
    outline_lines(bare).spans(lines)
}

fn outline_lines(lines: &TextLines<'_>) -> LineWorths {
    let mut worths = LineWorths::of(lines);
    indented::rank_lines(lines, &mut worths);
    if lines.text().len() > MAX_RANKED_BYTES {
        worths.level_out();
    } else {
        keywords::rank_lines(lines, &mut worths);
    }
    worths
}

#[cfg(test)]
mod tests;
