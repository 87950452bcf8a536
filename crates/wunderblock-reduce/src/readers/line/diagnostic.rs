//! Diagnostics of compilers and linters: their lines, and the parts of their messages.

use std::ops::Range;

use crate::part::{PartOfList, PartOfText};
use crate::rules::{self, BuildLine, LineParts};
use crate::text::lines::TextLines;
use crate::text::severity::{self, LogLevel};

use super::build_line::strip_prefix;

/// Maximum number of lines without a class that continue the message above them.
const MAX_CONTINUED: usize = 8;

/// A message with its place, and the lines that belong to it.
#[derive(Clone, Debug)]
pub(crate) struct Diagnostic<'t> {
    /// All lines of the diagnostic, from those that introduce it to the empty lines after it.
    pub(crate) lines: Range<usize>,
    /// Lines below the message and the place: source and notes.
    pub(crate) below: Range<usize>,
    pub(crate) level: LogLevel,
    pub(crate) parts: LineParts<'t>,
}

/// Returns the class of each line, decided by the line or by the line below it.
pub(crate) fn classify(lines: &TextLines<'_>) -> Vec<Option<BuildLine>> {
    let rules = rules::build();
    let mut classes: Vec<Option<BuildLine>> =
        lines.iter().map(|line| rules.stated_class(strip_prefix(line))).collect();
    for at in 1..classes.len() {
        let (line, next) = (lines.get(at - 1), strip_prefix(lines.get(at)));
        let [class, below] = classes.part_mut(at - 1..=at) else { continue };
        if class.is_none() && !line.trim().is_empty() {
            *class = class_above(line, next, *below);
        }
    }
    classes
}

/// Returns the class of a line that only the next line reveals.
fn class_above(line: &str, next: &str, below: Option<BuildLine>) -> Option<BuildLine> {
    match below? {
        // A message above its place.
        BuildLine::Place if next.trim_start().starts_with("--> ") => {
            Some(BuildLine::Diagnostic(severity::level_of(line).unwrap_or(LogLevel::Warning)))
        }
        // Source above the signs that are drawn under it.
        BuildLine::Code | BuildLine::Diagnostic(_) if next.trim_start().starts_with(['^', '~']) => {
            Some(BuildLine::Code)
        }
        // A file that is named once, above its messages.
        BuildLine::Diagnostic(_)
            if next.starts_with(' ')
                && !line.contains(' ')
                && line.contains(['/', '.', '\\'])
                && place_length(next.trim_start()).is_none() =>
        {
            Some(BuildLine::File)
        }
        _ => None,
    }
}

/// Returns the diagnostics that name a place, in order.
pub(crate) fn find<'t>(lines: &TextLines<'t>, classes: &[Option<BuildLine>]) -> Vec<Diagnostic<'t>> {
    let mut finder =
        DiagnosticFinder { found: Vec::new(), open: None, lead: None, file: ("", ""), in_note: false };
    for (at, (line, class)) in lines.iter().zip(classes).enumerate() {
        finder.read(at, strip_prefix(line), *class);
    }
    finder.close();
    let mut found = finder.found;
    // Empty lines between two diagnostics belong to the first one.
    for at in 1..found.len() {
        let [one, next] = found.part_mut(at - 1..=at) else { continue };
        let between = one.lines.end..next.lines.start;
        if lines.text().part(lines.spans(between)).trim().is_empty() {
            one.lines.end = next.lines.start;
        }
    }
    found
}

struct DiagnosticFinder<'t> {
    found: Vec<Diagnostic<'t>>,
    open: Option<Diagnostic<'t>>,
    /// First of the lines that introduce the next diagnostic.
    lead: Option<usize>,
    /// File that was named above, and the line in it.
    file: (&'t str, &'t str),
    /// Whether the last note is unfinished, so that the following lines belong to it, up to an empty line.
    in_note: bool,
}

impl<'t> DiagnosticFinder<'t> {
    fn read(&mut self, at: usize, line: &'t str, class: Option<BuildLine>) {
        match class {
            Some(BuildLine::Diagnostic(level)) => self.begin(at, line, level),
            Some(BuildLine::Place) if self.open.as_ref().is_some_and(|open| open.parts.file.is_empty()) => {
                let parts = rules::build().parts(line);
                if let Some(open) = &mut self.open {
                    (open.parts.file, open.parts.line, open.parts.col) = (parts.file, parts.line, parts.col);
                    (open.lines.end, open.below) = (at + 1, at + 1..at + 1);
                }
            }
            Some(BuildLine::Place | BuildLine::Note) => {
                self.extend(at);
                self.in_note = line.trim_end().ends_with(':');
            }
            Some(BuildLine::Code) => {
                self.extend(at);
                if let Some(open) = self.open.as_mut().filter(|open| open.parts.label.is_empty()) {
                    open.parts.label = rules::build().parts(line).label;
                }
            }
            Some(BuildLine::Lead) => {
                self.close();
                self.lead.get_or_insert(at);
            }
            Some(BuildLine::File) => {
                self.close();
                self.lead.get_or_insert(at);
                let parts = rules::build().parts(line);
                self.file = (if parts.file.is_empty() { line.trim() } else { parts.file }, parts.line);
            }
            None if line.trim().is_empty() => self.in_note = false,
            None if self.in_note || line.starts_with([' ', '\t']) && self.goes_on(at) => self.extend(at),
            None | Some(BuildLine::Step | BuildLine::Total | BuildLine::Progress) => {
                self.close();
                (self.lead, self.file) = (None, ("", ""));
            }
        }
    }

    fn begin(&mut self, at: usize, line: &'t str, level: LogLevel) {
        self.close();
        let mut parts = rules::build().parts(line);
        if parts == LineParts::default() {
            parts.said = line.trim();
        }
        if parts.file.is_empty() && !(parts.line.is_empty() && self.file.1.is_empty()) {
            parts.file = self.file.0;
            parts.line = if parts.line.is_empty() { self.file.1 } else { parts.line };
        }
        let start = self.lead.take().unwrap_or(at);
        self.open = Some(Diagnostic { lines: start..at + 1, below: at + 1..at + 1, level, parts });
    }

    /// Returns whether a line without a class may continue the message.
    fn goes_on(&self, at: usize) -> bool {
        self.open.as_ref().is_some_and(|open| open.below.end == at && open.below.len() < MAX_CONTINUED)
    }

    fn extend(&mut self, at: usize) {
        if let Some(open) = &mut self.open {
            (open.lines.end, open.below.end) = (at + 1, at + 1);
        }
    }

    /// Ends a diagnostic. A diagnostic without a place is not grouped, and its lines stay as they are.
    fn close(&mut self) {
        self.found.extend(self.open.take().filter(|open| !open.parts.file.is_empty()));
    }
}

/// Returns the length of the place with which a text begins: `src/a.c:3:7`, `src/a.ts(3,7)`.
pub(crate) fn place_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let end = bytes.iter().take(300).position(|byte| matches!(byte, b':' | b'(' | b' ' | b'\t'))?;
    let (mut end, mut path) = (end, text.get(..end)?);
    // The colon after a drive letter does not end the path.
    if path.len() == 1 && bytes.get(1) == Some(&b':') && matches!(bytes.get(2), Some(b'\\' | b'/')) {
        end = 2 + bytes.iter().skip(2).take(300).position(|byte| matches!(byte, b':' | b'(' | b' '))?;
        path = text.get(..end)?;
    }
    let named = path.contains(['.', '/', '\\'])
        && !path.ends_with(['.', '/'])
        && path.bytes().any(|byte| byte.is_ascii_alphabetic());
    if !named || path.contains("://") {
        return None;
    }
    let digits = |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let line = digits(end + 1);
    if line == 0 || line > 7 {
        return None;
    }
    let mut at = end + 1 + line;
    if bytes.get(end) == Some(&b'(') {
        if bytes.get(at) == Some(&b',') {
            at += 1 + digits(at + 1);
        }
        return (bytes.get(at) == Some(&b')')).then_some(at + 1);
    }
    if bytes.get(end) != Some(&b':') {
        return None;
    }
    if bytes.get(at) == Some(&b':') && digits(at + 1) > 0 {
        at += 1 + digits(at + 1);
    }
    Some(at)
}
