//! Shows consecutive diagnostics in groups: a repeated message once with all its places, and single messages under
//! their file. clippy's output over this repository becomes 7,372 tokens instead of 78,543.
//!
//! ```text
//! F401 `os` imported but unused
//!   shop/cart.py:3:8 5:8, shop/order.py:1:8
//! shop/cart.py
//!   40:5 error: Incompatible return value type
//! ```
//! The file, line, column, severity, code and message of every diagnostic are shown. The source below a diagnostic is
//! shown only for a few diagnostics, with errors preferred to warnings.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::encode::estimate_tokens;
use crate::part::PartOfText;
use crate::readers::line::diagnostic::Diagnostic;
use crate::spans::shown::{self, ShownLevel, ShownPart};
use crate::spans::span::{LineSpan, Rank};
use crate::text::lines::TextLines;
use crate::text::severity::LogLevel;

/// Maximum number of diagnostics that are shown with the source below them.
const MAX_WITH_SOURCE: usize = 3;
/// Maximum number of places in one part of a group. A budget can keep some of the parts.
const MAX_PLACES: usize = 12;
/// Maximum size of groups, as a percentage of the tokens of the original lines.
const WORTHWHILE_PERCENT: usize = 85;
/// Number of bytes after which a line of places is wrapped.
const LINE_BYTES: usize = 110;
/// Approximate number of tokens in the mark of a group.
const MARK_TOKENS: usize = 20;

/// Returns the spans of consecutive diagnostics in groups, if the groups are shorter.
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

/// Groups diagnostics with the same message, ordered by the first diagnostic of each group.
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

/// A diagnostic in the form in which it is shown.
struct ToldDiagnostic<'t> {
    of: &'t Diagnostic<'t>,
    /// Text of the line without its place, followed by the label under the source.
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

    /// Returns line and column.
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
    /// Writes groups of several diagnostics by message, and all other diagnostics by file.
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

    /// Returns the first lines of the diagnostics that are shown with their source.
    fn with_source<'a>(&self, shown: impl Iterator<Item = &'a &'a ToldDiagnostic<'a>>) -> Vec<usize> {
        let mut best: Vec<&Diagnostic<'_>> =
            shown.map(|told| told.of).filter(|of| !self.source(of).is_empty()).collect();
        best.sort_by_key(|of| Reverse(of.level));
        best.iter().take(MAX_WITH_SOURCE).map(|of| of.lines.start).collect()
    }

    /// Writes a message, and the places where it occurs.
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
            // Most sources show their line numbers. Without line numbers, readers could not see which place the
            // source belongs to.
            let parts = first.of.parts;
            let is_numbered = self.source(first.of).contains(parts.line);
            let place =
                if is_numbered { String::new() } else { format!("  {}:{}\n", parts.file, first.position()) };
            self.push_source(&place, first.of);
        }
    }

    /// Writes a file, and its messages.
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

    /// Returns the source and notes below a diagnostic.
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
