//! A proposed change of memory, with what became of it.

use crate::record::memory::{HoldReason, MemoryAuthor, MemoryProposed, MemoryVerdict};
use crate::units::{Millis, Seq};

/// A proposed change of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// Position of the proposal, which is its name in the log.
    pub seq: Seq,
    /// Time of the proposal.
    pub at: Millis,
    /// What is proposed.
    pub proposed: MemoryProposed,
    /// What became of it.
    pub state: ProposalState,
}

/// What became of a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProposalState {
    /// Nobody has decided.
    Pending,
    /// Somebody approved it, and it was not carried out yet.
    Approved(MemoryAuthor),
    /// Somebody rejected it.
    Rejected(MemoryAuthor),
    /// It was carried out.
    Applied(MemoryAuthor),
}

impl ProposalState {
    /// Returns the word used in reports.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved(_) => "approved",
            Self::Rejected(_) => "rejected",
            Self::Applied(_) => "applied",
        }
    }
}

impl Proposal {
    /// Returns whether somebody has to decide.
    #[must_use]
    pub const fn is_pending(&self) -> bool {
        matches!(self.state, ProposalState::Pending)
    }

    /// Returns the reasons why only a person may approve it.
    #[must_use]
    pub fn held(&self) -> &[HoldReason] {
        &self.proposed.held
    }

    /// Returns whether an author may decide: not about their own proposal, and a policy not about what is held.
    #[must_use]
    pub fn may_be_reviewed_by(&self, by: &MemoryAuthor) -> bool {
        let is_policy = matches!(by, MemoryAuthor::Policy(_));
        by.may_review(&self.proposed.by) && (self.held().is_empty() || !is_policy)
    }

    /// Takes a verdict. A proposal that was carried out has no further one.
    pub(super) fn decide(&mut self, verdict: MemoryVerdict, by: &MemoryAuthor) {
        if matches!(self.state, ProposalState::Applied(_)) || !self.may_be_reviewed_by(by) {
            return;
        }
        self.state = match verdict {
            MemoryVerdict::Approved => ProposalState::Approved(by.clone()),
            MemoryVerdict::Rejected => ProposalState::Rejected(by.clone()),
        };
    }
}
