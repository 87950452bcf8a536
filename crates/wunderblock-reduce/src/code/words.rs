//! What lines are worth by their own words, whatever stands around them.

use super::painted::{Painted, Worth};
use crate::lines::Lines;
use crate::unit::Rank;

/// A licence header shorter than this stays.
const LICENCE_LINES: usize = 5;

/// Where a function ends early, and what is left to do in it.
const EXIT: u16 = 250;

pub(crate) fn paint(lines: &Lines<'_>, painted: &mut Painted) {
    licence(lines, painted);
    for (at, line) in lines.iter().enumerate() {
        let worth = painted.worth(at);
        if worth.rank != Rank::Context {
            continue;
        }
        let line = line.trim_start();
        if line.len() < 2 {
            // Closing brackets and empty lines fill the budget last.
            painted.paint(at..at + 1, Worth::context(worth.score.saturating_sub(1)));
        } else if is_exit(line) {
            painted.raise(at..at + 1, Worth::context(EXIT));
        }
    }
}

fn is_exit(line: &str) -> bool {
    const STARTS: [&str; 8] =
        ["return ", "raise ", "throw ", "throw new", "panic!(", "bail!(", "Err(", "exit "];
    const WITHIN: [&str; 4] = [concat!("TO", "DO"), concat!("FIX", "ME"), "XXX:", "HACK"];
    STARTS.iter().any(|start| line.starts_with(start)) || WITHIN.iter().any(|word| line.contains(word))
}

/// The comment at the head of a file that gives its licence: its first lines stay.
fn licence(lines: &Lines<'_>, painted: &mut Painted) {
    let first = usize::from(lines.get(0).starts_with("#!")) + usize::from(lines.get(0).starts_with("<?php"));
    let end =
        (first..lines.len()).take_while(|at| is_comment(lines.get(*at))).last().map_or(first, |at| at + 1);
    if end < first + LICENCE_LINES {
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
    // The lines that name holder and licence stay; the terms go on to the end of their paragraph.
    let to = (*to..end).find(|at| !lines.get(*at).contains(char::is_alphabetic)).unwrap_or(end);
    if to.saturating_sub(from + 1) >= LICENCE_LINES {
        painted.paint(from + 1..to, Worth::FILLER);
        painted.tell(from + 1..to, "licence".to_owned());
    }
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || ["//", "/*", "*", "#", "--", ";;", "<!--"].iter().any(|start| line.starts_with(start))
}
