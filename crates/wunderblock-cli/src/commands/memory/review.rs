//! `memory review`: one proposal a screen, and a key for each verdict.

use super::words::{name, page, told};
use crate::args::{Global, MemoryVerdictArgs};
use crate::output::console::{answer, print, print_report, say};
use crate::output::exit::{Exit, Failure};
use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;
use wunderblock::{Memories, MemoryDecision, NewClaim, ProposalDescription};
use wunderblock_core::memory::{MemoryAuthor, MemoryKind, MemoryVerdict};

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
