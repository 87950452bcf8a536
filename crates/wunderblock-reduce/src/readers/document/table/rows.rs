//! Cuts a table into rows, and a row into fields.

use crate::part::{PartOfList, PartOfText};
use std::borrow::Cow;
use std::ops::Range;

use crate::text::lines::TextLines;

/// The separator of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableFormat {
    /// One character. A field in quotes may contain the separator and line breaks.
    Separated(u8),
    /// `|` or `│`, with rules between rows.
    Drawn,
    /// At least two spaces, with a rule of dashes below the header.
    Spaced,
}

/// A record, or another line (a rule or a total).
#[derive(Clone, Debug)]
pub(super) struct TableRow {
    pub(super) span: Range<usize>,
    pub(super) is_data: bool,
}

/// Maximum size of a quoted field, in bytes. A quote that never ends must not include the rest of the table.
const MAX_QUOTED_BYTES: usize = 64 * 1024;
/// Maximum number of bytes of a text that are examined to find the field separator.
const MAX_SAMPLED_BYTES: usize = 16 * 1024;
/// Maximum number of columns of a row that are examined.
const MAX_COLUMNS: usize = 64;

/// Returns the format of a table, and how certain it is that the text is a table.
pub(super) fn detect_format(text: &str, lines: &[&str]) -> Option<(TableFormat, u32)> {
    let said: Vec<&str> = lines.iter().copied().filter(|line| !line.trim().is_empty()).collect();
    if said.len() < 4 {
        return None;
    }
    let rules = said.iter().filter(|line| is_rule(line)).count();
    let drawn = said.iter().filter(|line| is_drawn(line)).count();
    if rules >= 1 && (drawn + rules) * 100 >= said.len() * 85 {
        return Some((TableFormat::Drawn, 90));
    }
    let spaced = said.get(1).is_some_and(|line| is_dashes(line))
        && said.iter().filter(|line| line.trim().contains("  ")).count() * 10 >= said.len() * 8;
    if spaced {
        // Only a table has a rule of dashes for each column.
        return Some((
            TableFormat::Spaced,
            if said.get(1).is_some_and(|line| line.contains("--  --")) { 90 } else { 72 },
        ));
    }
    let best = [b'\t', b',', b';', b'|'].into_iter().filter(|by| {
        // The first lines are enough to rule out most texts.
        let has = |line: &&&str| line.as_bytes().contains(by);
        said.first().is_some_and(|line| has(&line))
            && said.iter().take(20).filter(has).count() * 5 >= said.len().min(20) * 2
    });
    let best = best.filter_map(|by| detect_separated(text, by));
    best.max_by_key(|(_, vote)| *vote)
}

/// Returns the vote for a character as the field separator: all records must have as many fields as the first record.
fn detect_separated(text: &str, by: u8) -> Option<(TableFormat, u32)> {
    let head = crate::readers::line::fingerprint::truncate(text, MAX_SAMPLED_BYTES);
    let head = if head.len() < text.len() { head.rsplit_once('\n')?.0 } else { head };
    let lines = TextLines::of(head);
    let form = TableFormat::Separated(by);
    let rows = split_rows(&lines, form);
    let fields: Vec<usize> = rows
        .iter()
        .filter(|row| row.is_data)
        .map(|row| form.fields(head.part(row.span.clone())).len())
        .collect();
    let width = *fields.first()?;
    let same = fields.iter().filter(|count| **count == width).count();
    if width < 2 || fields.len() < 4 {
        return None;
    }
    let share = same * 100 / fields.len();
    let first = rows.first().map(|row| form.fields(head.part(row.span.clone())))?;
    let header = is_header(&first);
    // Sentences have commas too, but a different number of them in each line, and more words between the commas.
    let wordy = by == b',' && first.iter().any(|field| field.split_whitespace().count() > 6);
    let vote = match (share, width, header) {
        _ if wordy => 0,
        (98.., 3.., true) => 88,
        (98.., 2, true) => {
            if by == b'\t' || by == b'|' {
                70
            } else {
                52
            }
        }
        (98.., 4.., false) => 62,
        (90.., 3.., true) => 70,
        (98.., 2.., false) if by == b'\t' => 45,
        _ => 0,
    };
    (vote > 0).then_some((form, vote))
}

/// Returns whether fields are the names of columns: short, distinct texts, most of which contain letters and none of
/// which is a number.
pub(super) fn is_header(fields: &[Cow<'_, str>]) -> bool {
    let numbers = fields.iter().filter(|field| field.trim().parse::<f64>().is_ok()).count();
    let named = fields
        .iter()
        .filter(|field| field.bytes().any(|byte| byte.is_ascii_alphabetic() || byte >= 0x80))
        .count();
    let long = fields.iter().any(|field| field.len() > 64 || field.contains('\n') || field.contains("://"));
    let mut names: Vec<&str> = fields.iter().map(|field| field.trim()).collect();
    names.sort_unstable();
    let alike = names.windows(2).any(|pair| pair.first() == pair.last());
    !fields.is_empty() && numbers == 0 && named * 10 >= fields.len() * 6 && !long && !alike
}

/// Returns whether a line is a rule between rows: `|---|:--:|`, `+----+`, `├──┼──┤`, `----+----`.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.chars().all(|c| matches!(c, '-' | '+' | '|' | ':' | '=' | ' ' | '\u{2500}'..='\u{257f}'))
        && line.contains("--") | line.contains("==") | line.contains("──") | line.contains("══")
        && line.chars().any(|c| {
            matches!(
                c,
                '+' | '|' | '\u{2502}' | '\u{253c}' | '\u{252c}' | '\u{2534}' | '\u{256a}' | '┌' | '└' | '├'
            )
        })
}

fn is_dashes(line: &str) -> bool {
    line.trim().contains("--")
        && line.trim().bytes().all(|byte| matches!(byte, b'-' | b' ' | b'='))
        && line.trim().contains(' ')
}

fn is_drawn(line: &str) -> bool {
    let line = line.trim();
    let bars = line.matches(['|', '│', '║']).count();
    bars >= 2 || (bars >= 1 && (line.contains(" | ") || line.contains(" │ ")))
}

/// Splits a table into rows, which tile the text.
pub(super) fn split_rows(lines: &TextLines<'_>, form: TableFormat) -> Vec<TableRow> {
    let mut rows = Vec::with_capacity(lines.len());
    let mut at = 0;
    while at < lines.len() {
        let mut end = at + 1;
        let line = lines.get(at);
        let is_data = match form {
            TableFormat::Separated(_) => {
                // A record continues while a quote is open.
                let mut open = has_open_quote(line);
                let start = lines.span(at).start;
                while open && end < lines.len() && lines.span(end).start - start < MAX_QUOTED_BYTES {
                    open ^= has_open_quote(lines.get(end));
                    end += 1;
                }
                // A quote that is never closed does not begin a quoted field.
                if open {
                    end = at + 1;
                }
                !line.trim().is_empty()
            }
            TableFormat::Drawn => is_drawn(line) && !is_rule(line),
            TableFormat::Spaced => !is_dashes(line) && !line.trim().is_empty(),
        };
        // A rule below a header does not separate the header from its rows.
        rows.push(TableRow {
            span: lines.spans(at..end),
            is_data: is_data
                || (matches!(form, TableFormat::Drawn) && is_rule(line) && at > 0 && is_between(lines, at))
                || (form == TableFormat::Spaced && is_dashes(line)),
        });
        at = end;
    }
    rows
}

fn is_between(lines: &TextLines<'_>, at: usize) -> bool {
    let drawn = |at: usize| is_drawn(lines.get(at)) && !is_rule(lines.get(at));
    drawn(at - 1) && at + 1 < lines.len() && drawn(at + 1)
}

fn has_open_quote(line: &str) -> bool {
    line.contains('"') && memchr::memchr_iter(b'"', line.as_bytes()).count() % 2 == 1
}

impl TableFormat {
    /// Returns the fields of a row, without quotes and surrounding spaces.
    pub(super) fn fields(self, row: &str) -> Vec<Cow<'_, str>> {
        let row = row.trim_end_matches(['\n', '\r']);
        match self {
            Self::Separated(by) => split_fields(row, by),
            Self::Drawn => {
                let row = row.trim().trim_matches(['|', '│', '║']);
                row.split(['|', '│', '║']).take(MAX_COLUMNS).map(|field| field.trim().into()).collect()
            }
            Self::Spaced => row
                .split("  ")
                .map(str::trim)
                .filter(|field| !field.is_empty())
                .take(MAX_COLUMNS)
                .map(Into::into)
                .collect(),
        }
    }
}

fn split_fields(row: &str, by: u8) -> Vec<Cow<'_, str>> {
    let bytes = row.as_bytes();
    let mut fields = Vec::new();
    let mut at = 0;
    while fields.len() < MAX_COLUMNS {
        let rest = bytes.part(at..);
        if rest.first() == Some(&b'"') && by != b'|' {
            let (mut end, mut doubled) = (1, false);
            while let Some(quote) = memchr::memchr(b'"', rest.part(end..)) {
                end += quote + 1;
                if rest.get(end) != Some(&b'"') {
                    break;
                }
                doubled = true;
                end += 1;
            }
            let next = memchr::memchr(by, rest.part(end..)).map(|next| end + next);
            let inner = row.part(at + 1..at + end.saturating_sub(1).max(1));
            fields.push(if doubled { inner.replace("\"\"", "\"").into() } else { inner.into() });
            match next {
                Some(next) => at += next + 1,
                None => return fields,
            }
            continue;
        }
        let next = memchr::memchr(by, rest);
        fields.push(row.part(at..next.map_or(row.len(), |next| at + next)).into());
        match next {
            Some(next) => at += next + 1,
            None => return fields,
        }
    }
    fields
}
