//! Ranks lines by the words in them, independently of the lines around them.

use super::line_worth::{LineWorth, LineWorths};
use crate::spans::span::Rank;
use crate::text::lines::TextLines;
use crate::text::word_list::WordList;

static MODIFIERS: WordList = WordList::new("modifiers of definitions");
static KEYWORDS: WordList = WordList::new("keywords of definitions");

/// Minimum number of lines in a licence header that is folded. A shorter one stays.
const MIN_LICENCE_LINES: usize = 5;

/// Score of a definition that the outline missed.
const DEFINITION_SCORE: u16 = 380;
/// Score of an early exit from a function, and of a note about unfinished work.
const EXIT_SCORE: u16 = 250;

pub(crate) fn rank_lines(lines: &TextLines<'_>, worths: &mut LineWorths) {
    rank_licence(lines, worths);
    for (at, line) in lines.iter().enumerate() {
        let worth = worths.worth(at);
        // The outline has already ranked the lines of the frame and the filler.
        if worth.rank != Rank::Context {
            continue;
        }
        let line = line.trim_start();
        if line.len() < 2 {
            // Closing brackets and empty lines score one less than their neighbours, so that they fill a budget last.
            worths.set(at..at + 1, LineWorth::context(worth.score.saturating_sub(1)));
        } else if is_definition(line) {
            worths.raise(at..at + 1, LineWorth::frame(DEFINITION_SCORE));
            worths.headline(at..at + 1, line);
        } else if is_exit(line) {
            worths.raise(at..at + 1, LineWorth::context(EXIT_SCORE));
        }
    }
}

/// Returns whether a line begins a definition, wherever it stands: in a macro, a string or a body.
pub(super) fn is_definition(line: &str) -> bool {
    defined_name(line).is_some()
}

/// Returns the name that a line defines, judged by its words, for example: `load` for `export function load(path) {`.
/// The line must not be indented.
#[must_use]
pub fn defined_name(line: &str) -> Option<&str> {
    let mut words = line.split(' ').skip_while(|word| MODIFIERS.has(word) || word.starts_with("pub("));
    words.next().filter(|word| KEYWORDS.has(word))?;
    let name = words.next()?;
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let named = name.starts_with(|c: char| is_part(c) && !c.is_numeric());
    let opens = line.trim_end().ends_with(['{', '(', ':', ')', ';', ',']);
    (named && opens && !name.contains('\'')).then(|| name.split(|c| !is_part(c)).next())?
}

fn is_exit(line: &str) -> bool {
    const STARTS: [&str; 8] =
        ["return ", "raise ", "throw ", "throw new", "panic!(", "bail!(", "Err(", "exit "];
    const WITHIN: [&str; 4] = ["TODO", "FIXME", "XXX:", "HACK"];
    STARTS.iter().any(|start| line.starts_with(start)) || WITHIN.iter().any(|word| line.contains(word))
}

/// Ranks the licence terms in the comment at the head of a file as filler, except the first line of the terms.
pub(super) fn rank_licence(lines: &TextLines<'_>, worths: &mut LineWorths) {
    let first = usize::from(lines.get(0).starts_with("#!")) + usize::from(lines.get(0).starts_with("<?php"));
    let end =
        (first..lines.len()).take_while(|at| is_comment(lines.get(*at))).last().map_or(first, |at| at + 1);
    if end < first + MIN_LICENCE_LINES {
        return;
    }
    const SAID: [&str; 5] = ["licen", "copyright", "spdx-", "warranty", "permission is hereby"];
    let legal: Vec<usize> = (first..end)
        .filter(|at| {
            let line = lines.get(*at).to_ascii_lowercase();
            SAID.iter().any(|word| line.contains(word))
        })
        .collect();
    let (Some(from), Some(to)) = (legal.first(), legal.last()) else { return };
    if legal.len() < 2 {
        return;
    }
    // The terms begin at the first line with a legal word, and end with the paragraph that contains the last such
    // line.
    let to = (*to..end).find(|at| !lines.get(*at).contains(char::is_alphabetic)).unwrap_or(end);
    if to.saturating_sub(from + 1) >= MIN_LICENCE_LINES {
        worths.set(from + 1..to, LineWorth::FILLER);
        worths.describe(from + 1..to, "licence".to_owned());
    }
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || ["//", "/*", "*", "#", "--", ";;", "<!--"].iter().any(|start| line.starts_with(start))
}
