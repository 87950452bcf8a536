//! The blocks of a Markdown text.

use std::ops::Range;

use crate::text::lines::TextLines;

/// Lines that belong together, with the empty lines after them.
#[derive(Clone, Debug)]
pub(super) enum MarkdownBlock {
    /// A heading, and its level.
    Heading(Range<usize>, u8),
    Text(Range<usize>),
    Code(Range<usize>),
    List(Range<usize>),
    Table(Range<usize>),
    Badges(Range<usize>),
}

impl MarkdownBlock {
    pub(super) fn rows(&self) -> Range<usize> {
        match self {
            Self::Heading(rows, _)
            | Self::Text(rows)
            | Self::Code(rows)
            | Self::List(rows)
            | Self::Table(rows)
            | Self::Badges(rows) => rows.clone(),
        }
    }
}

/// Maximum number of lines in a heading that is written as a tag.
const MAX_TAG_LINES: usize = 4;
/// Maximum number of lines in a fence that is kept as a whole. A longer fence would not fit into a small budget.
const MAX_FENCE_LINES: usize = 40;

/// Returns the level of a heading such as `## words`, or 0 for any other line.
///
/// A tag (`<h2>`) is a heading too: see [`tag_level`].
pub(super) fn heading_level(line: &str) -> u8 {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    if (1..=6).contains(&level) && line.as_bytes().get(level) == Some(&b' ') {
        u8::try_from(level).unwrap_or(6)
    } else {
        0
    }
}

/// Returns the level of a heading such as `<h2>`, or 0 for any other line.
fn tag_level(line: &str) -> u8 {
    let level = line.strip_prefix("<h").and_then(|rest| rest.bytes().next()).unwrap_or(0);
    if matches!(level, b'1'..=b'6') && line.as_bytes().get(3).is_some_and(|byte| matches!(byte, b'>' | b' '))
    {
        level - b'0'
    } else {
        0
    }
}

pub(super) fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    line.starts_with("- ")
        || line.starts_with("* ")
        || line.starts_with("+ ")
        || ((1..4).contains(&digits)
            && line.get(digits..).is_some_and(|rest| rest.starts_with(". ") || rest.starts_with(") ")))
}

/// Returns whether a line is an item that consists of a link to a heading.
pub(super) fn is_contents(line: &str) -> bool {
    let line = line.trim();
    is_item(line) && line.contains("](#") && line.ends_with(')')
}

fn is_badges(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("[![") && line.ends_with(')')
}

fn is_row(line: &str) -> bool {
    line.trim_start().starts_with('|') && line.matches('|').count() >= 2
}

/// Returns the mark of a fence, if the line opens one. Code between two marks of a fence on one line is not a fence.
fn fence_mark(line: &str) -> Option<&'static str> {
    let line = line.trim_start();
    let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark))?;
    let named = line.trim_start_matches(['`', '~']);
    (!named.contains('`')).then_some(mark)
}

/// Returns whether a line ends a fence: it is the mark and nothing else.
fn ends_fence(line: &str, mark: &str) -> bool {
    let line = line.trim();
    line.starts_with(mark) && line.bytes().all(|byte| mark.as_bytes().contains(&byte))
}

/// Returns the level of a heading that is underlined with `=` or `-`, or 0 for any other line.
fn underline_level(lines: &TextLines<'_>, at: usize) -> u8 {
    let line = lines.get(at).trim();
    let alone = at.checked_sub(1).is_none_or(|before| lines.get(before).trim().is_empty());
    if !alone || line_kind(line) != 5 || !line.contains(char::is_alphanumeric) || at + 1 >= lines.len() {
        return 0;
    }
    let under = lines.get(at + 1).trim_end();
    let all = |sign: u8| under.len() >= 3 && under.bytes().all(|byte| byte == sign);
    if all(b'=') { 1 } else { u8::from(all(b'-')) * 2 }
}

fn line_kind(line: &str) -> u8 {
    match line {
        _ if heading_level(line) > 0 || tag_level(line) > 0 => 1,
        _ if is_row(line) => 2,
        _ if is_badges(line) => 3,
        _ if is_item(line) => 4,
        _ => 5,
    }
}

/// Splits a text into blocks, which tile its lines.
pub(super) fn split_blocks(lines: &TextLines<'_>) -> Vec<MarkdownBlock> {
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let start = at;
        let line = lines.get(at);
        if let Some(mark) = fence_mark(line) {
            at += 1;
            while at < lines.len() && !ends_fence(lines.get(at), mark) {
                at += 1;
            }
            at = skip_empty(lines, (at + 1).min(lines.len()));
            // A long fence, or one that never ends, is split into single lines.
            if at - start > MAX_FENCE_LINES {
                blocks.extend((start..at).map(|at| MarkdownBlock::Code(at..at + 1)));
            } else {
                blocks.push(MarkdownBlock::Code(start..at));
            }
            continue;
        }
        let level = underline_level(lines, at);
        if level > 0 {
            at = skip_empty(lines, at + 2);
            blocks.push(MarkdownBlock::Heading(start..at, level));
            continue;
        }
        let kind_here = line_kind(line);
        at += 1;
        if tag_level(line) > 0 {
            let close =
                (start..lines.len().min(start + MAX_TAG_LINES)).find(|at| lines.get(*at).contains("</h"));
            at = skip_empty(lines, close.map_or(at, |close| close + 1));
            blocks.push(MarkdownBlock::Heading(start..at, tag_level(line)));
            continue;
        }
        if kind_here > 1 {
            while at < lines.len()
                && !lines.get(at).trim().is_empty()
                && fence_mark(lines.get(at)).is_none()
                && continues_block(kind_here, lines.get(at))
            {
                at += 1;
            }
        }
        at = skip_empty(lines, at);
        let rows = start..at;
        blocks.push(match kind_here {
            1 => MarkdownBlock::Heading(rows, heading_level(line)),
            2 => MarkdownBlock::Table(rows),
            3 => MarkdownBlock::Badges(rows),
            4 => MarkdownBlock::List(rows),
            _ => MarkdownBlock::Text(rows),
        });
    }
    blocks
}

/// Returns whether a line continues a block of this kind.
fn continues_block(kind_here: u8, line: &str) -> bool {
    let next = line_kind(line);
    match kind_here {
        // A line directly below an item, without an empty line between them, belongs to the item.
        4 => next >= 4,
        _ => next == kind_here,
    }
}

fn skip_empty(lines: &TextLines<'_>, mut at: usize) -> usize {
    while at < lines.len() && lines.get(at).trim().is_empty() {
        at += 1;
    }
    at
}
