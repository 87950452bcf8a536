//! Compilers, build tools and package managers: each diagnostic with its place, totals; progress is left out.

pub(super) mod build_line;
pub(super) mod repeated_source;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::lines::TextLines;
use crate::sample::LineSample;
use crate::severity::{self, LogLevel};
use crate::span::{LineSpan, Rank};
use crate::template::{self, LineTemplates};

use super::diagnostic::{self, DiagnosticPart};
use super::progress::{is_progress, within_step};
use super::timestamp;
use build_line::{BuildLine, classify, strip_prefix};

/// Minimum lines of a run of progress that is folded.
const MIN_RUN: usize = 4;
/// Maximum lines of a template that stay whole, among lines of no other sort.
const MAX_WHOLE: u32 = 6;

pub(crate) fn vote(sample: &LineSample<'_>) -> u32 {
    let of_build = |line: &str| {
        let undated = line.get(timestamp::prefix_length(line)..).unwrap_or(line);
        let line = within_step(undated);
        line.len() < undated.len() || diagnostic::diagnostic_part(line).is_some() || is_progress(line)
    };
    let strong = |line: &str| {
        let line = strip_prefix(line);
        let said = [DiagnosticPart::Place, DiagnosticPart::Total, DiagnosticPart::Step];
        is_progress(line)
            || diagnostic::diagnostic_part(line)
                .is_some_and(|part| matches!(part, DiagnosticPart::Head(_)) || said.contains(&part))
    };
    let count = sample.count(strong);
    if count < 2 {
        return 0;
    }
    let share = sample.share(of_build);
    // What a page of words quotes is not its kind.
    let first = sample.lines.iter().position(|line| strong(line)).unwrap_or(0);
    if opens_page(&sample.lines, first) {
        return share / 3;
    }
    (share * 95 / 100).min(93).min(40 + count * 10)
}

/// Whether a page of words is opened above a line: by a fence, or by a heading with an empty line below it. (`#
/// a.test/b` is Go's heading of a package, `# Subtest: x` a remark of TAP.)
pub(super) fn opens_page(lines: &[&str], above: usize) -> bool {
    lines.iter().enumerate().take(above).any(|(at, line)| {
        let alone = || lines.get(at + 1).is_none_or(|next| next.trim().is_empty());
        line.starts_with("```")
            || line.starts_with("## ") && alone()
            || line.starts_with("# ") && !line.contains('/') && alone()
    })
}

pub(crate) fn spans(lines: &TextLines<'_>) -> Vec<LineSpan> {
    let mut read: Vec<BuildLine> = lines.iter().map(|line| classify(strip_prefix(line))).collect();
    classify_by_neighbours(lines, &mut read);
    let mut spans: Vec<LineSpan> =
        (0..lines.len()).map(|at| LineSpan::new(lines.span(at), Rank::Context)).collect();
    for (at, (span, is)) in spans.iter_mut().zip(&read).enumerate() {
        rank_line(span, *is, lines.get(at));
    }
    fold_progress(&read, &mut spans);
    repeated_source::fold_source(lines, &read, &mut spans);
    fold_repeats(lines, &read, &mut spans);
    fold_others(lines, &read, &mut spans);
    keep_last_line(lines, &mut spans);
    join_places(lines, &read, &mut spans);
    for span in spans.iter_mut().filter(|span| span.rank == Rank::Must && span.description().is_none()) {
        span.set_description(short_description(lines.text().get(span.range()).unwrap_or("")));
    }
    spans
}

/// Maximum bytes of a description in the mark of a gap.
const MAX_DESCRIPTION_BYTES: usize = 78;

/// The description of a diagnostic that a budget leaves out: its place, or all of it if it is short.
fn short_description(diagnostic: &str) -> Option<Cow<'static, str>> {
    let lines = || diagnostic.lines().map(|line| strip_prefix(line).trim());
    let of_rustc = lines().find_map(|line| line.strip_prefix("--> "));
    let place = of_rustc.or_else(|| lines().find_map(|line| line.get(..diagnostic::place_length(line)?)));
    let whole = lines().next().filter(|line| !line.is_empty() && line.len() <= MAX_DESCRIPTION_BYTES);
    let said = whole.filter(|whole| place.is_none_or(|place| whole.contains(place))).or(place)?;
    (said.len() <= MAX_DESCRIPTION_BYTES).then(|| said.to_owned().into())
}

/// Lines that are told by the next one: a message by the place below it, source by the marks below it.
fn classify_by_neighbours(lines: &TextLines<'_>, read: &mut [BuildLine]) {
    for at in 0..read.len().saturating_sub(1) {
        let line = lines.get(at);
        if read.get(at) != Some(&BuildLine::Other) || line.trim().is_empty() {
            continue;
        }
        let next = strip_prefix(lines.get(at + 1)).trim();
        let is = match read.get(at + 1) {
            Some(BuildLine::Part(DiagnosticPart::Place)) if next.starts_with("--> ") => {
                DiagnosticPart::Head(severity::level_of(line).unwrap_or(LogLevel::Warning))
            }
            Some(BuildLine::Part(DiagnosticPart::Code)) if next.starts_with(['^', '~']) => {
                DiagnosticPart::Code
            }
            // eslint and others name the file once, above its messages.
            Some(BuildLine::Part(DiagnosticPart::Head(_)))
                if !line.contains(' ')
                    && line.contains(['/', '.', '\\'])
                    && diagnostic::place_length(next).is_none()
                    && lines.get(at + 1).starts_with(' ') =>
            {
                DiagnosticPart::Place
            }
            _ => continue,
        };
        if let Some(slot) = read.get_mut(at) {
            *slot = BuildLine::Part(is);
        }
    }
}

fn rank_line(span: &mut LineSpan, is: BuildLine, line: &str) {
    (span.rank, span.score) = match is {
        BuildLine::Part(DiagnosticPart::Head(severity)) => {
            span.label = severity.label();
            (Rank::Must, 300 + 100 * severity as u16)
        }
        BuildLine::Part(DiagnosticPart::Place) => (Rank::Must, 450),
        BuildLine::Part(DiagnosticPart::Total) => (Rank::Must, 900),
        BuildLine::Part(DiagnosticPart::Step) => (Rank::Frame, 40),
        BuildLine::Part(DiagnosticPart::Help) => (Rank::Context, 30),
        BuildLine::Part(DiagnosticPart::Code) => (Rank::Context, 20),
        BuildLine::Progress => (Rank::Filler, 0),
        BuildLine::Other => match severity::level_of(line) {
            Some(LogLevel::Error) => (Rank::Must, 250),
            Some(LogLevel::Warning) => (Rank::Must, 150),
            _ => (Rank::Context, 10),
        },
    };
}

/// Folds runs of progress: the first and the last line stay.
fn fold_progress(read: &[BuildLine], spans: &mut [LineSpan]) {
    let mut at = 0;
    while at < read.len() {
        let run = read.iter().skip(at).take_while(|is| **is == BuildLine::Progress).count();
        for (nth, span) in spans.iter_mut().skip(at).take(run).enumerate() {
            if run < MIN_RUN || nth == 0 || nth + 1 == run {
                span.rank = if run < MIN_RUN { Rank::Context } else { Rank::Frame };
            }
        }
        at += run.max(1);
    }
}

/// A diagnostic: its lines, from what leads to it to the next or to what is no part of one, and where its message is.
struct DiagnosticLines {
    range: Range<usize>,
    head: usize,
}

fn find_diagnostics(lines: &TextLines<'_>, read: &[BuildLine]) -> Vec<DiagnosticLines> {
    let mut found: Vec<DiagnosticLines> = Vec::new();
    let (mut open, mut head): (Option<usize>, Option<usize>) = (None, None);
    for (at, is) in read.iter().enumerate() {
        let line = lines.get(at);
        let (heads, leads) =
            (matches!(is, BuildLine::Part(DiagnosticPart::Head(_))), diagnostic::is_lead(strip_prefix(line)));
        let stops =
            matches!(is, BuildLine::Part(DiagnosticPart::Total | DiagnosticPart::Step) | BuildLine::Progress)
                || line.trim().is_empty();
        if (heads || leads || stops)
            && let (Some(start), Some(at_head)) = (open, head)
        {
            found.push(DiagnosticLines { range: start..at, head: at_head });
            (open, head) = (None, None);
        }
        if stops {
            open = None;
        } else if heads || leads {
            open = open.or(Some(at));
            head = heads.then_some(at);
        }
    }
    if let (Some(start), Some(head)) = (open, head) {
        found.push(DiagnosticLines { range: start..read.len(), head });
    }
    found
}

/// A diagnostic that is the same to the last byte as one before it is a repeat: the first says how often it came.
fn fold_repeats(lines: &TextLines<'_>, read: &[BuildLine], spans: &mut [LineSpan]) {
    let mut seen: HashMap<u64, (usize, u32)> = HashMap::new();
    let (mut file, mut looked) = (0u64, 0);
    for DiagnosticLines { range, head } in find_diagnostics(lines, read) {
        let said = head..range.end;
        // Below a file's name the messages do not name it: the same words in another file are another message.
        for at in looked..head {
            if read.get(at) == Some(&BuildLine::Part(DiagnosticPart::Place)) {
                file = template::hash(lines.get(at).as_bytes());
            }
        }
        looked = head;
        let placed = diagnostic::place_length(strip_prefix(lines.get(head)).trim_start()).is_some();
        let key = said.fold(if placed { 0 } else { file }, |key, at| {
            key.rotate_left(9) ^ template::hash(strip_prefix(lines.get(at)).as_bytes())
        });
        let entry = seen.entry(key).or_insert((head, 0));
        entry.1 += 1;
        if entry.1 > 1 {
            for span in spans.get_mut(range).unwrap_or_default() {
                span.rank = Rank::Filler;
                span.score = 0;
            }
        }
    }
    for (first, count) in seen.into_values().filter(|(_, count)| *count > 1) {
        if let Some(span) = spans.get_mut(first) {
            span.set_note(Some(format!("⟨×{count} the same⟩").into()));
        }
    }
}

/// Other lines of one template: where there are many, the first and the last stay.
fn fold_others(lines: &TextLines<'_>, read: &[BuildLine], spans: &mut [LineSpan]) {
    let mut templates = LineTemplates::default();
    let said = |at: usize| severity::read_line(lines.get(at));
    let other = |at: usize| read.get(at) == Some(&BuildLine::Other) && !lines.get(at).trim().is_empty();
    let ids: Vec<Option<u32>> = (0..lines.len())
        .map(|at| {
            other(at).then(|| templates.learn(at, strip_prefix(lines.get(at)), said(at).weight() as u8))
        })
        .collect();
    for (at, id) in ids.into_iter().enumerate() {
        let Some(template) =
            id.and_then(|id| templates.get(id)).filter(|template| template.count > MAX_WHOLE)
        else {
            continue;
        };
        let Some(span) = spans.get_mut(at) else { continue };
        if template.first as usize == at {
            span.set_note(Some(format!("⟨×{}, last line {}⟩", template.count, template.last + 1).into()));
        } else if template.last as usize != at {
            span.rank = Rank::Filler;
            span.label = said(at).label();
        }
    }
}

/// A message and the place on its next line are one thing. Where the same message came before, the place alone says it.
fn join_places(lines: &TextLines<'_>, read: &[BuildLine], spans: &mut Vec<LineSpan>) {
    let mut said = HashSet::new();
    let (mut at, mut open) = (0, false);
    spans.dedup_by(|span, before| {
        at += 1;
        // The first is never the later of two.
        if at == 1 {
            open = is_new_message(lines, read, 0, before, &mut said);
        }
        if open && read.get(at) == Some(&BuildLine::Part(DiagnosticPart::Place)) && span.rank == Rank::Must {
            before.extend(span.range().end);
            open = false;
            return true;
        }
        open = is_new_message(lines, read, at, span, &mut said);
        false
    });
}

/// Whether a line is a message that was not there before, and so is one with its place.
fn is_new_message(
    lines: &TextLines<'_>,
    read: &[BuildLine],
    at: usize,
    span: &mut LineSpan,
    said: &mut HashSet<u64>,
) -> bool {
    if !matches!(read.get(at), Some(BuildLine::Part(DiagnosticPart::Head(_)))) || span.rank != Rank::Must {
        return false;
    }
    let new = said.insert(template::hash(strip_prefix(lines.get(at)).as_bytes()));
    let placed = read.get(at + 1) == Some(&BuildLine::Part(DiagnosticPart::Place));
    span.score -= if !new && placed { 250 } else { 0 };
    new
}

/// The last line that says anything is the tool's last word.
fn keep_last_line(lines: &TextLines<'_>, spans: &mut [LineSpan]) {
    let last = (0..lines.len()).rev().find(|at| !lines.get(*at).trim().is_empty());
    if let Some(span) = last.and_then(|at| spans.get_mut(at)) {
        span.rank = Rank::Must;
        span.score = span.score.max(850);
    }
}
