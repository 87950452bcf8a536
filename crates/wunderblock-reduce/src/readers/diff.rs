//! Unified diffs, alone or in a log of commits.

mod diff_line;

use std::ops::Range;

use crate::part::PartOfList;
use crate::result::label::Label;
use crate::spans::span::{LineSpan, Rank};
use crate::text::lines::TextLines;
use crate::text::sample::LineSample;

use super::line::fingerprint;
use diff_line::{DiffLine, DiffParser};

/// Maximum distance at which an unchanged line still explains a change (`diff -u` shows three lines by default).
const NEAR_LINES: usize = 3;
/// Maximum length of a changed line that is shown whole, in bytes. People do not read longer lines of code.
const MAX_LINE_BYTES: usize = 1_000;
/// Number of bytes of a longer line that are shown.
const HEAD_BYTES: usize = 240;

pub(crate) fn vote(sample: &LineSample<'_>) -> u32 {
    let mut reader = DiffParser::default();
    let mut stats = 0u32;
    let (mut said, mut known, mut places, mut changed, mut commits) = (0u32, 0u32, 0u32, 0u32, 0u32);
    for text in &sample.lines {
        let line = reader.read(text);
        said += u32::from(!text.trim().is_empty());
        places += u32::from(matches!(line, DiffLine::Place | DiffLine::File));
        changed += u32::from(matches!(line, DiffLine::Added | DiffLine::Removed));
        commits += u32::from(line == DiffLine::Commit);
        stats += u32::from(line == DiffLine::Stat);
        let loose = diff_line::is_body(text);
        known += u32::from(!text.trim().is_empty() && (line != DiffLine::Other || loose));
    }
    // The middle of the sample may lie within one hunk. Lines that look like lines of a hunk count too, but a diff
    // must also have a header.
    let share = known * 100 / said.max(1);
    let whole = (places >= 1 && changed >= 1) || places >= 3 || commits >= 2 || stats >= 3;
    match share {
        _ if !whole => 0,
        97.. => 96,
        90.. => 82,
        75.. => 55,
        _ => 0,
    }
}

pub(crate) fn spans(lines: &TextLines<'_>) -> Vec<LineSpan> {
    let mut reader = DiffParser::default();
    let kinds: Vec<DiffLine> = lines.iter().map(|text| reader.read(text)).collect();
    let mut spans = Vec::with_capacity(kinds.len());
    let mut at = 0;
    let mut generated = false;
    while let Some(kind) = kinds.get(at) {
        if *kind == DiffLine::Place {
            let end = hunk_end(&kinds, at);
            rank_hunk(lines, kinds.part(at..end), at..end, generated, &mut spans);
            at = end;
            continue;
        }
        let text = lines.get(at);
        if matches!(kind, DiffLine::File | DiffLine::Commit) {
            generated = *kind == DiffLine::File && is_generated(text);
        }
        generated |= *kind == DiffLine::Path && is_generated(text);
        spans.push(rank_header(lines, at, *kind));
        at += 1;
    }
    spans
}

/// Ranks a line outside hunks.
fn rank_header(lines: &TextLines<'_>, at: usize, kind: DiffLine) -> LineSpan {
    let (rank, score) = match kind {
        DiffLine::File | DiffLine::Commit => (Rank::Must, u16::MAX),
        DiffLine::Subject => (Rank::Must, u16::MAX - 1),
        DiffLine::FileChange => (Rank::Must, u16::MAX - 2),
        DiffLine::Path => (Rank::Frame, 100),
        DiffLine::Total => (Rank::Must, 300),
        DiffLine::Stat => (Rank::Frame, 1_000),
        DiffLine::Person => (Rank::Frame, 50),
        DiffLine::Message => (Rank::Context, 500),
        DiffLine::Index => (Rank::Context, 1),
        _ => (Rank::Context, 100),
    };
    LineSpan::new(lines.span(at), rank).scored(score)
}

fn hunk_end(kinds: &[DiffLine], at: usize) -> usize {
    let body = kinds.iter().skip(at + 1);
    at + 1
        + body
            .take_while(|kind| {
                matches!(kind, DiffLine::Added | DiffLine::Removed | DiffLine::Same | DiffLine::NoNewline)
            })
            .count()
}

fn rank_hunk(
    lines: &TextLines<'_>,
    kinds: &[DiffLine],
    rows: Range<usize>,
    generated: bool,
    spans: &mut Vec<LineSpan>,
) {
    let is_changed = |kind: &DiffLine| matches!(kind, DiffLine::Added | DiffLine::Removed);
    if generated {
        let count = |such: DiffLine| kinds.iter().filter(|kind| **kind == such).count();
        let told = format!("generated: +{} −{}", count(DiffLine::Added), count(DiffLine::Removed));
        for (at, kind) in rows.clone().zip(kinds) {
            let label = is_changed(kind).then_some(Label::Changed);
            let told = (at == rows.start).then(|| told.clone().into());
            spans.push(LineSpan::new(lines.span(at), Rank::Filler).labelled(label).described(told));
        }
        return;
    }
    let near = distances_to_nearest(kinds.iter().map(is_changed));
    // Early lines of each hunk score higher than late lines of any hunk, so that a budget shows some of each.
    let mut changed = 0u16;
    for ((at, kind), far) in rows.zip(kinds).zip(near) {
        let range = lines.span(at);
        match kind {
            // A hunk header says nothing without changed lines, so it scores lower than those lines do.
            DiffLine::Place => spans.push(LineSpan::new(range, Rank::Must)),
            DiffLine::Added | DiffLine::Removed => {
                changed = changed.saturating_add(1);
                let span = LineSpan::new(range, Rank::Must);
                let span = span.scored(40_000 - changed.min(30_000)).labelled(Label::Changed);
                changed_line(lines, at, span, spans);
            }
            _ => {
                let rank = if far > NEAR_LINES { Rank::Filler } else { Rank::Context };
                let score =
                    2_000u16.saturating_sub(u16::try_from(far).unwrap_or(u16::MAX).saturating_mul(100));
                spans.push(LineSpan::new(range, rank).scored(score));
            }
        }
    }
}

/// Adds the span of a changed line. If a changed line is as long as minified code, only its head keeps its rank.
fn changed_line(lines: &TextLines<'_>, at: usize, span: LineSpan, spans: &mut Vec<LineSpan>) {
    let text = lines.get(at);
    if text.len() <= MAX_LINE_BYTES {
        spans.push(span);
        return;
    }
    let Range { start, end } = span.range();
    let cut = start + fingerprint::truncate(text, HEAD_BYTES).len();
    let told = Some(format!("rest of a line, {}", fingerprint::describe_size(text.len())).into());
    spans.push(span.with_range(start..cut));
    spans.push(LineSpan::new(cut..end, Rank::Filler).described(told));
}

/// Returns the distance of each element from the nearest `true` element, on either side.
fn distances_to_nearest(such: impl Iterator<Item = bool>) -> Vec<usize> {
    let mut far = Vec::new();
    let mut since = usize::MAX;
    for such in such {
        since = if such { 0 } else { since.saturating_add(1) };
        far.push(since);
    }
    let mut until = usize::MAX;
    for slot in far.iter_mut().rev() {
        until = if *slot == 0 { 0 } else { until.saturating_add(1) };
        *slot = (*slot).min(until);
    }
    far
}

/// Returns whether a header names a file that a program writes: lock files, minified code, generated code.
fn is_generated(header: &str) -> bool {
    const NAMES: [&str; 17] = [
        "package-lock.json",
        "npm-shrinkwrap.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "Cargo.lock",
        "poetry.lock",
        "uv.lock",
        "Pipfile.lock",
        "Gemfile.lock",
        "composer.lock",
        "go.sum",
        "flake.lock",
        "mix.lock",
        "pubspec.lock",
        "Podfile.lock",
        "bun.lock",
        "packages.lock.json",
    ];
    const ENDS: [&str; 9] = [
        ".min.js",
        ".min.css",
        ".js.map",
        ".css.map",
        ".pb.go",
        "_pb2.py",
        ".pb.cc",
        ".pb.h",
        ".generated.ts",
    ];
    header.split([' ', '\t']).any(|path| {
        let path = path.trim_matches('"');
        let name = path.rsplit('/').next().unwrap_or(path);
        NAMES.contains(&name) || ENDS.iter().any(|end| name.ends_with(end))
    })
}

#[cfg(test)]
mod tests;
