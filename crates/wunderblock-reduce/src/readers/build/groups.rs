//! Diagnostics in a row, said by their messages: each message once with the places that have it, and what comes once
//! under its file.
//!
//! ```text
//! F401 `os` imported but unused
//!   shop/cart.py:3:8 5:8, shop/order.py:1:8
//! shop/cart.py
//!   40:5 error: Incompatible return value type
//! ```
//! Every diagnostic's file, line, column, severity, code and message is there. The source below it is, for a few: errors
//! before warnings.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::encode::estimate_tokens;
use crate::lines::TextLines;
use crate::part::PartOfText;
use crate::readers::diagnostic::Diagnostic;
use crate::severity::LogLevel;
use crate::shown::{self, ShownLevel, ShownPart};
use crate::span::{LineSpan, Rank};

/// Maximum number of diagnostics that are shown with the source below them.
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
    let write =
        |groups: Vec<Vec<&ToldDiagnostic<'_>>>| GroupWriter { lines, parts: Vec::new() }.write(groups);
    let tokens = |parts: &[ShownPart]| parts.iter().map(|part| estimate_tokens(&part.text)).sum::<usize>();
    let by_file = write(told.iter().map(|told| vec![told]).collect());
    let by_message = write(group_by(&told));
    let parts = if tokens(&by_file) < tokens(&by_message) { by_file } else { by_message };
    let before = estimate_tokens(lines.text().get(range.clone())?);
    let worthwhile = (tokens(&parts) + MARK_TOKENS) * 100 <= before * WORTHWHILE_PERCENT;
    worthwhile.then(|| {
        let counted = format!("{} diagnostics by message and file", run.len());
        shown::spans(range, &parts, &counted).collect()
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

struct GroupWriter<'w, 't> {
    lines: &'w TextLines<'t>,
    parts: Vec<ShownPart>,
}

impl GroupWriter<'_, '_> {
    /// Groups of several by their message, all others by their file.
    fn write(mut self, groups: Vec<Vec<&ToldDiagnostic<'_>>>) -> Vec<ShownPart> {
        let (repeated, single): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| group.len() > 1);
        let single: Vec<&ToldDiagnostic<'_>> = single.into_iter().flatten().collect();
        let with_source = self.with_source(repeated.iter().filter_map(|group| group.first()).chain(&single));
        for group in repeated {
            self.message(&group, &with_source);
        }
        for file in single.chunk_by(|one, other| one.of.parts.file == other.of.parts.file) {
            self.file(file, &with_source);
        }
        self.parts
    }

    /// The first lines of those that are shown with their source.
    fn with_source<'a>(&self, shown: impl Iterator<Item = &'a &'a ToldDiagnostic<'a>>) -> Vec<usize> {
        let mut best: Vec<&Diagnostic<'_>> =
            shown.map(|told| told.of).filter(|of| !self.source(of).is_empty()).collect();
        best.sort_by_key(|of| Reverse(of.level));
        best.iter().take(MAX_WITH_SOURCE).map(|of| of.lines.start).collect()
    }

    /// A message, and the places that have it.
    fn message(&mut self, group: &[&ToldDiagnostic<'_>], with_source: &[usize]) {
        let Some(first) = group.first() else { return };
        let score = score(first.of.level);
        self.push(&format!("{}\n", first.message), ShownLevel::Heading, score);
        for (nth, places) in group.chunks(MAX_PLACES).enumerate() {
            let mut text = String::new();
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
            self.push(&text, ShownLevel::Item, if nth == 0 { score } else { score - 300 });
        }
        if with_source.contains(&first.of.lines.start) {
            // Most sources have the numbers of their lines; under others it would not be seen which place is meant.
            let parts = first.of.parts;
            let is_numbered = self.source(first.of).contains(parts.line);
            let place =
                if is_numbered { String::new() } else { format!("  {}:{}\n", parts.file, first.position()) };
            self.push_source(&place, first.of);
        }
    }

    /// A file, and the messages it has.
    fn file(&mut self, file: &[&ToldDiagnostic<'_>], with_source: &[usize]) {
        let name = first_file(file);
        if file.len() > 1 {
            let best = file.iter().map(|told| told.of.level).max().unwrap_or(LogLevel::Info);
            self.push(&format!("{name}\n"), ShownLevel::Heading, score(best));
        }
        for (nth, told) in file.iter().enumerate() {
            let (place, message) = (told.position(), &told.message);
            let (level, text) = match file.len() {
                1 if place.is_empty() => (ShownLevel::Alone, format!("{name}: {message}\n")),
                1 => (ShownLevel::Alone, format!("{name}:{place} {message}\n")),
                _ => (ShownLevel::Item, format!("  {place} {message}\n")),
            };
            self.push(&text, level, score(told.of.level) - if nth == 0 { 0 } else { 50 });
            if with_source.contains(&told.of.lines.start) {
                self.push_source("", told.of);
            }
        }
    }

    /// The source and notes below a diagnostic.
    fn source(&self, of: &Diagnostic<'_>) -> &str {
        let below = self.lines.text().part(self.lines.spans(of.below.clone()));
        below.trim_end().trim_start_matches('\n')
    }

    fn push_source(&mut self, place: &str, of: &Diagnostic<'_>) {
        let text = format!("{place}{}\n", self.source(of));
        self.push(&text, ShownLevel::Detail, 30);
    }

    fn push(&mut self, text: &str, level: ShownLevel, score: u16) {
        let rank = if level == ShownLevel::Detail { Rank::Context } else { Rank::Must };
        self.parts.push(ShownPart { text: text.to_owned(), level, rank, score });
    }
}

fn first_file<'t>(file: &[&ToldDiagnostic<'t>]) -> &'t str {
    file.first().map_or("", |told| told.of.parts.file)
}

fn score(level: LogLevel) -> u16 {
    500 + 100 * level as u16
}
