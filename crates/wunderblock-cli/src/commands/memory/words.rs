//! Words about memories and proposals, for people.

use crate::drawing::columns::wrap;
use crate::drawing::paint::Paint;
use crate::drawing::terminal::{clean, width};
use crate::output::console::{age, time};
use crate::output::exit::Failure;
use wunderblock::{MemoryDescription, MemoryName, MemoryOutcome, MemoryWritten, ProposalDescription};
use wunderblock_core::memory::HoldReason;

/// Number of columns by which the text of a memory is indented.
const INDENT: usize = 4;

/// Returns a memory as a person reads it in a list: a line about it, and its text.
pub(super) fn memory(memory: &MemoryDescription) -> String {
    let paint = Paint::stdout();
    let scope = &memory.scope;
    let whose = match (&scope.user, &scope.project) {
        (Some(user), Some(_)) => clean(user),
        (Some(user), None) => format!("{}, everywhere", clean(user)),
        (None, Some(_)) => "shared".to_owned(),
        (None, None) => "shared, everywhere".to_owned(),
    };
    let state = if memory.state == "current" { String::new() } else { format!(" · {}", memory.state) };
    let by = memory.superseded_by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
    let pinned = if memory.pinned { " · pinned" } else { "" };
    let tags: String = memory.tags.iter().map(|tag| format!(" #{}", clean(tag))).collect();
    let line = format!("{} · {whose} · {}{state}{by}{pinned}{tags}", memory.kind, age(memory.at));
    let text = memory.text.as_deref().map_or_else(|| "(erased)".to_owned(), clean);
    let lines: String = text.lines().map(|line| wrap(line, width().min(100), INDENT)).collect();
    format!("{}  {}\n{lines}", paint.bold(&memory.memory.to_string()), paint.dim(&line))
}

/// Explains why only a person may approve a proposal.
pub(super) const fn reason(reason: HoldReason) -> &'static str {
    match reason {
        HoldReason::Rejected => "you rejected the same before",
        HoldReason::Forgotten => "you asked to forget this",
        HoldReason::NearForgotten => "it is near something that you rejected or asked to forget",
        HoldReason::Order => "it is an order to the agent",
        HoldReason::Tainted => "its words come from a tool, a hook or another program",
        HoldReason::Contradicts => "it contradicts a memory",
        HoldReason::Unsupported => "nobody's words support it",
    }
}

/// Returns a proposal as a page: what changes, who proposes it, on what words, and what is near.
pub(super) fn page(proposal: &ProposalDescription) -> String {
    let paint = Paint::stdout();
    let wide = width().min(100);
    let (kind, who) = &proposal.by;
    let (change, at) = (proposal.change, time(proposal.at));
    let mut out =
        paint.bold(&format!("{} · {change} · {}\n", proposal.proposal, proposal.kind.unwrap_or("—")));
    out.push_str(&paint.dim(&format!("proposed by {kind} {}, {at}\n", clean(who))));
    for held in &proposal.held {
        out.push_str(&paint.failed(&format!("held: {}\n", reason(*held))));
    }
    let signed = |sign: &str, text: &str| wrap(&format!("{sign} {}", clean(text)), wide, 2);
    out.extend(proposal.of.iter().filter_map(|of| Some(signed("-", of.text.as_deref()?))));
    out.extend(proposal.text.iter().map(|text| signed("+", text)));
    for (place, quote) in &proposal.evidence {
        out.push_str(&wrap(&format!("“{}”", clean(quote)), wide, 4));
        out.push_str(&paint.dim(&format!("    {place}\n")));
    }
    for near in &proposal.near {
        out.push_str(&format!("  near: {}", memory(near)));
    }
    out
}

/// Says what became of what was written.
pub(super) fn words(written: &MemoryWritten) -> String {
    let line = |outcome: &MemoryOutcome| match outcome {
        MemoryOutcome::Applied { memory } => format!("{memory} is believed now\n"),
        MemoryOutcome::Known { memory } => format!("{memory} says the same; nothing was added\n"),
        MemoryOutcome::Refused { why } => format!("refused: {}\n", clean(why)),
        MemoryOutcome::Pending { proposal, held } => {
            let held: Vec<&str> = held.iter().map(|held| reason(*held)).collect();
            let why = if held.is_empty() { String::new() } else { format!(": {}", held.join(", ")) };
            format!("{proposal} waits for your verdict{why}\n  wunderblock memory apply {proposal}\n")
        }
    };
    written.items.iter().map(line).collect()
}

/// Says what a verdict did.
pub(super) fn told(outcome: &MemoryOutcome) -> String {
    match outcome {
        MemoryOutcome::Refused { .. } => "rejected; the same is not learned again\n".to_owned(),
        other => words(&MemoryWritten { items: vec![other.clone()], ..MemoryWritten::default() }),
    }
}

/// Reads a name.
pub(super) fn name(text: &str) -> Result<MemoryName, Failure> {
    Ok(text.parse()?)
}
