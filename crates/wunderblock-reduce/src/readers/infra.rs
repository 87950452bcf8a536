//! The output of infrastructure tools: plans and their application, plays, tables and descriptions of resources.

mod ansible;
mod kube;
mod terraform;

use std::borrow::Cow;
use std::ops::Range;

use crate::lines::TextLines;
use crate::sample::LineSample;
use crate::span::{LineSpan, Rank};

use super::fingerprint;

/// Minimum length of a run of lines that are alike.
const MIN_RUN: usize = 7;
/// Lines of a run that stay at its start; one stays at its end.
const FIRST_LINES: usize = 3;
/// Bytes of a line with a long result that stay.
const HEAD_BYTES: usize = 160;

/// The tool that wrote a text of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InfraTool {
    Terraform,
    Ansible,
    Table,
    Description,
    Images,
}

pub(crate) fn vote(sample: &LineSample<'_>) -> u32 {
    detect_tool(&sample.lines).map_or(0, |(_, vote)| vote)
}

fn detect_tool(lines: &[&str]) -> Option<(InfraTool, u32)> {
    let bare: Vec<Cow<'_, str>> = lines.iter().map(|line| strip_colours(line)).collect();
    let count = |such: &dyn Fn(&str) -> bool| bare.iter().filter(|line| such(line)).count();
    let said = count(&|line| !line.trim().is_empty()).max(1);
    let heads = count(&ansible::is_head);
    if heads >= 2 {
        return Some((InfraTool::Ansible, 95));
    }
    let (plans, steps) = (count(&terraform::is_plan), count(&terraform::is_step));
    if plans >= 2 || steps * 2 >= said || (plans >= 1 && steps >= 2) {
        return Some((InfraTool::Terraform, 94));
    }
    // Errors and warnings in their frames, as they stand alone where a plan was not made.
    let framed = count(&|line| line.starts_with("│ Error: ") || line.starts_with("│ Warning: "));
    if framed >= 1 && count(&|line| line.starts_with('╷')) >= framed {
        return Some((InfraTool::Terraform, 90));
    }
    let first = bare.iter().find(|line| !line.trim().is_empty())?;
    let rows = count(&|line| kube::count_columns(line) >= 3);
    if kube::is_header(first) && rows * 100 >= said * 85 && said >= 3 {
        return Some((InfraTool::Table, 87));
    }
    if kube::is_described(&bare) {
        return Some((InfraTool::Description, 82));
    }
    let layers = count(&is_layer);
    (layers >= 4 && layers * 10 >= said * 4).then_some((InfraTool::Images, 74))
}

pub(crate) fn spans(lines: &TextLines<'_>) -> Vec<LineSpan> {
    let sample = LineSample::of(lines.text());
    let mut spans: Vec<LineSpan> =
        (0..lines.len()).map(|line| LineSpan::new(lines.span(line), Rank::Context)).collect();
    match detect_tool(&sample.lines) {
        Some((InfraTool::Terraform, _)) => terraform::rank_plan(lines, &mut spans),
        Some((InfraTool::Ansible, _)) => ansible::rank_plays(lines, &mut spans),
        Some((InfraTool::Table, _)) => kube::rank_table(lines, &mut spans),
        Some((InfraTool::Description, _)) => kube::rank_description(lines, &mut spans),
        Some((InfraTool::Images, _)) => rank_images(lines, &mut spans),
        None => spans.iter_mut().zip(lines.iter()).for_each(|(span, line)| rank_line(span, line)),
    }
    fold_runs(lines, &mut spans);
    cut_long(lines, spans)
}

/// A line of a tool that is not known: what went wrong must stay.
fn rank_line(span: &mut LineSpan, line: &str) {
    if fingerprint::mentions_failure(line) {
        (span.rank, span.score) = (Rank::Must, 10_000);
    }
}

/// Progress of layers and build steps.
fn is_layer(line: &str) -> bool {
    const SAYS: [&str; 9] = [
        ": Pulling fs layer",
        ": Waiting",
        ": Downloading",
        ": Download complete",
        ": Extracting",
        ": Pull complete",
        ": Verifying Checksum",
        ": Already exists",
        ": Layer already exists",
    ];
    let line = line.trim_start();
    SAYS.iter().any(|says| line.contains(says))
        || line.contains(" Pulling ")
        || line.contains(" extracting sha256:")
        || line.contains(": Pushed")
}

fn rank_images(lines: &TextLines<'_>, spans: &mut [LineSpan]) {
    for (span, line) in spans.iter_mut().zip(lines.iter()) {
        (span.rank, span.score) = match line {
            line if fingerprint::mentions_failure(line) => (Rank::Must, 30_000),
            line if line.contains("Digest:") || line.contains("Status:") || line.contains("Successfully") => {
                (Rank::Must, 20_000)
            }
            line if is_layer(line) => (Rank::Filler, 0),
            _ => (Rank::Context, 100),
        };
    }
}

/// Folds lines in a row that differ by counters only: the first and the last stay.
fn fold_runs(lines: &TextLines<'_>, spans: &mut [LineSpan]) {
    let shapes: Vec<u64> = lines.iter().map(fingerprint::masked_hash).collect();
    let mut start = 0;
    for at in 1..=shapes.len() {
        if at < shapes.len() && shapes.get(at) == shapes.get(start) {
            continue;
        }
        if at - start >= MIN_RUN && !lines.get(start).trim().is_empty() {
            for span in spans.iter_mut().take(at - 1).skip(start + FIRST_LINES) {
                if span.rank <= Rank::Context {
                    (span.rank, span.score) = (Rank::Filler, 1);
                }
            }
        }
        start = at;
    }
}

/// Cuts lines with a long result, so that only their start keeps its rank; failures are shown at greater length.
fn cut_long(lines: &TextLines<'_>, spans: Vec<LineSpan>) -> Vec<LineSpan> {
    if spans.iter().all(|span| span.range().len() <= 2 * HEAD_BYTES) {
        return spans;
    }
    let mut cut = Vec::with_capacity(spans.len());
    for span in spans {
        let text = lines.text().get(span.range()).unwrap_or("");
        let line = text.trim_end_matches(['\n', '\r']);
        let wrong = span.rank == Rank::Must && span.score >= 30_000;
        let room = if wrong { 12 * HEAD_BYTES } else { HEAD_BYTES };
        if line.len() <= room + HEAD_BYTES || span.rank == Rank::Filler {
            cut.push(span);
            continue;
        }
        // A result in braces goes as a whole.
        let result = line.find("=> {").map(|at| at + "=> ".len()).filter(|at| !wrong && *at < room);
        let Range { start, end } = span.range();
        let at = start + result.unwrap_or_else(|| fingerprint::truncate(line, room).len());
        let rest = LineSpan::new(at..end, if wrong { Rank::Context } else { Rank::Filler });
        cut.push(span.with_range(start..at));
        cut.push(rest);
    }
    cut
}

/// A line without colours.
fn strip_colours(line: &str) -> Cow<'_, str> {
    if !line.contains('\x1b') {
        return line.into();
    }
    let mut plain = String::with_capacity(line.len());
    let mut parts = line.split("\x1b[");
    plain.push_str(parts.next().unwrap_or(""));
    for part in parts {
        let code = part.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
        plain.push_str(part.get(code + 1..).unwrap_or(""));
    }
    plain.into()
}

#[cfg(test)]
mod tests;
