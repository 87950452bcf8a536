//! Tables: comma- and tab-separated values, and tables drawn with characters.

mod columns;
mod rows;

use crate::part::{PartOfList, PartOfText};
use std::collections::HashSet;
use std::ops::Range;

use crate::result::label::Label;
use crate::spans::span::{LineSpan, Rank};
use crate::text::lines::TextLines;
use crate::text::sample::LineSample;

use crate::readers::line::fingerprint;
use crate::readers::short_gaps;
use columns::TableColumns;
use rows::{TableFormat, TableRow};

/// Maximum number of rows in a table that is shown whole.
const MAX_WHOLE_ROWS: usize = 30;
/// Number of rows that stay at the start of a larger table.
const HEAD_ROWS: usize = 3;
/// Number of rows that stay at the end of a larger table.
const TAIL_ROWS: usize = 2;
/// Minimum value of the limit on rows that stay because they contain something new.
const MIN_EXAMPLES: usize = 12;
/// Number of consecutive rows without anything new after which no more examples are taken.
const MAX_DULL_ROWS: usize = 200;

pub(crate) fn vote(sample: &LineSample<'_>) -> u32 {
    rows::detect_format(sample.text, &sample.lines).map_or(0, |(_, vote)| vote)
}

pub(crate) fn spans(lines: &TextLines<'_>) -> Vec<LineSpan> {
    let sample = LineSample::of(lines.text());
    let Some((form, _)) = rows::detect_format(lines.text(), &sample.lines) else {
        return super::prose::spans(lines);
    };
    let rows = rows::split_rows(lines, form);
    let tables = find_tables(&rows);
    let mut spans: Vec<LineSpan> =
        rows.iter().map(|row| LineSpan::new(row.span.clone(), Rank::Frame)).collect();
    for table in tables {
        rank_table(lines, form, rows.part(table.clone()), spans.part_mut(table));
    }
    spans
}

/// Returns the ranges of consecutive data rows.
fn find_tables(rows: &[TableRow]) -> Vec<Range<usize>> {
    let mut tables = Vec::new();
    let mut start = None;
    for (at, row) in rows.iter().enumerate() {
        match (row.is_data, start) {
            (true, None) => start = Some(at),
            (false, Some(first)) => {
                tables.push(first..at);
                start = None;
            }
            _ => {}
        }
    }
    tables.extend(start.map(|first| first..rows.len()));
    tables
}

/// Ranks the rows of one table. The first row of a table is its header if it looks like one.
fn rank_table(lines: &TextLines<'_>, form: TableFormat, rows: &[TableRow], spans: &mut [LineSpan]) {
    let text = |row: &TableRow| lines.text().part(row.span.clone());
    for span in spans.iter_mut() {
        span.rank = Rank::Context;
    }
    let header = rows
        .first()
        .map(|row| form.fields(text(row)))
        .filter(|fields| rows::is_header(fields))
        .unwrap_or_default();
    let from = usize::from(!header.is_empty());
    if from == 1
        && let Some(span) = spans.first_mut()
    {
        (span.rank, span.score) = (Rank::Must, u16::MAX);
    }
    let rows = rows.part(from..);
    let spans = spans.part_mut(from..);
    let mut columns = TableColumns::new(&header);
    for row in rows {
        columns.count(&form.fields(text(row)));
    }
    columns.classify(rows.len());
    // A drawn table with sentences in it is text for readers, so it is not folded.
    let many = rows.len() > MAX_WHOLE_ROWS && !(form == TableFormat::Drawn && columns.has_sentences());
    let max_examples = MIN_EXAMPLES.max((rows.len() / 16).min(40));
    let wrong: Vec<bool> = rows.iter().map(|row| fingerprint::mentions_failure(text(row))).collect();
    let all_wrong = wrong.iter().filter(|wrong| **wrong).count();
    let wrong_is_rare = all_wrong * 10 <= rows.len();
    let (mut seen, mut dull, mut examples) = (HashSet::new(), 0, 0);
    for (at, ((row, is_wrong), span)) in rows.iter().zip(wrong).zip(spans.iter_mut()).enumerate() {
        let fields = form.fields(text(row));
        let (notable, combination) = columns.rank(&fields);
        let new = seen.insert((combination, is_wrong));
        dull = if new { 0 } else { dull + 1 };
        span.label = is_wrong.then_some(Label::WithErrors);
        let frame = at < HEAD_ROWS || at + TAIL_ROWS >= rows.len();
        let example = new && examples < max_examples && dull < MAX_DULL_ROWS;
        (span.rank, span.score) = match notable {
            _ if is_wrong && wrong_is_rare => (Rank::Must, 30_000),
            Some(columns::NotableRow::Rare) => (Rank::Must, 20_000),
            Some(columns::NotableRow::Extreme) => (Rank::Must, 10_000),
            Some(columns::NotableRow::Change) => (Rank::Frame, 1_000),
            None if frame => (Rank::Frame, 2_000),
            None if example => (Rank::Context, 100),
            None if many => (Rank::Filler, 1),
            None => (Rank::Context, 1),
        };
        if span.rank == Rank::Context && example && many {
            examples += 1;
        }
    }
    if many {
        short_gaps::close_short(spans);
        describe_columns(&columns, spans);
    }
}

/// Adds facts about the columns of all rows to the mark of the largest gap. The spans that carry the facts score
/// lowest, so that they are the last to be kept as a budget grows.
fn describe_columns(columns: &TableColumns, spans: &mut [LineSpan]) {
    let mut told = columns.descriptions();
    // A mark counts the lines of its gap, but facts about columns count all rows. Without the prefix, a mark over 165
    // lines would state `418 ok`.
    if let Some(first) = told.first_mut() {
        *first = format!("of all {} rows: {first}", spans.len());
    }
    // If several gaps are equally large, the first one is used.
    let gaps = spans.split_mut(|span| span.rank != Rank::Filler).rev();
    let carriers = gaps.max_by_key(|gap| gap.len()).unwrap_or_default();
    let first = carriers.len().saturating_sub(told.len());
    for (span, told) in carriers.iter_mut().skip(first).zip(told) {
        span.set_description(Some(told.into()));
        span.score = 0;
    }
}

#[cfg(test)]
mod tests;
