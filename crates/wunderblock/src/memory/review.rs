//! Verdicts, and what takes changes back.

use super::name::MemoryName;
use super::new::MemoryDecision;
use super::report::MemoryOutcome;
use super::write::{Draft, named};
use crate::base::error::Error;
use crate::ledger::engine::Engine;
use wunderblock_core::event::{Fact, MemoryChanged, MemoryForgotten, MemoryReviewed};
use wunderblock_core::memories::{MemoryState, ProposalState};
use wunderblock_core::memory::{ForgetReason, MemoryAuthor, MemoryDeed, MemoryVerdict};
use wunderblock_core::message::Body;
use wunderblock_core::units::Seq;

/// Decides about a proposal, and carries it out if it is approved.
pub(super) fn decide(
    engine: &Engine,
    draft: &mut Draft<'_>,
    name: &MemoryName,
    decision: &MemoryDecision,
    by: &MemoryAuthor,
) -> Result<MemoryOutcome, Error> {
    let log = draft.log;
    let proposal = log.log.proposal(name.seq).ok_or_else(|| Error::NoMemory(name.to_string()))?;
    let refuse = |why: &str| Err(Error::Memory(format!("{name}: {why}")));
    match &proposal.state {
        ProposalState::Applied(who) => {
            let (kind, name) = who.parts();
            return refuse(&format!("{kind} {name} approved it before"));
        }
        ProposalState::Rejected(who) if decision.verdict == MemoryVerdict::Rejected => {
            let (kind, name) = who.parts();
            return refuse(&format!("{kind} {name} rejected it before"));
        }
        _ => {}
    }
    if !proposal.may_be_reviewed_by(by) {
        return refuse("who proposes a change does not decide about it, and a policy not about what is held");
    }
    let change = proposal.proposed.change;
    let is_approved = decision.verdict == MemoryVerdict::Approved;
    if let Some(of) = change.of().filter(|_| is_approved)
        && !log.log.memory(of).is_some_and(|memory| memory.is_current())
    {
        return refuse(&format!("the memory {} that it changes is not current any more", log.name(of)));
    }
    let edited = decision.edited.as_ref().filter(|_| is_approved);
    let edited = edited.map(|claim| claim.checked(engine, &log.stream)).transpose()?;
    let cause = decision.cause.clone().map(Body::Inline);
    let reviewed = MemoryReviewed { proposal: name.seq, verdict: decision.verdict, by: by.clone(), cause };
    draft.push(Fact::MemoryReviewed(reviewed));
    if !is_approved {
        return Ok(MemoryOutcome::Refused { why: "rejected".to_owned() });
    }
    changed(draft, MemoryDeed::Applied { proposal: name.seq, edited }, by);
    Ok(MemoryOutcome::Applied { memory: log.name(named(change, name.seq)) })
}

/// Forgets memories: they are kept, and no longer shown.
pub(super) fn forget(
    draft: &mut Draft<'_>,
    memories: Vec<Seq>,
    why: ForgetReason,
    by: &MemoryAuthor,
    cause: Option<&str>,
) {
    if !memories.is_empty() {
        let cause = cause.map(|cause| Body::Inline(cause.to_owned()));
        draft.push(Fact::MemoryForgotten(MemoryForgotten { memories, why, by: by.clone(), cause }));
    }
}

/// Restores a forgotten memory.
pub(super) fn restore(draft: &mut Draft<'_>, name: &MemoryName, by: &MemoryAuthor) -> Result<(), Error> {
    let memory = draft.log.log.memory(name.seq).ok_or_else(|| Error::NoMemory(name.to_string()))?;
    if !matches!(memory.state(), MemoryState::Forgotten(_)) {
        let state = memory.state().word();
        return Err(Error::Memory(format!("{name} is {state}; only a forgotten memory can be restored")));
    }
    changed(draft, MemoryDeed::Restored { memory: name.seq }, by);
    Ok(())
}

/// Makes a memory what it was after an event of its log. Before its first event, it is withdrawn.
pub(super) fn roll_back(
    draft: &mut Draft<'_>,
    name: &MemoryName,
    to: Seq,
    by: &MemoryAuthor,
) -> Result<(), Error> {
    let log = draft.log;
    let memory = log.log.memory(name.seq).ok_or_else(|| Error::NoMemory(name.to_string()))?;
    if to > log.log.head {
        return Err(Error::Memory(format!("the log of {name} ends at position {}", log.log.head)));
    }
    let was_current = memory.version_at(to).is_some_and(|version| version.state == MemoryState::Current);
    if let (MemoryState::Superseded(by), true) = (memory.state(), was_current) {
        let by = log.name(by);
        return Err(Error::Memory(format!(
            "{by} took the place of {name}; roll back {by} to make {name} current"
        )));
    }
    changed(draft, MemoryDeed::RolledBack { memory: name.seq, to }, by);
    Ok(())
}

fn changed(draft: &mut Draft<'_>, deed: MemoryDeed, by: &MemoryAuthor) {
    draft.push(Fact::MemoryChanged(Box::new(MemoryChanged { deed, by: by.clone(), cause: None })));
}
