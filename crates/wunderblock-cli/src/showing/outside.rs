//! The parts of a report about content from outside the ledger, and about the provider's cache, cost and counts.

use crate::drawing::columns::{fit, pad, plural, wrap};
use crate::drawing::paint::Paint;
use crate::drawing::terminal::{clean, width};
use wunderblock::catalog::MicroDollars;
use wunderblock::{Built, CachePlan};
use wunderblock_core::instruction::{Finding, FindingKind};
use wunderblock_core::preamble::{Inclusion, PreambleBlock, PreambleChange};
use wunderblock_core::stub::grouped;
use wunderblock_core::units::Tokens;

/// Maximum number of listed texts per section without `-v`.
const LISTED: usize = 12;

/// Formats the cache, the cost and the provider's own count, one line each.
pub(crate) fn figures(built: &Built, paint: Paint, out: &mut String) {
    let indent = 16;
    let mut line = |name: &str, text: &str| {
        let wrapped = wrap(text, width(), indent);
        let lines: Vec<String> =
            wrapped.trim_end().lines().map(|line| paint.dim(line.trim_start())).collect();
        let joined = lines.join(&format!("\n{}", " ".repeat(indent)));
        out.push_str(&format!("  {} {joined}\n", pad(name, 13)));
    };
    if let Some(text) = cache_words(&built.draft.cache) {
        line("cache", &text);
    }
    if let (Some(cost), Some(whole)) = (built.draft.cache.cost, built.draft.cache.uncached_cost) {
        let (shown, plain) = (dollars(cost), dollars(whole));
        let sent = match cost.cmp(&whole) {
            std::cmp::Ordering::Equal => "to send",
            std::cmp::Ordering::Less => "to send with the cache",
            std::cmp::Ordering::Greater => "to send and to cache",
        };
        let plain = if cost == whole { String::new() } else { format!(", {plain} without a cache") };
        line("cost", &format!("about {shown} {sent}{plain}; the answer is extra"));
    }
    if let Some(anchor) = &built.draft.anchor {
        let (measured, since) = (grouped(anchor.measured.0), grouped(anchor.since.0));
        let model = clean(&anchor.model);
        line("measured", &format!("{measured} by {model} at #{}; about {since} added since", anchor.seq));
    }
}

/// Returns notes on the correction of the counts, on what the agent adds, and on how full the request is.
pub(crate) fn notes(built: &Built) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(percent) = built.draft.warned {
        notes.push(format!("warning: the request uses more than {percent} % of its limit"));
    }
    if let Some(learned) = &built.draft.calibration {
        let factor = format!("{}.{:03}", learned.per_mille / 1000, learned.per_mille % 1000);
        let replies = plural(learned.replies, "reply", "replies");
        notes.push(format!("estimates are calibrated: × {factor}, learned from {replies} of this model"));
    }
    if let Some(overhead) = &built.draft.overhead {
        let (tokens, replies) = (grouped(overhead.tokens.0), plural(overhead.replies, "reply", "replies"));
        let room = match built.draft.report.added {
            Tokens::ZERO => "--harness keeps room for them",
            _ => "room is kept for them",
        };
        notes.push(format!(
            "the agent adds about {tokens} tokens of system prompt and tools, learned from {replies}; {room}"
        ));
    }
    notes
}

/// Formats a price for people, to a hundredth of a cent.
pub(crate) fn dollars(price: MicroDollars) -> String {
    let hundredths = price.0.div_ceil(100);
    format!("${}.{:04}", hundredths / 10_000, hundredths % 10_000)
}

fn cache_words(cache: &CachePlan) -> Option<String> {
    let (same, all) = cache.common?;
    let kept =
        format!("begins with {} of the {} bytes of the request before", grouped(same.0), grouped(all.0));
    Some(match cache.is_cold {
        true => format!("{kept}; that one's time in the cache is over"),
        false => format!("{kept}: {} tokens expected in the cache", grouped(cache.expected.0)),
    })
}

/// Lists the preamble's blocks, the changes that wait for a step, and the findings about sources.
pub(crate) fn picture(built: &Built, paint: Paint, all: bool, out: &mut String) {
    let blocks = built.draft.preamble.as_ref().map_or(&[][..], |preamble| &preamble.blocks);
    if !blocks.is_empty() {
        out.push_str(&format!("\n{}\n", paint.bold("before the conversation")));
        for group in blocks.chunk_by(|a, b| a.section == b.section) {
            let most = if all { group.len() } else { LISTED };
            group.iter().take(most).for_each(|block| out.push_str(&block_line(block, built, paint)));
            out.push_str(&rest(group.len().saturating_sub(most), "; -v shows all", paint));
        }
    }
    changes("changed with this request", &built.draft.changes, paint, out);
    changes("waits for the lane's next step, or --now", &built.draft.pending, paint, out);
    if !built.draft.pending.is_empty() && built.draft.cache.expected > Tokens::ZERO {
        let expected = grouped(built.draft.cache.expected.0);
        let price = format!("  now it would cost the {expected} tokens expected in the cache");
        out.push_str(&format!("{}\n", paint.dim(&price)));
    }
    findings(&built.draft.findings, paint, all, out);
}

/// Returns a line about the entries that are not listed.
fn rest(left: usize, how: &str, paint: Paint) -> String {
    if left == 0 { String::new() } else { format!("  {}\n", paint.dim(&format!("and {left} more{how}"))) }
}

fn block_line(block: &PreambleBlock, built: &Built, paint: Paint) -> String {
    let tokens = built.draft.tokens_of(block).map_or_else(|| "—".to_owned(), |tokens| grouped(tokens.0));
    let level = block.level.map_or(block.authority.label(), |level| level.label());
    let shown = match block.shown {
        Inclusion::Whole => "",
        Inclusion::Cut => " · cut",
        Inclusion::Out => " · no room",
    };
    let about = format!("{level} · {}{shown}", clean(&block.reason.label()));
    let room = width().saturating_sub(28);
    let name = fit(&clean(&block.name), (room / 2).max(12));
    let about = fit(&about, room.saturating_sub(name.chars().count()).max(12));
    format!("  {} {tokens:>9}  {name}  {}\n", pad(block.section.name(), 13), paint.dim(&about))
}

fn changes(title: &str, changes: &[PreambleChange], paint: Paint, out: &mut String) {
    if changes.is_empty() {
        return;
    }
    out.push_str(&format!("\n{}\n", paint.bold(title)));
    for change in changes.iter().take(LISTED) {
        let (section, name) = (change.section.name(), clean(&change.name));
        out.push_str(&format!("  {section:<13} {name} {}\n", change.how.label()));
    }
    out.push_str(&rest(changes.len().saturating_sub(LISTED), "", paint));
}

fn findings(findings: &[Finding], paint: Paint, all: bool, out: &mut String) {
    if findings.is_empty() {
        return;
    }
    let count = plural(findings.len() as u64, "thing", "things");
    out.push_str(&format!("\n{}\n", paint.bold(&format!("{count} to know about the sources"))));
    let most = if all { findings.len() } else { LISTED };
    for finding in findings.iter().take(most) {
        let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        let text = format!("{}{line}: {}", clean(&finding.source), clean(&finding.detail));
        let indent = 14;
        let wrapped = wrap(&text, width(), indent);
        let first = wrapped.get(indent..).unwrap_or_default();
        out.push_str(&format!("  {:<11} {first}", word(finding.what)));
    }
    out.push_str(&rest(findings.len().saturating_sub(most), "; -v shows all", paint));
}

/// Returns the kind of a finding as a word.
pub(crate) const fn word(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Refused => "refused",
        FindingKind::Conflict => "conflict",
        FindingKind::Replaced => "replaced",
        FindingKind::Unusable => "unusable",
        FindingKind::Ignored => "ignored",
        FindingKind::Repeated => "repeated",
        FindingKind::Deferred => "deferred",
        FindingKind::NoRoom => "no room",
    }
}
