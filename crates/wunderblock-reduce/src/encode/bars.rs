//! Tables drawn with `|`, without the padding: `⟨=bars 6> 22 10⟩` tells how wide the cells were.
//!
//! A cell that is written shorter is filled up with spaces on its right, on its left where the width has a `>`.

use std::ops::Range;

use super::rewrite::Rewrite;
use super::tags::{self, CLOSE, EncodedBlock};
use crate::lines::NewlineSplit;
use crate::mark::OPEN;
use crate::sink::TextSink;

/// Minimum lines of a table.
const MIN_LINES: usize = 4;
/// Maximum cells of a line.
const MAX_CELLS: usize = 64;
/// Maximum width of a cell, in characters.
const MAX_WIDTH: usize = 4096;

/// Runs of lines whose cells are equally wide, without padding.
pub(super) fn encode(text: &str) -> Option<String> {
    memchr::memchr(b'|', text.as_bytes())?;
    let lines = NewlineSplit::of(text);
    let mut instead = Rewrite::of(text);
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let widths = widths(line);
        let alike = |line: &&str| {
            self::widths(line).is_some_and(|these| widths.as_ref().is_some_and(|w| same_widths(w, &these)))
        };
        let end = at + lines.within(at..lines.len()).take_while(alike).count().max(1);
        if let Some(widths) = widths.filter(|_| end - at >= MIN_LINES) {
            instead.replace_if_worthwhile(lines.span(at..end), |out| {
                write_run(&lines, at..end, &widths, out);
                Some(())
            });
        }
        at = end;
    }
    instead.finish()
}

/// The widths of the cells, in characters.
fn widths(line: &str) -> Option<Vec<usize>> {
    let bars = memchr::memchr_iter(b'|', line.as_bytes()).take(MAX_CELLS).count();
    if !(1..MAX_CELLS).contains(&bars) || line.contains(OPEN) {
        return None;
    }
    Some(line.split('|').map(|cell| cell.chars().count()).collect())
}

/// Whether all cells but the last are equally wide.
fn same_widths(one: &[usize], other: &[usize]) -> bool {
    one.len() == other.len()
        && one.split_last().map(|(_, cells)| cells) == other.split_last().map(|(_, cells)| cells)
}

fn write_run(lines: &NewlineSplit<'_>, run: Range<usize>, widths: &[usize], out: &mut String) {
    let cells = widths.len();
    let mut left = vec![0usize; cells];
    for line in lines.within(run.clone()) {
        for (cell, left) in line.split('|').zip(&mut left) {
            *left += usize::from(cell.starts_with("  ") && !cell.ends_with("  "));
        }
    }
    let left: Vec<bool> = left.iter().map(|left| left * 2 > run.len()).collect();
    out.push_str("⟨=bars");
    for (width, left) in widths.iter().take(cells - 1).zip(&left) {
        out.push_str(&format!(" {width}{}", if *left { ">" } else { "" }));
    }
    out.push_str("⟩\n");
    for line in lines.within(run) {
        for (at, (cell, left)) in line.split('|').zip(&left).enumerate() {
            if at > 0 {
                out.push('|');
            }
            out.push_str(match (at + 1 < cells, left) {
                (true, true) => cell.trim_start_matches(' '),
                (true, false) => cell.trim_end_matches(' '),
                (false, _) => cell,
            });
        }
        out.push('\n');
    }
    out.push_str(CLOSE);
}

/// The table with its padding.
pub(super) fn decode(code: EncodedBlock<'_>, out: &mut TextSink<'_>) -> Option<()> {
    let mut widths = Vec::new();
    for width in code.args.split(' ') {
        let left = width.strip_suffix('>');
        let width = left.unwrap_or(width).parse().ok().filter(|width| *width <= MAX_WIDTH)?;
        widths.push((width, left.is_some()));
    }
    for (nth, row) in tags::lines_of(code.body)?.enumerate() {
        out.push(if nth > 0 { "\n" } else { "" })?;
        for (at, cell) in row.split('|').enumerate() {
            out.push(if at > 0 { "|" } else { "" })?;
            let (width, left) = widths.get(at).copied().unwrap_or((0, false));
            let spaces = width.saturating_sub(cell.chars().count());
            out.spaces(if left { spaces } else { 0 })?;
            out.push(cell)?;
            out.spaces(if left { 0 } else { spaces })?;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stand_without_padding() {
        let row = |id: &str, name: &str, sum: &str| format!(" {id:<6} | {name:<22} | {sum:>10}\n");
        let mut text = row("id", "name", "sum") + "--------+------------------------+-----------\n";
        for n in 0..24 {
            text += &row(&n.to_string(), "anna", &(n * 100).to_string());
        }
        let packed = encode(&text).unwrap();
        assert!(packed.contains("⟨=bars 8 24⟩\n 0| anna|"), "{packed}");
        assert_eq!(crate::encode::decode(&packed), Some(text));
    }
}
