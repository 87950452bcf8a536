//! Markdown, block by block: headings, paragraphs, lists, code and tables.

mod markdown_block;

use crate::result::label::Label;
use crate::spans::span::{LineSpan, Rank};
use crate::text::lines::TextLines;
use crate::text::sample::LineSample;

use super::prose;
use markdown_block::{MarkdownBlock, split_blocks};

/// Minimum number of links to headings in a list that is a table of contents.
const MIN_CONTENTS: usize = 6;

pub(crate) fn vote(sample: &LineSample<'_>) -> u32 {
    let lines = &sample.lines;
    let fences = sample.count(|line| line.trim_start().starts_with("```"));
    // A heading is a single line between empty lines. Lines of comments are adjacent to each other, or above the code
    // that they explain.
    let empty = |at: Option<usize>| at.and_then(|at| lines.get(at)).is_none_or(|line| line.trim().is_empty());
    let headings = lines.iter().enumerate().filter(|(at, line)| {
        markdown_block::heading_level(line) > 0 && empty(at.checked_sub(1)) && empty(Some(at + 1))
    });
    let headings = headings.count() as u32;
    if code_share(lines) > 30 {
        return 0;
    }
    let items = sample.count(markdown_block::is_item);
    let links = sample.count(|line| line.contains("]("));
    let marks = sample.count(|line| line.matches('`').count() >= 2 || line.contains("**"));
    let said = sample.count(|line| !line.trim().is_empty()).max(1);
    let signs = items + links + marks + 2 * fences.min(10);
    match (headings, signs) {
        (0, signs) if signs * 2 >= said && links + marks >= 4 && said >= 6 => 50,
        (0, _) => 0,
        (1, signs) if signs >= 2 => 55,
        (1, _) => 34,
        (_, signs) if signs * 8 >= said => 86,
        (_, signs) if signs >= 3 => 72,
        _ => 45,
    }
}

/// Returns the share of lines outside fences that look like code or settings, in per cent.
fn code_share(lines: &[&str]) -> u32 {
    let (mut fenced, mut code, mut said) = (false, 0u32, 0u32);
    for line in lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()) {
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        let assigns = line.split_once('=').is_some_and(|(name, _)| !name.trim().contains(' '));
        let section = line.starts_with('[') && line.ends_with(']');
        said += u32::from(!fenced);
        code += u32::from(
            !fenced
                && (line.ends_with(['{', '}', ';', '\\', ')', '(']) && !line.contains("](")
                    || assigns
                    || section
                    || line.ends_with("do")
                    || line == "fi"),
        );
    }
    code * 100 / said.max(1)
}

pub(crate) fn spans(lines: &TextLines<'_>) -> Vec<LineSpan> {
    let mut spans: Vec<LineSpan> = Vec::with_capacity(lines.len());
    let mut after_heading = true;
    for block in split_blocks(lines) {
        let rows = block.rows();
        match block {
            MarkdownBlock::Heading(_, level) => {
                let score = 40_000 - 1_000 * u16::from(level.min(6));
                let line = lines.get(rows.start).trim();
                let told = Some(format!("L{} {line}", lines.number(rows.start)).into());
                spans.push(LineSpan::new(lines.spans(rows), Rank::Frame).scored(score).described(told));
                after_heading = true;
                continue;
            }
            MarkdownBlock::Text(_) => {
                let from = spans.len();
                prose::push_sentences(lines, rows, &mut spans);
                if after_heading && let Some(span) = spans.get_mut(from) {
                    span.score += 1_000;
                }
            }
            // A fence is useful only as a whole.
            MarkdownBlock::Code(_) => {
                spans.push(LineSpan::new(lines.spans(rows), Rank::Context).scored(1_500))
            }
            MarkdownBlock::List(_) => {
                let contents = rows.clone().filter(|at| markdown_block::is_contents(lines.get(*at))).count();
                let is_contents = contents >= MIN_CONTENTS && contents * 10 >= rows.len() * 8;
                for (nth, at) in rows.enumerate() {
                    let (rank, label) = if is_contents && nth >= 2 {
                        (Rank::Filler, Some(Label::Contents))
                    } else {
                        (Rank::Context, None)
                    };
                    let score = if nth == 0 { 2_000 } else { 1_000 };
                    spans.push(LineSpan::new(lines.span(at), rank).scored(score).labelled(label));
                }
            }
            MarkdownBlock::Table(_) => {
                for (nth, at) in rows.enumerate() {
                    let (rank, score) = if nth < 2 { (Rank::Frame, 1_000) } else { (Rank::Context, 800) };
                    spans.push(LineSpan::new(lines.span(at), rank).scored(score));
                }
            }
            MarkdownBlock::Badges(_) => spans
                .extend(rows.map(|at| LineSpan::new(lines.span(at), Rank::Filler).labelled(Label::Badges))),
        }
        after_heading = false;
    }
    prose::add_rarity(lines.text(), &mut spans);
    prose::fold_repeats(lines, &mut spans);
    super::blob::cut_runs(lines.text(), spans)
}

#[cfg(test)]
mod tests;
