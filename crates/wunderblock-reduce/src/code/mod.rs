//! Source code: definitions stay, the bodies of functions go first.
//!
//! A text is recognised as code by its structure alone, for no caller says what file it came from. Its language is
//! guessed the same way ([`guess`]) and parsed ([`outline`]), and each line is worth what the innermost definition
//! around it makes of it. Without a grammar, or where the parse fails, lines are worth what their indentation says
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

/// Maximum bytes of a source that is parsed: a syntax tree takes many times the room of its text.
const MAX_PARSED_BYTES: usize = 1 << 20;

pub(crate) fn vote(sample: &LineSample<'_>) -> u32 {
    code_vote::vote(&sample.lines)
}

/// The spans of a source, read without the line numbers that a listing has.
pub(crate) fn spans(lines: &TextLines<'_>) -> Vec<LineSpan> {
    let numbered = line_numbers::strip_numbers(lines);
    let stripped = numbered.as_deref().map(|text| TextLines::after(lines.number(0) - 1, text));
    // Only the numbers differ: the lines are the same ones.
    let bare = stripped.as_ref().filter(|bare| bare.len() == lines.len()).unwrap_or(lines);
    outline_lines(bare).spans(lines)
}

fn outline_lines(lines: &TextLines<'_>) -> LineWorths {
    let language = guess::guess_language(lines);
    let mut worths = LineWorths::of(lines);
    let parsed = lines.text().len() <= MAX_PARSED_BYTES
        && language.is_some_and(|language| outline::rank_lines(lines, language, &mut worths));
    if !parsed {
        worths = LineWorths::of(lines);
        indented::rank_lines(lines, &mut worths);
    }
    if lines.text().len() > MAX_PARSED_BYTES {
        // A span weighs as much as a line or two: of a source this long bodies are not judged line by line.
        worths.level_out();
    } else {
        keywords::rank_lines(lines, &mut worths);
    }
    worths
}

#[cfg(test)]
mod tests;
