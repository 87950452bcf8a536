//! Source code: definitions stay, and the bodies of functions are left out first.
//!
//! A text is recognised as code by its structure alone, because no caller states which file it came from. Its
//! language is guessed from its lines ([`guess`]) and parsed ([`outline`]), and each line is ranked by the innermost
//! definition around it. Without a grammar, or if the parse fails, lines are ranked by their indentation
//! ([`indented`]).

mod code_vote;
mod cues;
mod guess;
mod indented;
mod keywords;
mod language;
mod line_numbers;
mod line_worth;
mod outline;
#[cfg(feature = "syntax")]
mod roles;

pub use keywords::defined_name;

use crate::lines::TextLines;
use crate::sample::LineSample;
use crate::span::LineSpan;
use line_worth::LineWorths;

/// Maximum size of a source that is parsed, in bytes: a syntax tree takes many times the memory of its text.
const MAX_PARSED_BYTES: usize = 1 << 20;

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
    let language = guess::guess_language(lines);
    let mut worths = LineWorths::of(lines);
    let parsed = lines.text().len() <= MAX_PARSED_BYTES
        && language.is_some_and(|language| outline::rank_lines(lines, language, &mut worths));
    if !parsed {
        // A failed parse may have ranked some lines, so ranking starts again.
        worths = LineWorths::of(lines);
        indented::rank_lines(lines, &mut worths);
    }
    if lines.text().len() > MAX_PARSED_BYTES {
        // A span takes as much memory as a line or two, so the bodies of a long source are not ranked line by line.
        worths.level_out();
    } else {
        keywords::rank_lines(lines, &mut worths);
    }
    worths
}

#[cfg(test)]
mod tests;
