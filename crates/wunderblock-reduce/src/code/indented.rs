//! Outlines a source by indentation, if its language is unknown or cannot be parsed.

use super::keywords;
use super::line_worth::{LineWorth, LineWorths};
use crate::lines::TextLines;

/// Maximum depth of indentation that affects the rank. Deeper lines count as lines of this depth.
const MAX_DEPTH: u16 = 6;

pub(crate) fn rank_lines(lines: &TextLines<'_>, worths: &mut LineWorths) {
    // Indentations (in bytes) of the blocks around the current line, from the outermost.
    let mut open: Vec<usize> = Vec::new();
    let mut depth_before = 0;
    for (at, line) in lines.iter().enumerate() {
        let bare = line.trim_start();
        if bare.is_empty() {
            worths.set(at..at + 1, LineWorth::context(90));
            continue;
        }
        let indent = line.len() - bare.len();
        while open.last().is_some_and(|outer| *outer > indent) {
            open.pop();
        }
        if open.last() != Some(&indent) {
            open.push(indent);
        }
        let depth = u16::try_from(open.len() - 1).unwrap_or(MAX_DEPTH).min(MAX_DEPTH);
        let opens = bare.ends_with(['{', ':', '(', '[']) || bare.ends_with(" do");
        let closes = !bare.contains(char::is_alphanumeric);
        let worth = match depth {
            _ if closes => LineWorth::context(95),
            0 => LineWorth::frame(if opens { 800 } else { 600 }),
            1 if opens => LineWorth::frame(500),
            _ if opens => LineWorth::context(200 - 10 * depth),
            _ if depth > depth_before => LineWorth::context(180 - 10 * depth),
            _ => LineWorth::context(100 - depth),
        };
        worths.set(at..at + 1, worth);
        if depth < 2 && keywords::is_definition(bare) {
            worths.headline(at..at + 1, bare);
        }
        depth_before = depth;
    }
}
