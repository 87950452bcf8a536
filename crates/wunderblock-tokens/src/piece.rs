//! Cuts a text into pieces (words, numbers, punctuation, white space) before its bytes are merged.
//!
//! The patterns are those that OpenAI publishes with its vocabularies:
//!
//! ```text
//! o200k   [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//!         | [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//!         | \p{N}{1,3} | ?[^\s\p{L}\p{N}]+[\r\n/]* | \s*[\r\n]+ | \s+(?!\S) | \s+
//! cl100k  (?i:'s|'t|'re|'ve|'m|'ll|'d) | [^\r\n\p{L}\p{N}]?\p{L}+ | \p{N}{1,3} | ?[^\s\p{L}\p{N}]+[\r\n]*
//!         | \s*[\r\n]+ | \s+(?!\S) | \s+
//! ```
//! The first alternative that matches wins, as in a backtracking engine. The matchers are written by hand because a
//! general engine takes milliseconds to compile the patterns in each process, and then cuts at a fraction of the
//! speed.

use crate::class::class;
use crate::layout::{LETTER, LOWER, MARK, NEWLINE, NUMBER, OTHER, SPACE, UPPER};

/// Classes of the one character that may precede a word: anything except a letter, a number or a line end.
const LEAD: u8 = SPACE | MARK | OTHER;

/// Returns the end of the o200k piece that begins at byte `at`.
pub(crate) fn o200k(text: &str, at: usize) -> usize {
    let (first, length) = class(text, at);
    let word = if first & LEAD == 0 {
        capitals_then_letters(text, at).or_else(|| capitals(text, at))
    } else if first & MARK == 0 {
        let next = at + length;
        capitals_then_letters(text, next).or_else(|| capitals(text, next))
    } else {
        // A mark may also be part of the word itself, so the second attempt always matches.
        capitals_then_letters(text, at + length).or_else(|| capitals_then_letters(text, at))
    };
    match word {
        Some(end) => contraction(text, end).unwrap_or(end),
        None => no_word(text, at, b"\r\n/"),
    }
}

/// Returns the end of the cl100k piece that begins at byte `at`.
pub(crate) fn cl100k(text: &str, at: usize) -> usize {
    if let Some(end) = contraction(text, at) {
        return end;
    }
    let (first, length) = class(text, at);
    let from = if first & LEAD == 0 { at } else { at + length };
    match run(text, from, LETTER) {
        end if end > from => end,
        _ => no_word(text, at, b"\r\n"),
    }
}

/// Returns the end of the run that begins at `at` and consists of characters of these classes.
fn run(text: &str, mut at: usize, classes: u8) -> usize {
    loop {
        let (next, length) = class(text, at);
        if next & classes == 0 {
            return at;
        }
        at += length;
    }
}

/// Matches `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`.
fn capitals_then_letters(text: &str, from: usize) -> Option<usize> {
    let (mut at, mut either) = (from, None);
    loop {
        let (next, length) = class(text, at);
        if next & UPPER == 0 {
            // The next character cannot be part of the first class. If it cannot be part of the second either, the
            // first class gives back everything after its last character that belongs to both, and the second class
            // matches that character.
            return if next & LOWER == 0 { either } else { Some(run(text, at + length, LOWER)) };
        }
        at += length;
        if next & LOWER != 0 {
            either = Some(at);
        }
    }
}

/// Matches `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+`. Callers have ruled out that a lower-case letter follows.
fn capitals(text: &str, from: usize) -> Option<usize> {
    Some(run(text, from, UPPER)).filter(|end| *end > from)
}

/// Matches `(?i:'s|'t|'re|'ve|'m|'ll|'d)`. In Unicode, the letter `ſ` also matches `s` if case is ignored.
fn contraction(text: &str, at: usize) -> Option<usize> {
    let rest = text.as_bytes().get(at..)?;
    if rest.first() != Some(&b'\'') {
        return None;
    }
    let length = match [rest.get(1), rest.get(2)].map(|byte| byte.map(u8::to_ascii_lowercase)) {
        [Some(b's' | b't' | b'm' | b'd'), _] => 2,
        [Some(b'r' | b'v'), Some(b'e')] | [Some(b'l'), Some(b'l')] => 3,
        [Some(0xc5), Some(0xbf)] => 3,
        _ => return None,
    };
    Some(at + length)
}

/// Matches `\p{N}{1,3} | ?[^\s\p{L}\p{N}]+[TAIL]* | \s*[\r\n]+ | \s+(?!\S) | \s+`.
fn no_word(text: &str, at: usize, tail: &[u8]) -> usize {
    let (first, length) = class(text, at);
    if first & NUMBER != 0 {
        let mut end = at + length;
        for _ in 0..2 {
            let (next, length) = class(text, end);
            end += if next & NUMBER == 0 { 0 } else { length };
        }
        return end;
    }
    let bytes = text.as_bytes();
    let from = at + usize::from(bytes.get(at) == Some(&b' '));
    let end = run(text, from, MARK | OTHER);
    if end > from {
        let after = bytes.get(end..).unwrap_or_default();
        return end + after.iter().take_while(|byte| tail.contains(byte)).count();
    }
    white_space(text, at)
}

/// Matches `\s*[\r\n]+ | \s+(?!\S) | \s+`.
fn white_space(text: &str, at: usize) -> usize {
    let end = run(text, at, SPACE | NEWLINE);
    let blank = text.get(at..end).unwrap_or_default();
    if let Some(newline) = blank.rfind(['\r', '\n']) {
        return at + newline + 1;
    }
    // The last white-space character belongs to the next piece, unless the text ends after it or it is the only
    // character of the run.
    match blank.char_indices().next_back() {
        Some((last, _)) if last > 0 && end < text.len() => at + last,
        _ => end,
    }
}
