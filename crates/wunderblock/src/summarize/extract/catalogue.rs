//! A catalogue: where to look, not what happened. A line for each stretch of a range, with its positions; together they
//! stand for all of it.
//!
//! ```text
//! - #2–48 2026-03-01 14:03 "the totals are off by one cent"; changed `money.rs`; 12 calls
//! ```
//! A catalogue that goes into another keeps its lines. Where there is no room for all, the oldest lines are joined, so a line
//! stands for more, and none for nothing.

use super::act::Kind;
use super::glean::{Found, glean, stamp};
use super::log;
use super::plain::{Escaping, code, head, line};
use crate::summarize::task::{Brief, Earlier, Material};
use wunderblock_core::ports::CostModel;
use wunderblock_core::units::{Millis, Seq};

/// Maximum bytes of a line: Mastra's 240 characters of a group (`docs/memory/observational-memory.mdx`).
const LINE: usize = 240;
/// Maximum bytes of each thing a line says.
const PIECE: usize = 100;
/// Maximum files that a line names.
const FILES: usize = 3;
/// A stretch without a turn of the user has at most this many entries.
const STRETCH: usize = 40;
/// What stands between the things a line says.
const AND: &str = "; ";

/// A line.
struct Row {
    from: Seq,
    to: Seq,
    /// When it begins.
    at: String,
    text: String,
}

/// A catalogue of a range in about `brief.target` tokens.
pub(super) fn write(material: &Material<'_>, brief: &Brief<'_>, costs: &dyn CostModel) -> String {
    let mut rows: Vec<Row> = material.earlier.iter().flat_map(rows_of).collect();
    rows.extend(stretches(material));
    tile(&mut rows, material);
    loop {
        let text = rows.iter().map(Row::write).collect::<Vec<_>>().join("\n");
        let most = brief.target.min(brief.most);
        if costs.text(&text).tokens <= most || rows.len() < 2 {
            return text;
        }
        join_oldest(&mut rows);
    }
}

impl Row {
    fn write(&self) -> String {
        let at = if self.at.is_empty() { String::new() } else { format!(" {}", self.at) };
        let begin = format!("- #{}–{}{at} ", self.from, self.to);
        format!("{begin}{}", head(&self.text, LINE.saturating_sub(begin.len())))
    }
}

/// The rows of an earlier summary: a catalogue's own, or one for all of it.
fn rows_of(earlier: &Earlier<'_>) -> Vec<Row> {
    let rows: Vec<Row> = earlier.text.lines().filter_map(row).collect();
    if !rows.is_empty() {
        return rows;
    }
    let day = earlier.text.lines().find_map(|text| text.strip_prefix(log::DATE)).map(str::trim);
    let lines = || earlier.text.lines().filter_map(|text| text.trim_start().strip_prefix("- "));
    let time = lines().next().filter(|_| day.is_some()).and_then(|text| text.get(..5));
    let at = [day, time].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let (first, rest): (Vec<_>, Vec<_>) = lines().map(log::bare).partition(|(_, matters)| *matters);
    let mut text = String::new();
    for (piece, _) in first.into_iter().chain(rest) {
        let piece = head(without_positions(piece), PIECE);
        if text.len() + AND.len() + piece.len() > LINE {
            break;
        }
        push(&mut text, &piece);
    }
    vec![Row { from: earlier.from, to: earlier.to, at, text }]
}

/// A line of a catalogue, read.
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

/// A row for each turn of the user, and for each part of a long one.
fn stretches(material: &Material<'_>) -> Vec<Row> {
    let found = glean(material);
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
        row.text = told(&found, row);
    }
    rows
}

/// What a stretch is about: what was asked, which files changed, what failed, what was said last, how many calls.
fn told(found: &Found<'_>, row: &Row) -> String {
    let within = |at: Seq| (row.from..=row.to).contains(&at);
    let quote = |text: &str| format!("\"{}\"", head(&line(text, Escaping::Speakers), PIECE));
    let mut text = String::new();
    let asked = found.users.iter().find(|said| within(said.at));
    push(&mut text, &asked.map(|said| quote(&said.text)).unwrap_or_default());
    let files = found.files.iter().filter(|file| file.is_changed() && within(file.last_changed));
    let files: Vec<String> =
        files.map(|file| format!("`{}`", code(&file.path, Escaping::Speakers))).take(FILES).collect();
    if !files.is_empty() {
        push(&mut text, &format!("changed {}", files.join(", ")));
    }
    let failed = found.troubles.iter().rev().find(|trouble| within(trouble.at) && trouble.is_open());
    push(&mut text, &failed.map(|trouble| format!("open: {}", quote(&trouble.line))).unwrap_or_default());
    let steps = || found.steps.iter().filter(|step| within(step.at) && step.kind != Kind::Plan);
    let said = found.replies.iter().rev().find(|said| within(said.at));
    // What a stretch ends with says more than its calls, where nothing was asked or changed.
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

/// Together the rows stand for all of the range, each position once.
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

/// Joins the rows of the older half, two by two.
fn join_oldest(rows: &mut Vec<Row>) {
    let pairs = (rows.len() / 4).max(1);
    let mut old = rows.drain(..pairs * 2).collect::<Vec<_>>().into_iter();
    let mut joined = Vec::with_capacity(pairs);
    while let (Some(first), Some(second)) = (old.next(), old.next()) {
        let half = LINE / 2 - 20;
        let mut text = head(&first.text, half).into_owned();
        push(&mut text, &head(&second.text, half));
        joined.push(Row { from: first.from, to: second.to, at: first.at, text });
    }
    rows.splice(0..0, joined);
}
