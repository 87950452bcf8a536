//! Plans and their application, as Terraform and OpenTofu print them.

use std::collections::{HashMap, HashSet};

use crate::label::Label;
use crate::lines::TextLines;
use crate::readers::fingerprint;
use crate::span::{LineSpan, Rank};

/// Maximum number of equal blocks that are shown.
const MAX_SHOWN: u32 = 2;

/// Whether only a plan or its application says such a line.
pub(super) fn is_plan(line: &str) -> bool {
    is_total(line)
        || header_address(line).is_some()
        || line.starts_with("Terraform will perform")
        || line.starts_with("OpenTofu will perform")
        || line.starts_with("Terraform used the selected providers")
        || line.starts_with("OpenTofu used the selected providers")
}

/// Whether a line tells of one step for one resource.
pub(super) fn is_step(line: &str) -> bool {
    step_parts(line).is_some()
}

fn is_total(line: &str) -> bool {
    ["Plan: ", "Apply complete!", "Destroy complete!", "No changes."]
        .iter()
        .any(|start| line.starts_with(start))
}

/// The address of a resource that will be, or was, changed: `  # a.b["c"] will be created`.
fn header_address(line: &str) -> Option<&str> {
    const CHANGES: [&str; 9] = [
        " will be ",
        " must be ",
        " is tainted",
        " has changed",
        " has been ",
        " has moved to ",
        " will no longer be managed",
        " (deposed object ",
        " was ",
    ];
    let rest = line.trim_start_matches(' ').strip_prefix("# ")?;
    let end = CHANGES.iter().filter_map(|fate| rest.find(fate)).min()?;
    let address = rest.get(..end)?;
    (address.contains('.') && !address.split('[').next()?.contains(' ')).then_some(address)
}

/// The address and what is done: `a.b: Creating...`.
fn step_parts(line: &str) -> Option<(&str, &str)> {
    const STEPS: [&str; 14] = [
        "Creating...",
        "Creation complete",
        "Destroying...",
        "Destruction complete",
        "Modifying...",
        "Modifications complete",
        "Refreshing state...",
        "Reading...",
        "Read complete",
        "Still ",
        "Refresh complete",
        "Preparing import",
        "Importing...",
        "Import complete",
    ];
    let (address, says) = line.split_once(": ")?;
    let known = STEPS.iter().find(|step| says.starts_with(**step))?;
    (address.contains('.') && !address.starts_with(' ')).then_some((address, known))
}

pub(super) fn rank_plan(lines: &TextLines<'_>, spans: &mut [LineSpan]) {
    let mut named: HashSet<&str> = HashSet::new();
    let mut steps: HashMap<&str, u32> = HashMap::new();
    let mut blocks: HashMap<u64, u32> = HashMap::new();
    let mut boxed = false;
    let mut at = 0;
    while at < lines.len() {
        let line = lines.get(at);
        if let Some(address) = header_address(line) {
            named.insert(address);
            let end = block_end(lines, at);
            rank_block(lines, at..end, address, &mut blocks, spans);
            at = end;
            continue;
        }
        boxed = (boxed || line.starts_with('╷')) && !line.starts_with('╵');
        let (rank, score, label) = rank_outside_line(line, boxed, &named, &mut steps);
        if let Some(span) = spans.get_mut(at) {
            (span.rank, span.score, span.label) = (rank, score, label);
        }
        at += 1;
    }
}

fn rank_outside_line<'t>(
    line: &'t str,
    boxed: bool,
    named: &HashSet<&'t str>,
    steps: &mut HashMap<&'t str, u32>,
) -> (Rank, u16, Option<Label>) {
    if is_total(line) {
        return (Rank::Must, u16::MAX, None);
    }
    let trimmed = line.trim_start_matches(['│', ' ']);
    if trimmed.starts_with("Error: ") || (boxed && trimmed.starts_with("with ")) || line.starts_with("Error")
    {
        return (Rank::Must, 40_000, None);
    }
    if boxed {
        return (Rank::Frame, 500, None);
    }
    if let Some((address, step)) = step_parts(line) {
        let seen = steps.entry(step).or_default();
        *seen += 1;
        let result = step.ends_with("complete") && step != "Read complete" && step != "Refresh complete";
        return if *seen <= 2 {
            (Rank::Frame, 100, None)
        } else if result && !named.contains(address) {
            (Rank::Must, 5_000, None)
        } else {
            (Rank::Filler, 0, Some(if result { Label::Complete } else { Label::Progress }))
        };
    }
    if line.starts_with("Outputs:") || line.starts_with("Changes to Outputs:") {
        return (Rank::Frame, 1_000, None);
    }
    if line.trim_start().starts_with(['+', '-', '~']) {
        return (Rank::Context, 500, None);
    }
    (Rank::Context, if line.trim().is_empty() { 0 } else { 50 }, None)
}

/// The end of a resource's block: after the line that closes it.
fn block_end(lines: &TextLines<'_>, start: usize) -> usize {
    let mut at = start + 1;
    while at < lines.len() {
        let line = lines.get(at);
        if header_address(line).is_some() || is_total(line) {
            // A second remark on the same resource belongs to it.
            return at;
        }
        at += 1;
        if line == "    }" || line == "}" {
            return at;
        }
        if line.trim().is_empty() && at > start + 2 && !lines.get(at).starts_with([' ', '\t']) {
            return at;
        }
    }
    at
}

/// Ranks a block and its changes: one that repeats earlier blocks for another resource is filler except its head.
fn rank_block(
    lines: &TextLines<'_>,
    rows: std::ops::Range<usize>,
    address: &str,
    blocks: &mut HashMap<u64, u32>,
    spans: &mut [LineSpan],
) {
    let key = address.split_once('[').map_or("", |(_, key)| key.trim_end_matches(']').trim_matches('"'));
    let named = key.len() > 1 && !key.bytes().all(|byte| byte.is_ascii_digit());
    let mut signature = 0u64;
    for at in rows.clone().skip(1) {
        let line = lines.get(at);
        let said = if named && line.contains(key) {
            fingerprint::masked_hash(&line.replace(key, ""))
        } else {
            fingerprint::masked_hash(line)
        };
        // What stays as it is may differ from one resource to the next.
        if line.trim_start().starts_with(['+', '-', '~', '}', '#', ']']) || line.contains("->") {
            signature = signature.rotate_left(5) ^ said;
        }
    }
    let resource = address.split('[').next().unwrap_or(address);
    let seen = blocks.entry(signature ^ fingerprint::exact_hash(resource)).or_default();
    *seen += 1;
    let again = *seen > MAX_SHOWN;
    for at in rows.clone() {
        let line = lines.get(at);
        let trimmed = line.trim_start();
        let (rank, score) = if at == rows.start {
            (Rank::Must, 60_000)
        } else if again {
            (Rank::Filler, 1)
        } else if line.contains("# forces replacement") {
            (Rank::Must, 55_000)
        } else if trimmed.starts_with("~ ") || line.contains(" -> ") {
            (Rank::Must, 52_000)
        } else if trimmed.starts_with("-/+") || trimmed.starts_with("+/-") {
            (Rank::Must, 25_000)
        } else if trimmed.starts_with(['+', '-']) {
            (Rank::Context, 1_000)
        } else {
            (Rank::Context, 10)
        };
        if let Some(span) = spans.get_mut(at) {
            (span.rank, span.score) = (rank, score);
            span.label = (again && at == rows.start + 1).then_some(Label::AsAbove);
        }
    }
}
