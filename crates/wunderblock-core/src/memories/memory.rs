//! A memory with its history.

use crate::record::memory::{Claim, Evidence, ForgetReason, MemoryAuthor};
use crate::units::{Millis, Seq};

/// A memory, as the events of its log have made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Position of its first proposal, which is its name in the log.
    pub seq: Seq,
    /// What the memory rests on: the evidence of every proposal that was applied to it.
    pub evidence: Vec<Evidence>,
    /// Versions, oldest first. There is at least one.
    pub(super) versions: Vec<MemoryVersion>,
}

/// State of a memory after an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryVersion {
    /// Position of the event that made the version.
    pub seq: Seq,
    /// Time of that event.
    pub at: Millis,
    /// Who decided.
    pub by: MemoryAuthor,
    /// What the memory says.
    pub claim: Claim,
    /// Whether it is shown, and if not, why.
    pub state: MemoryState,
}

/// Whether a memory is shown, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryState {
    /// It is what is believed.
    Current,
    /// Another memory took its place.
    Superseded(Seq),
    /// It no longer holds, and nothing took its place.
    Retracted,
    /// It was forgotten.
    Forgotten(ForgetReason),
    /// What made it was rolled back.
    Withdrawn,
}

impl MemoryState {
    /// Returns the word used in reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Superseded(_) => "superseded",
            Self::Retracted => "retracted",
            Self::Forgotten(_) => "forgotten",
            Self::Withdrawn => "withdrawn",
        }
    }
}

impl Memory {
    pub(super) fn new(seq: Seq, evidence: Vec<Evidence>, first: MemoryVersion) -> Self {
        Self { seq, evidence, versions: vec![first] }
    }

    /// Returns the versions, oldest first.
    #[must_use]
    pub fn versions(&self) -> &[MemoryVersion] {
        &self.versions
    }

    /// Returns the newest version; `None` never, because a memory begins with one.
    #[must_use]
    pub fn newest(&self) -> Option<&MemoryVersion> {
        self.versions.last()
    }

    /// Returns the current state.
    #[must_use]
    pub fn state(&self) -> MemoryState {
        self.newest().map_or(MemoryState::Withdrawn, |version| version.state)
    }

    /// Returns whether the memory is what is believed.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.state() == MemoryState::Current
    }

    /// Returns the newest version that an event up to a position made.
    #[must_use]
    pub fn version_at(&self, to: Seq) -> Option<&MemoryVersion> {
        self.versions.iter().rev().find(|version| version.seq <= to)
    }

    /// Adds a version with another state.
    pub(super) fn change(&mut self, seq: Seq, at: Millis, by: &MemoryAuthor, state: MemoryState) {
        if let Some(last) = self.versions.last() {
            let claim = last.claim.clone();
            self.versions.push(MemoryVersion { seq, at, by: by.clone(), claim, state });
        }
    }
}
