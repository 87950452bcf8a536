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

use crate::lines::TextLines;
use crate::sample::LineSample;
use crate::span::LineSpan;
use line_worth::LineWorths;
use outline::DATA_LINES;

/// Maximum bytes of a source that is parsed: a syntax tree takes many times the room of its text.
const MAX_PARSED_BYTES: usize = 1 << 20;

pub(crate) fn vote(sample: &LineSample<'_>) -> u32 {
    code_vote::vote(&sample.lines)
}

/// The spans of a source.
pub(crate) fn spans(lines: &TextLines<'_>) -> Vec<LineSpan> {
    spans_by(lines, outline_lines)
}

/// The same where only filler is left out, which is a licence or data: without data there is no syntax to look at.
pub(crate) fn spans_folded(lines: &TextLines<'_>) -> Vec<LineSpan> {
    spans_by(lines, |bare| {
        if may_have_data(bare) {
            return outline_lines(bare);
        }
        let mut worths = LineWorths::of(bare);
        keywords::rank_licence(bare, &mut worths);
        worths
    })
}

/// The spans of a source, ranked by `look`, which sees it without the line numbers that a listing has.
fn spans_by(lines: &TextLines<'_>, look: impl FnOnce(&TextLines<'_>) -> LineWorths) -> Vec<LineSpan> {
    let numbered = line_numbers::strip_numbers(lines);
    let stripped = numbered.as_deref().map(|text| TextLines::after(lines.number(0) - 1, text));
    // Only the numbers differ: the lines are the same ones.
    let bare = stripped.as_ref().filter(|bare| bare.len() == lines.len()).unwrap_or(lines);
    look(bare).spans(lines)
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

/// Whether enough lines in a row to be a long list may be part of one.
fn may_have_data(lines: &TextLines<'_>) -> bool {
    // Its first and last lines may say more.
    const ENOUGH: usize = DATA_LINES - 4;
    let is_like_data = |line: &str| {
        let line = line.trim();
        !line.is_empty()
            && (!line.contains(' ')
                || line.bytes().any(|byte| byte.is_ascii_digit() || matches!(byte, b'"' | b'\'')))
    };
    let mut run = 0;
    lines.iter().any(|line| {
        run = if is_like_data(line) { run + 1 } else { 0 };
        run >= ENOUGH
    })
}

#[cfg(test)]
mod tests;
