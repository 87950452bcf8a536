//! Diagnostics in a row, said by their messages: each message once with the places that have it, and what comes once
//! under its file.
//!
//! ```text
//! F401 `os` imported but unused
//!   shop/cart.py:3:8 5:8, shop/order.py:1:8
//! shop/cart.py
//!   40:5 error: Incompatible return value type
//! ```
//! Every diagnostic's file, line, column, severity, code and message is there. The source below it is, for the first few.

use std::collections::HashMap;

use crate::encode::estimate_tokens;
use crate::lines::TextLines;
use crate::mark;
use crate::part::PartOfText;
use crate::readers::diagnostic::Diagnostic;
use crate::severity::LogLevel;
use crate::span::{LineSpan, Rank};

/// Maximum number of groups that are shown with the source below their first diagnostic.
const MAX_WITH_SOURCE: usize = 3;
/// Maximum number of places in one part of a group: a budget shows a group in parts.
const MAX_PLACES: usize = 12;
/// Maximum share of the lines' tokens that a group may have, in per cent.
const WORTHWHILE_PERCENT: usize = 85;
/// Bytes of a line of places.
const LINE_BYTES: usize = 110;
/// Tokens of the group's mark, about.
const MARK_TOKENS: usize = 20;

/// The spans of diagnostics in a row, if they are shorter in groups.
pub(super) fn spans(lines: &TextLines<'_>, run: &[Diagnostic<'_>]) -> Option<Vec<LineSpan>> {
    let range = lines.spans(run.first()?.lines.start..run.last()?.lines.end);
    let told: Vec<ToldDiagnostic<'_>> = run.iter().map(ToldDiagnostic::of).collect();
    let write = |groups: Vec<Vec<&ToldDiagnostic<'_>>>| GroupWriter::of(lines).write(groups);
    let tokens = |parts: &[GroupPart]| parts.iter().map(|part| estimate_tokens(&part.text)).sum::<usize>();
    let by_file = write(told.iter().map(|told| vec![told]).collect());
    let by_message = write(group_by(&told));
    let parts = if tokens(&by_file) < tokens(&by_message) { by_file } else { by_message };
    let before = estimate_tokens(lines.text().get(range.clone())?);
    let worthwhile = (tokens(&parts) + MARK_TOKENS) * 100 <= before * WORTHWHILE_PERCENT;
    worthwhile.then(|| {
        let counted = format!("{} diagnostics by message and file", run.len());
        let mut range = Some(range.clone()).into_iter().chain(std::iter::repeat(range.end..range.end));
        let part = |part: GroupPart| {
            let span = LineSpan::new(range.next().unwrap_or_default(), part.rank).scored(part.score);
            span.described(Some(counted.clone().into())).shown_as(part.text)
        };
        parts.into_iter().map(part).collect()
    })
}

/// Those that say the same, in the order of the first of each.
fn group_by<'w, 't>(told: &'w [ToldDiagnostic<'t>]) -> Vec<Vec<&'w ToldDiagnostic<'t>>> {
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<Vec<&ToldDiagnostic<'_>>> = Vec::new();
    for told in told {
        let group = *known.entry(&told.message).or_insert(groups.len());
        match groups.get_mut(group) {
            Some(group) => group.push(told),
            None => groups.push(vec![told]),
        }
    }
    groups
}

/// A diagnostic as it is told.
struct ToldDiagnostic<'t> {
    of: &'t Diagnostic<'t>,
    /// What the line says beside its place, and what is said under the source.
    message: String,
}

impl<'t> ToldDiagnostic<'t> {
    fn of(of: &'t Diagnostic<'t>) -> Self {
        let parts = of.parts;
        let mut message = parts.said.trim_end().to_owned();
        if !parts.label.is_empty() && !message.contains(parts.label) {
            message.push_str(&format!(" ({})", parts.label));
        }
        Self { of, message }
    }

    /// Line and column.
    fn position(&self) -> String {
        let parts = self.of.parts;
        [parts.line, parts.col].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(":")
    }
}

/// A part of the groups, as a budget chooses it.
struct GroupPart {
    text: String,
    rank: Rank,
    score: u16,
}

struct GroupWriter<'w, 't> {
    lines: &'w TextLines<'t>,
    parts: Vec<GroupPart>,
    /// The groups that may still be shown with source.
    with_source: usize,
}

impl<'w, 't> GroupWriter<'w, 't> {
    fn of(lines: &'w TextLines<'t>) -> Self {
        Self { lines, parts: Vec::new(), with_source: MAX_WITH_SOURCE }
    }

    /// Groups of several by their message, all others by their file.
    fn write(mut self, groups: Vec<Vec<&ToldDiagnostic<'_>>>) -> Vec<GroupPart> {
        let (repeated, single): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| group.len() > 1);
        for group in repeated {
            self.message(&group);
        }
        let single: Vec<&ToldDiagnostic<'_>> = single.into_iter().flatten().collect();
        for file in single.chunk_by(|one, other| one.of.parts.file == other.of.parts.file) {
            self.file(file);
        }
        self.parts
    }

    /// A message, and the places that have it.
    fn message(&mut self, group: &[&ToldDiagnostic<'_>]) {
        let Some(first) = group.first() else { return };
        let score = score(first.of.level);
        for (nth, places) in group.chunks(MAX_PLACES).enumerate() {
            let mut text = String::new();
            if nth == 0 {
                text.push_str(&format!("{}\n", first.message));
            }
            let mut line = 0;
            for file in places.chunk_by(|one, other| one.of.parts.file == other.of.parts.file) {
                let mut place = first_file(file).to_owned();
                for (nth, told) in file.iter().enumerate().filter(|(_, told)| !told.position().is_empty()) {
                    place.push_str(&format!("{}{}", if nth == 0 { ":" } else { " " }, told.position()));
                }
                text.push_str(match line {
                    0 => "  ",
                    line if line + place.len() > LINE_BYTES => "\n  ",
                    _ => ", ",
                });
                line = if text.ends_with("\n  ") { 2 } else { line + 2 } + place.len();
                text.push_str(&place);
            }
            text.push('\n');
            self.push(&text, Rank::Must, if nth == 0 { score } else { score - 300 });
        }
        self.source(first);
    }

    /// A file, and the messages it has.
    fn file(&mut self, file: &[&ToldDiagnostic<'_>]) {
        let name = first_file(file);
        for (nth, told) in file.iter().enumerate() {
            let (place, message) = (told.position(), &told.message);
            let text = match (file.len(), nth) {
                (1, _) if place.is_empty() => format!("{name}: {message}\n"),
                (1, _) => format!("{name}:{place} {message}\n"),
                (_, 0) => format!("{name}\n  {place} {message}\n"),
                _ => format!("  {place} {message}\n"),
            };
            self.push(&text, Rank::Must, score(told.of.level) - if nth == 0 { 0 } else { 50 });
            self.source(told);
        }
    }

    /// The source and notes below a diagnostic, for the first few.
    fn source(&mut self, told: &ToldDiagnostic<'_>) {
        let below = self.lines.text().part(self.lines.spans(told.of.below.clone()));
        let below = below.trim_end().trim_start_matches('\n');
        if !below.is_empty() && self.with_source > 0 {
            self.with_source -= 1;
            self.push(&format!("{below}\n"), Rank::Context, 30);
        }
    }

    fn push(&mut self, text: &str, rank: Rank, score: u16) {
        let mut escaped = String::with_capacity(text.len());
        mark::escape(text, &mut escaped);
        self.parts.push(GroupPart { text: escaped, rank, score });
    }
}

fn first_file<'t>(file: &[&ToldDiagnostic<'t>]) -> &'t str {
    file.first().map_or("", |told| told.of.parts.file)
}

fn score(level: LogLevel) -> u16 {
    500 + 100 * level as u16
}
