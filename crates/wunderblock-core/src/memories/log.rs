//! The fold of a memory log.

use super::memory::{Memory, MemoryState, MemoryVersion};
use super::proposal::{Proposal, ProposalState};
use crate::id::{EventId, Handle, Scope};
use crate::record::event::{Event, Fact};
use crate::record::memory::{
    Claim, Evidence, ForgetReason, HoldReason, MemoryAuthor, MemoryChange, MemoryChanged, MemoryDeed,
    MemoryForgotten,
};
use crate::units::{Millis, Seq};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Memories and proposals of a log, as its events have made them.
///
/// Events that contradict the log change nothing: a change without a verdict, a verdict about one's own proposal, a second
/// memory in the place of one. So everything that a log shows has a verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryLog {
    /// Whose memories these are.
    pub scope: Scope,
    /// Position of the last event that was folded.
    pub head: Seq,
    memories: BTreeMap<Seq, Memory>,
    proposals: BTreeMap<Seq, Proposal>,
    /// Memories and proposals by the digest of a claim.
    values: HashMap<Handle, Vec<Seq>>,
    /// Words that proposals rest on, by their event and digest.
    known: HashSet<(EventId, Handle)>,
}

impl MemoryLog {
    /// Folds a further event. Events must be given in order.
    pub fn take(&mut self, event: &Event) {
        self.head = event.seq;
        match &event.fact {
            Some(Fact::MemoryOpened(opened)) => self.scope = opened.scope.clone(),
            Some(Fact::MemoryProposed(proposed)) => {
                let words =
                    proposed.evidence.iter().map(|evidence| (evidence.event.clone(), evidence.digest));
                self.known.extend(words);
                if let Some(value) = proposed.claim.as_ref().and_then(|claim| claim.value) {
                    self.values.entry(value).or_default().push(event.seq);
                }
                let state = ProposalState::Pending;
                let proposed = (**proposed).clone();
                let proposal = Proposal { seq: event.seq, at: event.at, proposed, state };
                self.proposals.insert(event.seq, proposal);
            }
            Some(Fact::MemoryReviewed(reviewed)) => {
                if let Some(proposal) = self.proposals.get_mut(&reviewed.proposal) {
                    proposal.decide(reviewed.verdict, &reviewed.by);
                }
            }
            Some(Fact::MemoryChanged(changed)) => self.change(event.seq, event.at, changed),
            Some(Fact::MemoryForgotten(forgotten)) => self.forget(event.seq, event.at, forgotten),
            _ => {}
        }
    }

    fn change(&mut self, seq: Seq, at: Millis, changed: &MemoryChanged) {
        let decided = Decided { seq, at, by: changed.by.clone() };
        match &changed.deed {
            MemoryDeed::Applied { proposal, edited } => {
                let Some(proposal) = self.proposals.get_mut(proposal) else { return };
                let ProposalState::Approved(by) = proposal.state.clone() else { return };
                proposal.state = ProposalState::Applied(by.clone());
                let proposal = proposal.clone();
                let claim = edited.clone().or_else(|| proposal.proposed.claim.clone());
                self.apply(&proposal, Decided { by, ..decided }, claim);
            }
            MemoryDeed::RolledBack { memory, to } => self.roll_back(decided, *memory, *to),
            MemoryDeed::Restored { memory } => {
                let Some(memory) = self.memories.get_mut(memory) else { return };
                if matches!(memory.state(), MemoryState::Forgotten(_)) {
                    memory.change(seq, at, &changed.by, MemoryState::Current);
                }
            }
        }
    }

    fn apply(&mut self, proposal: &Proposal, decided: Decided, claim: Option<Claim>) {
        let Decided { seq, at, by } = decided;
        let evidence = proposal.proposed.evidence.clone();
        let of = proposal.proposed.change.of();
        let is_current = of.is_none_or(|of| self.memories.get(&of).is_some_and(Memory::is_current));
        if !is_current {
            return;
        }
        let version = |claim| MemoryVersion { seq, at, by: by.clone(), claim, state: MemoryState::Current };
        if let Some(value) = claim.as_ref().and_then(|claim| claim.value) {
            self.values.entry(value).or_default().push(proposal.seq);
        }
        match (proposal.proposed.change, claim) {
            (MemoryChange::Add | MemoryChange::Supersede(_), Some(claim)) => {
                let memory = Memory::new(proposal.seq, evidence, version(claim));
                self.memories.insert(proposal.seq, memory);
                if let Some(before) = of.and_then(|of| self.memories.get_mut(&of)) {
                    before.change(seq, at, &by, MemoryState::Superseded(proposal.seq));
                }
            }
            (MemoryChange::Revise(of), Some(claim)) => {
                if let Some(memory) = self.memories.get_mut(&of) {
                    memory.evidence.extend(evidence);
                    memory.versions.push(version(claim));
                }
            }
            (MemoryChange::Retract(of), _) => {
                if let Some(memory) = self.memories.get_mut(&of) {
                    memory.change(seq, at, &by, MemoryState::Retracted);
                }
            }
            (_, None) => {}
        }
    }

    /// Makes a memory what it was after an event. A memory that there was not yet is withdrawn, and what it superseded is
    /// current again.
    fn roll_back(&mut self, decided: Decided, of: Seq, to: Seq) {
        let Decided { seq, at, by } = decided;
        let Some(memory) = self.memories.get_mut(&of) else { return };
        if let Some(version) = memory.version_at(to).cloned() {
            memory.versions.push(MemoryVersion { seq, at, by, ..version });
            return;
        }
        memory.change(seq, at, &by, MemoryState::Withdrawn);
        for before in self.memories.values_mut() {
            if before.state() == MemoryState::Superseded(of) {
                before.change(seq, at, &by, MemoryState::Current);
            }
        }
    }

    fn forget(&mut self, seq: Seq, at: Millis, forgotten: &MemoryForgotten) {
        for memory in &forgotten.memories {
            if let Some(memory) = self.memories.get_mut(memory) {
                memory.change(seq, at, &forgotten.by, MemoryState::Forgotten(forgotten.why));
            }
        }
    }

    /// Returns a memory.
    #[must_use]
    pub fn memory(&self, seq: Seq) -> Option<&Memory> {
        self.memories.get(&seq)
    }

    /// Returns the memories, oldest first.
    pub fn memories(&self) -> impl DoubleEndedIterator<Item = &Memory> {
        self.memories.values()
    }

    /// Returns the number of memories, whatever their state.
    #[must_use]
    pub fn len(&self) -> usize {
        self.memories.len()
    }

    /// Returns whether there are no memories.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.memories.is_empty()
    }

    /// Returns a proposal.
    #[must_use]
    pub fn proposal(&self, seq: Seq) -> Option<&Proposal> {
        self.proposals.get(&seq)
    }

    /// Returns the proposals, oldest first.
    pub fn proposals(&self) -> impl DoubleEndedIterator<Item = &Proposal> {
        self.proposals.values()
    }

    /// Returns whether a proposal rests on words. What was read once is not read again, nor in a copy of its session.
    #[must_use]
    pub fn is_known(&self, evidence: &Evidence) -> bool {
        self.known.contains(&(evidence.event.clone(), evidence.digest))
    }

    /// Returns the current memory that makes a claim, or the pending proposal of it.
    #[must_use]
    pub fn same(&self, value: Handle) -> Option<Seq> {
        let is_there = |seq: &&Seq| {
            let memory = self.memories.get(*seq).filter(|memory| memory.is_current());
            let is_value =
                memory.and_then(Memory::newest).is_some_and(|newest| newest.claim.value == Some(value));
            is_value || self.proposals.get(*seq).is_some_and(Proposal::is_pending)
        };
        self.values.get(&value)?.iter().find(is_there).copied()
    }

    /// Returns why a claim was refused before in this scope: the newest reason.
    #[must_use]
    pub fn refused(&self, value: Handle) -> Option<HoldReason> {
        let reason = |seq: &Seq| {
            let forgotten = MemoryState::Forgotten(ForgetReason::Asked);
            if self.memories.get(seq).is_some_and(|memory| memory.state() == forgotten) {
                return Some(HoldReason::Forgotten);
            }
            let rejected = |proposal: &Proposal| matches!(proposal.state, ProposalState::Rejected(_));
            self.proposals.get(seq).filter(|proposal| rejected(proposal)).map(|_| HoldReason::Rejected)
        };
        self.values.get(&value)?.iter().rev().find_map(reason)
    }
}

/// Event that changes the log, and who decided.
struct Decided {
    seq: Seq,
    at: Millis,
    by: MemoryAuthor,
}
