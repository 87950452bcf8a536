//! The output of compilers, linters, build tools and package managers. Diagnostics stay with their places, in groups,
//! and totals stay too. Progress is left out.

mod groups;

use crate::part::{PartOfList, PartOfText};
use std::borrow::Cow;

use crate::rules::{self, BuildLine};
use crate::spans::span::{LineSpan, Rank};
use crate::text::lines::TextLines;
use crate::text::sample::LineSample;
use crate::text::severity::{self, LogLevel};
use crate::text::template::LineTemplates;

use super::line::build_line::strip_prefix;
use super::line::diagnostic::{self, Diagnostic};
use super::line::{alike, timestamp};

/// Minimum number of lines in a run of progress that is folded.
const MIN_RUN: usize = 4;
/// Maximum number of lines without a class that share a template and all stay.
const MAX_WHOLE: u32 = 6;

/// Maximum vote for a build. `SHARE_PERCENT` turns the share of build lines into a vote.
pub(crate) const MAX_VOTE: u32 = 93;
const SHARE_PERCENT: usize = 95;

/// Returns how certain it is that a text is the output of a build. Returns 0 as soon as it is certain that the vote
/// is less than `least`.
pub(crate) fn vote(sample: &LineSample<'_>, least: u32) -> u32 {
    let rules = rules::build();
    let said = sample.count(|line| !line.trim().is_empty()).max(1) as usize;
    let max_other = said - (least as usize * said / SHARE_PERCENT).min(said);
    let mut other = 0;
    let mut classes: Vec<Option<BuildLine>> = Vec::with_capacity(sample.lines.len());
    for line in &sample.lines {
        let bare = strip_prefix(line);
        let class = rules.stated_class(bare);
        let of_build = class.is_some() || bare.len() < line.len() - timestamp::prefix_length(line);
        other += usize::from(!of_build && !line.trim().is_empty());
        if other > max_other {
            return 0;
        }
        classes.push(class);
    }
    let strong = |class: &Option<BuildLine>| matches!(class, Some(class) if !matches!(class, BuildLine::Code | BuildLine::Note | BuildLine::Lead));
    let count = classes.iter().filter(|class| strong(class)).count() as u32;
    if count < 2 {
        return 0;
    }
    let share = (said - other) * 100 / said;
    // A page of words that quotes a build is not the output of a build.
    let first = classes.iter().position(strong).unwrap_or(0);
    if opens_page(&sample.lines, first) {
        return share as u32 / 3;
    }
    ((share * SHARE_PERCENT / 100) as u32).min(MAX_VOTE).min(40 + count * 10)
}

/// Returns whether a page of words begins above a line, with a fence or with a heading that precedes an empty line.
/// `# a.test/b` is the heading of a package in Go's output, and `# Subtest: x` is a remark in TAP.
pub(super) fn opens_page(lines: &[&str], above: usize) -> bool {
    lines.iter().enumerate().take(above).any(|(at, line)| {
        let alone = || lines.get(at + 1).is_none_or(|next| next.trim().is_empty());
        line.starts_with("```")
            || line.starts_with("## ") && alone()
            || line.starts_with("# ") && !line.contains('/') && alone()
    })
}

pub(crate) fn spans(lines: &TextLines<'_>) -> Vec<LineSpan> {
    let classes = diagnostic::classify(lines);
    let mut spans: Vec<LineSpan> =
        (0..lines.len()).map(|at| LineSpan::new(lines.span(at), Rank::Context)).collect();
    for ((span, class), line) in spans.iter_mut().zip(&classes).zip(lines.iter()) {
        rank_line(span, *class, line);
    }
    fold_progress(&classes, &mut spans);
    fold_others(lines, &classes, &mut spans);
    keep_last_line(lines, &mut spans);
    for span in spans.iter_mut().filter(|span| span.rank == Rank::Must) {
        span.set_description(short_description(lines.text().part(span.range())));
    }
    group_diagnostics(lines, &classes, spans)
}

/// Replaces the spans of consecutive diagnostics with groups where the groups are shorter.
fn group_diagnostics(
    lines: &TextLines<'_>,
    classes: &[Option<BuildLine>],
    spans: Vec<LineSpan>,
) -> Vec<LineSpan> {
    let found = diagnostic::find(lines, classes);
    let adjoin = |one: &Diagnostic<'_>, next: &Diagnostic<'_>| one.lines.end == next.lines.start;
    let mut grouped = Vec::with_capacity(spans.len());
    let mut spans = spans.into_iter().enumerate().peekable();
    for run in found.chunk_by(adjoin) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
        let Some(groups) = groups::spans(lines, run) else { continue };
        while let Some((_, span)) = spans.next_if(|(at, _)| *at < first.lines.start) {
            grouped.push(span);
        }
        while spans.next_if(|(at, _)| *at < last.lines.end).is_some() {}
        grouped.extend(groups);
    }
    grouped.extend(spans.map(|(_, span)| span));
    grouped
}

/// Maximum number of bytes of a description in the mark of a gap.
const MAX_DESCRIPTION_BYTES: usize = 78;

/// Returns the description of a diagnostic that a budget leaves out: its place, or its whole first line if the line
/// is short.
fn short_description(diagnostic: &str) -> Option<Cow<'static, str>> {
    let lines = || diagnostic.lines().map(|line| strip_prefix(line).trim());
    let of_rustc = lines().find_map(|line| line.strip_prefix("--> "));
    let place = of_rustc.or_else(|| lines().find_map(|line| line.get(..diagnostic::place_length(line)?)));
    let whole = lines().next().filter(|line| !line.is_empty() && line.len() <= MAX_DESCRIPTION_BYTES);
    let said = whole.filter(|whole| place.is_none_or(|place| whole.contains(place))).or(place)?;
    (said.len() <= MAX_DESCRIPTION_BYTES).then(|| said.to_owned().into())
}

fn rank_line(span: &mut LineSpan, class: Option<BuildLine>, line: &str) {
    (span.rank, span.score) = match class {
        Some(BuildLine::Diagnostic(severity)) => {
            span.label = severity.label();
            (Rank::Must, 300 + 100 * severity as u16)
        }
        Some(BuildLine::Place | BuildLine::File) => (Rank::Must, 450),
        Some(BuildLine::Total) => (Rank::Must, 900),
        Some(BuildLine::Step) => (Rank::Frame, 40),
        Some(BuildLine::Note) => (Rank::Context, 30),
        Some(BuildLine::Code) => (Rank::Context, 20),
        Some(BuildLine::Progress) => (Rank::Filler, 0),
        Some(BuildLine::Lead) | None => match severity::level_of(line) {
            Some(LogLevel::Error) => (Rank::Must, 250),
            Some(LogLevel::Warning) => (Rank::Must, 150),
            _ => (Rank::Context, 10),
        },
    };
}

/// Folds runs of progress. The first and the last line of a run stay.
fn fold_progress(classes: &[Option<BuildLine>], spans: &mut [LineSpan]) {
    let mut at = 0;
    for run in classes.chunk_by(|one, next| one == next) {
        let (end, last) = (at + run.len(), run.len().saturating_sub(1));
        if run.first() == Some(&Some(BuildLine::Progress)) {
            for (nth, span) in spans.part_mut(at..end).iter_mut().enumerate() {
                if run.len() < MIN_RUN {
                    span.rank = Rank::Context;
                } else if nth == 0 || nth == last {
                    span.rank = Rank::Frame;
                }
            }
        }
        at = end;
    }
}

/// Folds lines without a class. If many lines have the same template, the first and the last stay.
fn fold_others(lines: &TextLines<'_>, classes: &[Option<BuildLine>], spans: &mut [LineSpan]) {
    let mut templates = LineTemplates::default();
    let id = |(at, (line, class)): (usize, (&str, &Option<BuildLine>))| {
        let weight = || severity::read_line(line).weight() as u8;
        let other = class.is_none() && !line.trim().is_empty();
        other.then(|| templates.learn(at, strip_prefix(line), weight()))
    };
    let ids: Vec<Option<u32>> = lines.iter().zip(classes).enumerate().map(id).collect();
    let notes = alike::notes(lines, &templates, ids.iter().copied(), |template| template.count > MAX_WHOLE);
    for (at, (id, span)) in ids.into_iter().zip(spans).enumerate() {
        let template = id.and_then(|id| templates.get(id)).filter(|template| template.count > MAX_WHOLE);
        let Some(template) = template else { continue };
        if template.first as usize == at {
            span.set_note(id.and_then(|id| notes.get(&id)).map(|note| note.as_str().into()));
        } else if template.last as usize != at {
            span.rank = Rank::Filler;
            span.label = severity::read_line(lines.get(at)).label();
        }
    }
}

/// Keeps the last line with text, because it is the final statement of the tool.
fn keep_last_line(lines: &TextLines<'_>, spans: &mut [LineSpan]) {
    let last = (0..lines.len()).rev().find(|at| !lines.get(*at).trim().is_empty());
    if let Some(span) = last.and_then(|at| spans.item_mut(at)) {
        span.rank = Rank::Must;
        span.score = span.score.max(850);
    }
}
