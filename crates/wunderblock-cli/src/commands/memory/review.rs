//! `memory review`: one proposal a screen, and a key for each verdict.

use super::look::memory;
use super::name;
use super::write::words;
use crate::args::{Global, MemoryVerdictArgs};
use crate::drawing::columns::wrap;
use crate::drawing::paint::Paint;
use crate::drawing::terminal::{clean, width};
use crate::output::console::{answer, print, print_report, say, time};
use crate::output::exit::{Exit, Failure};
use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;
use wunderblock::{Memories, MemoryDecision, MemoryOutcome, MemoryWritten, NewClaim, ProposalDescription};
use wunderblock_core::memory::{HoldReason, MemoryAuthor, MemoryKind, MemoryVerdict};

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

pub(super) async fn run(global: &Global, memories: &Memories, by: MemoryAuthor) -> Exit {
    let waiting = memories.proposals(false).await?;
    if global.json {
        waiting.iter().try_for_each(print_report)?;
        return Ok(ExitCode::SUCCESS);
    }
    let is_person = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    for (at, proposal) in (1..).zip(&waiting) {
        print(&format!("\n[{at} of {}] {}", waiting.len(), page(proposal)))?;
        if !is_person {
            continue;
        }
        let Some(decision) = ask(proposal)? else { break };
        let Some(decision) = decision else { continue };
        match memories.review(proposal.proposal.clone(), decision, by.clone()).await {
            Ok(outcome) => print(&told(&outcome))?,
            // Somebody else may have decided meanwhile.
            Err(error) => say(global, &error.to_string()),
        }
    }
    if waiting.is_empty() {
        say(global, "no proposals wait for a verdict");
    } else if !is_person {
        say(global, "decide with `wunderblock memory apply NAME` and `memory discard NAME`");
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks for a verdict. Returns `None` to stop, and `Some(None)` to go on to the next.
fn ask(proposal: &ProposalDescription) -> Result<Option<Option<MemoryDecision>>, Failure> {
    loop {
        print("[a]pprove  [e]dit  [r]eject  [s]kip  [q]uit > ")?;
        std::io::stdout().flush()?;
        let mut key = String::new();
        if std::io::stdin().lock().read_line(&mut key)? == 0 {
            return Ok(None);
        }
        let decision = |verdict, edited| MemoryDecision { verdict, edited, cause: None };
        return Ok(Some(match key.trim() {
            "a" | "approve" => Some(decision(MemoryVerdict::Approved, None)),
            "r" | "reject" => Some(decision(MemoryVerdict::Rejected, None)),
            "s" | "skip" => None,
            "q" | "quit" => return Ok(None),
            "e" | "edit" => {
                print("new text > ")?;
                std::io::stdout().flush()?;
                let mut text = String::new();
                std::io::stdin().lock().read_line(&mut text)?;
                let kind = MemoryKind::ALL.into_iter().find(|kind| Some(kind.word()) == proposal.kind);
                let edited = NewClaim::new(kind.unwrap_or(MemoryKind::Fact), text.trim());
                Some(decision(MemoryVerdict::Approved, Some(edited)))
            }
            _ => continue,
        }));
    }
}

fn told(outcome: &MemoryOutcome) -> String {
    match outcome {
        MemoryOutcome::Refused { .. } => "rejected; the same is not learned again\n".to_owned(),
        other => words(&MemoryWritten { items: vec![other.clone()], ..MemoryWritten::default() }),
    }
}

pub(super) async fn decide(
    global: &Global,
    memories: &Memories,
    wanted: &MemoryVerdictArgs,
    verdict: MemoryVerdict,
    by: MemoryAuthor,
) -> Exit {
    for text in &wanted.names {
        let decision = MemoryDecision { verdict, edited: None, cause: wanted.cause.clone() };
        let outcome = memories.review(name(text)?, decision, by.clone()).await?;
        answer(global, &outcome, || told(&outcome))?;
    }
    Ok(ExitCode::SUCCESS)
}
