//! What writes and questions about memory answer.

use super::name::MemoryName;
use serde::Serialize;
use wunderblock_core::id::Scope;
use wunderblock_core::memory::HoldReason;
use wunderblock_core::units::Millis;

/// What became of the items of a write. The counts come first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemoryWritten {
    /// Number of proposals that were recorded.
    pub recorded: u64,
    /// Number of items that are believed now.
    pub applied: u64,
    /// Number of items that wait for a verdict.
    pub pending: u64,
    /// Number of items that the log had before.
    pub known: u64,
    /// Number of items that were refused.
    pub refused: u64,
    /// What became of each item, in order.
    pub items: Vec<MemoryOutcome>,
}

/// What became of an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "became")]
pub enum MemoryOutcome {
    /// It is believed now.
    Applied {
        /// The memory.
        memory: MemoryName,
    },
    /// It waits for a verdict.
    Pending {
        /// The proposal.
        proposal: MemoryName,
        /// Reasons why only a person may approve it.
        held: Vec<HoldReason>,
    },
    /// The log has it already.
    Known {
        /// The memory, or the proposal that waits for a verdict.
        memory: MemoryName,
    },
    /// It was not recorded.
    Refused {
        /// Reason, in words that follow the claim.
        why: String,
    },
}

impl MemoryWritten {
    /// Counts an outcome.
    pub(super) fn add(&mut self, outcome: MemoryOutcome) {
        match outcome {
            MemoryOutcome::Applied { .. } => {
                (self.recorded, self.applied) = (self.recorded + 1, self.applied + 1)
            }
            MemoryOutcome::Pending { .. } => {
                (self.recorded, self.pending) = (self.recorded + 1, self.pending + 1)
            }
            MemoryOutcome::Known { .. } => self.known += 1,
            MemoryOutcome::Refused { .. } => self.refused += 1,
        }
        self.items.push(outcome);
    }

    /// Adds what became of further items.
    pub(super) fn join(&mut self, other: Self) {
        other.items.into_iter().for_each(|outcome| self.add(outcome));
    }

    /// Returns whether everything that was asked for is in the log: nothing was refused.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.refused == 0
    }
}

/// A memory, for a caller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryDescription {
    /// Name of the memory.
    pub memory: MemoryName,
    /// Whose memory it is.
    pub scope: Scope,
    /// Kind: `fact`, `preference`, `procedure` or `episode`.
    pub kind: &'static str,
    /// Text, with secrets redacted; `None` if it was erased.
    pub text: Option<String>,
    /// `current`, `superseded`, `retracted`, `forgotten` or `withdrawn`; `expired` for a current one that is no longer
    /// shown.
    pub state: &'static str,
    /// Memory that took its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<MemoryName>,
    /// Tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Metadata: a JSON object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<serde_json::Value>,
    /// From 0 to 100.
    pub importance: u8,
    /// From 0 to 100.
    pub confidence: u8,
    /// Whether it stands in every request.
    pub pinned: bool,
    /// Time from which, and until which, it is true in the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// See `from`.
    pub until: Option<Millis>,
    /// Time at which it is no longer shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<Millis>,
    /// Time of its last change.
    pub at: Millis,
    /// Who vouches for it: kind and name.
    pub by: (&'static str, String),
    /// Places in the ledger that it rests on, as addresses.
    pub evidence: Vec<String>,
}

/// A proposal, for a caller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProposalDescription {
    /// Name of the proposal.
    pub proposal: MemoryName,
    /// `add`, `revise`, `supersede` or `retract`.
    pub change: &'static str,
    /// Memory that the change affects, as it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<Box<MemoryDescription>>,
    /// Kind of the claim.
    pub kind: Option<&'static str>,
    /// Text of the claim, with secrets redacted; `None` if the change has no claim, or the text was erased.
    pub text: Option<String>,
    /// `pending`, `approved`, `rejected` or `applied`.
    pub state: &'static str,
    /// Reasons why only a person may approve it.
    pub held: Vec<HoldReason>,
    /// Who proposed it: kind and name.
    pub by: (&'static str, String),
    /// Time of the proposal.
    pub at: Millis,
    /// Words that it rests on, with their addresses.
    pub evidence: Vec<(String, String)>,
    /// Memories near it.
    pub near: Vec<MemoryDescription>,
}

/// A step of the history of a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryStep {
    /// Position of the event in the log, to which the memory can be rolled back.
    pub seq: u64,
    /// Time of the event.
    pub at: Millis,
    /// Who decided: kind and name.
    pub by: (&'static str, String),
    /// State of the memory after the event.
    pub state: &'static str,
    /// Text after the event, with secrets redacted; `None` if it was erased.
    pub text: Option<String>,
}
