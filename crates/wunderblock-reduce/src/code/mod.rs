//! Source code: what a file defines stays, what its functions do goes first.
//!
//! A text is code by its structure alone, for nobody says what file it came from. Its language is guessed the same way
//! ([`language`]), parsed ([`outline`]), and each line is worth what the innermost definition around it makes of it.
//! Where there is no grammar, or the parse makes no sense, lines are worth what their indentation says ([`indented`]).

mod indented;
mod language;
mod listing;
mod outline;
mod painted;
#[cfg(feature = "syntax")]
mod roles;
mod signs;
mod votes;
mod words;

use crate::lines::Lines;
use crate::sample::Sample;
use crate::unit::Unit;

/// Texts above this size are not parsed: a syntax tree weighs many times its text.
const PARSED_MAX: usize = 1 << 20;

pub(crate) fn vote(sample: &Sample<'_>) -> u32 {
    votes::vote(&sample.lines)
}

/// What the lines of a source are worth.
pub(crate) fn units(lines: &Lines<'_>) -> Vec<Unit> {
    let numbered = listing::bare(lines);
    let stripped = numbered.as_deref().map(Lines::of);
    // Only the numbers differ: the lines are the same ones.
    let bare = stripped.as_ref().filter(|bare| bare.len() == lines.len()).unwrap_or(lines);
    let mut painted = painted::Painted::new(bare.len());
    let language = language::of(bare);
    let parsed = bare.text().len() <= PARSED_MAX
        && language.is_some_and(|language| outline::paint(bare, language, &mut painted));
    if !parsed {
        painted = painted::Painted::new(bare.len());
        indented::paint(bare, &mut painted);
    }
    if bare.text().len() > PARSED_MAX {
        // A unit weighs as much as a line or two: of a source this long bodies are not judged line by line.
        painted.even_out();
    } else {
        words::paint(bare, &mut painted);
    }
    painted.units(lines)
}

#[cfg(test)]
mod tests;
