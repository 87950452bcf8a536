//! Markdown: headings, paragraphs, lists, code and tables, by block.

mod block;

use crate::detect::Sample;
use crate::lines::Lines;
use crate::unit::{Rank, Unit};

use super::prose;
use block::{Block, blocks};

/// A list of links to headings is a table of contents from so many on.
const CONTENTS: usize = 6;

pub(crate) fn vote(sample: &Sample<'_>) -> u32 {
    let lines = &sample.lines;
    let fences = sample.count(|line| line.trim_start().starts_with("```"));
    let headings = lines.windows(2).filter(|pair| {
        let after = pair.get(1).is_some_and(|line| {
            line.trim().is_empty()
                || line.starts_with(['-', '*', '>', '[', '|', '`', '!'])
                || block::heading(line) > 0
        });
        after && pair.first().is_some_and(|line| block::heading(line) > 0)
    });
    let headings = headings.count() as u32;
    let items = sample.count(block::is_item);
    let links = sample.count(|line| line.contains("](") || line.contains("]:"));
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

pub(crate) fn units(lines: &Lines<'_>) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::with_capacity(lines.len());
    let mut after_heading = true;
    for block in blocks(lines) {
        let rows = block.rows();
        match block {
            Block::Heading(_, level) => {
                let score = 40_000 - 1_000 * u16::from(level.min(6));
                units.extend(rows.map(|at| Unit { score, ..Unit::new(lines.span(at), Rank::Frame) }));
                after_heading = true;
                continue;
            }
            Block::Text(_) => {
                for (nth, at) in rows.enumerate() {
                    prose::sentences(lines, at, nth == 0, &mut units);
                    if nth == 0
                        && after_heading
                        && let Some(unit) = units.last_mut()
                    {
                        unit.score += 1_000;
                    }
                }
            }
            // A fence is of use as a whole only.
            Block::Code(_) => {
                units.push(Unit { score: 1_500, ..Unit::new(lines.spans(rows), Rank::Context) })
            }
            Block::List(_) => {
                let contents = rows.clone().filter(|at| block::is_contents(lines.get(*at))).count();
                let is_contents = contents >= CONTENTS && contents * 10 >= rows.len() * 8;
                for (nth, at) in rows.enumerate() {
                    let (rank, label) = if is_contents && nth >= 2 {
                        (Rank::Filler, Some("lines of contents"))
                    } else {
                        (Rank::Context, None)
                    };
                    units.push(Unit {
                        score: if nth == 0 { 2_000 } else { 1_000 },
                        label,
                        ..Unit::new(lines.span(at), rank)
                    });
                }
            }
            Block::Table(_) => {
                for (nth, at) in rows.enumerate() {
                    let (rank, score) = if nth < 2 { (Rank::Frame, 1_000) } else { (Rank::Context, 800) };
                    units.push(Unit { score, ..Unit::new(lines.span(at), rank) });
                }
            }
            Block::Badges(_) => units.extend(
                rows.map(|at| Unit { label: Some("badges"), ..Unit::new(lines.span(at), Rank::Filler) }),
            ),
        }
        after_heading = false;
    }
    prose::weigh(lines.text(), &mut units);
    prose::again(lines, &mut units);
    super::blob::within(lines.text(), units)
}

#[cfg(test)]
mod tests;
