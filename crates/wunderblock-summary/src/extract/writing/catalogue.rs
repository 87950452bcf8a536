//! Writes a catalogue, which tells the reader where to look rather than what happened. A catalogue has one line for
//! each stretch of a range, and each line gives the positions of its stretch. Together the lines cover the whole
//! range.
//!
//! ```text
//! - #2–48 2026-03-01 14:03 "the totals are off by one cent"; changed `money.rs`; 12 calls
//! ```
//! A catalogue that becomes part of another keeps its lines. If there is not enough room for all lines, neighbouring
//! lines are joined: each joined line covers more positions, and every position stays covered.

use super::log;
use super::log::stamp;
use crate::extract::calls::act::Kind;
use crate::extract::glean::Found;
use crate::extract::language::cue::says_something;
use crate::extract::language::plain::{Escaping, code, head, line};
use crate::extract::read::ReadMaterial;
use crate::task::{Brief, Earlier, Material};
use wunderblock_core::ports::CostModel;
use wunderblock_core::units::{Millis, Seq};

/// Maximum bytes of a line: Mastra limits a group to 240 characters (`docs/memory/observational-memory.mdx`).
const LINE: usize = 240;
/// Maximum number of bytes in each statement of a line.
const PIECE: usize = 100;
/// Maximum number of files that a line names.
const FILES: usize = 3;
/// Maximum number of entries in a stretch without a user turn.
const STRETCH: usize = 40;
/// Separator between the statements of a line.
const AND: &str = "; ";

/// A line of a catalogue.
struct Row {
    from: Seq,
    to: Seq,
    /// Day and time at which the row begins, or an empty string if unknown.
    at: String,
    text: String,
}

/// Writes a catalogue of a range in about `brief.target` tokens.
pub(in crate::extract) fn write(read: &ReadMaterial<'_>, brief: &Brief<'_>, costs: &dyn CostModel) -> String {
    let material = read.material;
    let mut rows: Vec<Row> = material.earlier.iter().flat_map(rows_of).collect();
    rows.extend(stretches(read));
    tile(&mut rows, material);
    let most = brief.target.min(brief.most);
    loop {
        let text = rows.iter().map(Row::write).collect::<Vec<_>>().join("\n");
        let tokens = costs.text(&text).tokens;
        if tokens <= most || rows.len() < 2 {
            return text;
        }
        // All lines take about the same amount of room, so the number of lines that fit follows from the total.
        let fit = rows.len() as u64 * most.0 / tokens.0.max(1);
        let fit = usize::try_from(fit).unwrap_or(1).clamp(1, rows.len() - 1);
        while rows.len() > fit {
            join_shortest(&mut rows);
        }
    }
}

impl Row {
    fn write(&self) -> String {
        let at = if self.at.is_empty() { String::new() } else { format!(" {}", self.at) };
        let begin = format!("- #{}–{}{at} ", self.from, self.to);
        format!("{begin}{}", head(&self.text, LINE.saturating_sub(begin.len())))
    }
}

/// Returns the rows of an earlier summary: the rows of a catalogue, or a single row for any other summary.
fn rows_of(earlier: &Earlier<'_>) -> Vec<Row> {
    let rows: Vec<Row> = earlier.text.lines().filter_map(row).collect();
    if !rows.is_empty() {
        return rows;
    }
    let day = earlier.text.lines().find_map(|text| text.strip_prefix(log::DATE)).map(str::trim);
    let bullets = || earlier.text.lines().filter_map(|text| text.trim_start().strip_prefix("- "));
    let time = bullets().next().filter(|_| day.is_some()).and_then(|text| text.get(..5));
    let at = [day, time].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let mut lines: Vec<(u8, &str)> =
        bullets().map(log::bare).map(|(text, matters)| ranked(text, matters)).collect();
    if lines.is_empty() {
        // The summary has a foreign format, so its sentences are taken without headings and elements.
        let lines_of = earlier.text.lines().map(str::trim);
        lines = lines_of
            .filter(|text| says_something(text) && !text.starts_with(['#', '<']))
            .map(|text| (0, text))
            .collect();
    }
    lines.sort_by_key(|(rank, _)| *rank);
    let mut text = String::new();
    for (_, piece) in lines {
        let piece = line(&head(without_positions(piece), PIECE), Escaping::Speakers);
        if text.len() + AND.len() + piece.len() > LINE {
            break;
        }
        push(&mut text, &piece);
    }
    vec![Row { from: earlier.from, to: earlier.to, at, text }]
}

/// Ranks a line of a log: important lines come first, followed by quotations and other lines, and names come last.
fn ranked(text: &str, matters: bool) -> (u8, &str) {
    match (matters, text.contains('"'), text.starts_with('`')) {
        (true, ..) => (0, text),
        (_, true, _) => (1, text),
        (_, _, false) => (2, text),
        _ => (3, text),
    }
}

/// Parses a line of a catalogue.
fn row(text: &str) -> Option<Row> {
    let (range, rest) = text.strip_prefix("- #")?.split_once(' ')?;
    let (from, to) = range.split_once('–')?;
    let (from, to) = (Seq(from.parse().ok()?), Seq(to.parse().ok()?));
    // `2026-03-01 14:03 `
    let dated = rest.split_at_checked(17).filter(|(at, _)| {
        at.bytes().zip("0000-00-00 00:00 ".bytes()).all(|(a, b)| a == b || (a.is_ascii_digit() && b == b'0'))
    });
    let (at, rest) = dated.map_or(("", rest), |(at, rest)| (at.trim_end(), rest));
    Some(Row { from, to, at: at.to_owned(), text: rest.to_owned() })
}

fn without_positions(text: &str) -> &str {
    let is_position = |word: &str| word.strip_prefix('#').is_some_and(|at| at.parse::<u64>().is_ok());
    let mut text = text.trim_end();
    while let Some((before, last)) = text.rsplit_once(' ').filter(|(_, last)| is_position(last)) {
        let _ = last;
        text = before.trim_end();
    }
    text
}

fn push(text: &mut String, piece: &str) {
    if !text.is_empty() && !piece.is_empty() {
        text.push_str(AND);
    }
    text.push_str(piece);
}

/// Returns a row for each user turn, and for each part of a long turn.
fn stretches(read: &ReadMaterial<'_>) -> Vec<Row> {
    let ReadMaterial { material, found } = read;
    let mut rows: Vec<Row> = Vec::new();
    let mut entries = 0;
    for entry in &material.entries {
        let is_turn = found.users.iter().any(|said| said.at == entry.seq);
        entries += 1;
        match rows.last_mut().filter(|_| !is_turn && entries < STRETCH) {
            Some(row) => row.to = entry.seq,
            None => {
                let at = if entry.at > Millis::ZERO { stamp(entry.at) } else { String::new() };
                rows.push(Row { from: entry.seq, to: entry.seq, at, text: String::new() });
                entries = 0;
            }
        }
    }
    for row in &mut rows {
        row.text = told(found, row);
    }
    rows
}

/// Describes a stretch by its request, changed files, last open error, last reply and number of calls.
fn told(found: &Found<'_>, row: &Row) -> String {
    let within = |at: Seq| (row.from..=row.to).contains(&at);
    let quote = |text: &str| format!("\"{}\"", head(&line(text, Escaping::Speakers), PIECE));
    let mut text = String::new();
    let asked = found.users.iter().find(|said| within(said.at));
    push(&mut text, &asked.map(|said| quote(&said.text)).unwrap_or_default());
    let files = found.files.iter().filter(|file| file.is_changed() && within(file.last_changed));
    let files: Vec<String> =
        files.map(|file| format!("`{}`", code(ending(&file.path), Escaping::Speakers))).take(FILES).collect();
    if !files.is_empty() {
        push(&mut text, &format!("changed {}", files.join(", ")));
    }
    let failed = found.troubles.iter().rev().find(|trouble| within(trouble.at) && trouble.is_open());
    push(&mut text, &failed.map(|trouble| format!("open: {}", quote(&trouble.line))).unwrap_or_default());
    let steps = || found.steps.iter().filter(|step| within(step.at) && step.kind != Kind::Plan);
    let said = found.replies.iter().rev().find(|said| within(said.at));
    // If nothing was asked or nothing was changed, the last reply says more than the calls.
    match said.filter(|_| asked.is_none() || files.is_empty()) {
        Some(said) => push(&mut text, &quote(&said.text)),
        None if text.is_empty() => {
            let what = steps().next().map(|step| format!("`{}`", code(&step.what, Escaping::Speakers)));
            push(&mut text, &what.unwrap_or_default());
        }
        None => {}
    }
    match steps().count() {
        0 => {}
        1 => push(&mut text, "1 call"),
        count => push(&mut text, &format!("{count} calls")),
    }
    text
}

/// Returns the last two parts of a path, because the first folders are the least informative.
fn ending(path: &str) -> &str {
    let cut = path.rmatch_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
    path.get(cut..).unwrap_or(path)
}

/// Adjusts the rows so that together they cover each position of the range exactly once.
fn tile(rows: &mut Vec<Row>, material: &Material<'_>) {
    if rows.is_empty() {
        rows.push(Row { from: material.from, to: material.to, at: String::new(), text: String::new() });
    }
    let mut next = material.from;
    for row in rows.iter_mut() {
        row.from = next;
        row.to = row.to.max(next);
        next = row.to.next();
    }
    if let Some(last) = rows.last_mut() {
        last.to = last.to.max(material.to);
    }
}

/// Joins the two neighbouring rows that together cover the smallest span (the oldest such pair if there are several),
/// so that all lines end up covering similar spans.
fn join_shortest(rows: &mut Vec<Row>) {
    let span = |pair: &[Row]| match pair {
        [first, second] => second.to.0.saturating_sub(first.from.0),
        _ => u64::MAX,
    };
    let Some((place, _)) = rows.windows(2).enumerate().min_by_key(|(_, pair)| span(pair)) else { return };
    let second = rows.remove(place + 1);
    if let Some(first) = rows.get_mut(place) {
        first.to = second.to;
        let half = LINE / 2 - 20;
        first.text = head(&first.text, half).into_owned();
        push(&mut first.text, &head(&second.text, half));
    }
}
