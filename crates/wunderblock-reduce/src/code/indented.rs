//! Outlines a source by indentation: what begins a block at the outer levels forms its frame, and the lines inside
//! form its context.

use super::keywords;
use super::line_worth::{LineWorth, LineWorths};
use crate::text::lines::TextLines;
use std::ops::Range;

/// Maximum depth of indentation that affects the rank. Deeper lines count as lines of this depth.
const MAX_DEPTH: u16 = 6;

/// A definition whose body is being read.
struct OpenDefinition<'t> {
    name: &'t str,
    /// Indentation of its first line, in bytes.
    indent: usize,
    body: Range<usize>,
    /// Whether the body contains definitions, as that of a class does.
    is_container: bool,
}

pub(crate) fn rank_lines(lines: &TextLines<'_>, worths: &mut LineWorths) {
    // Indentations (in bytes) of the blocks around the current line, from the outermost.
    let mut open: Vec<usize> = Vec::new();
    let mut depth_before = 0;
    let mut definitions: Vec<OpenDefinition<'_>> = Vec::new();
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
        close(&mut definitions, indent, worths);
        if let Some(inner) = definitions.last_mut() {
            inner.body.end = at + 1;
        }
        if let Some(name) = keywords::defined_name(bare) {
            definitions.iter_mut().for_each(|around| around.is_container = true);
            let body = at + 1..at + 1;
            definitions.push(OpenDefinition { name, indent, body, is_container: false });
            if depth < 2 {
                worths.headline(at..at + 1, bare);
            }
        } else if depth == 0 && opens {
            // A block at the outer level is a definition, too; its opening bracket may have a line of its own.
            let first = if bare == "{" { at.saturating_sub(1) } else { at };
            worths.headline(first..first + 1, lines.get(first));
        }
        depth_before = depth;
    }
    close(&mut definitions, 0, worths);
}

/// Closes the definitions that a line with this indentation is not inside of, and names their bodies.
fn close(definitions: &mut Vec<OpenDefinition<'_>>, indent: usize, worths: &mut LineWorths) {
    while let Some(ended) = definitions.pop_if(|open| open.indent >= indent) {
        if !ended.is_container && !ended.body.is_empty() {
            worths.describe(ended.body, format!("body of {}", ended.name));
        }
    }
}
