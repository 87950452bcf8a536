//! What a caller states about a claim.

use super::name::MemoryName;
use super::value::value;
use crate::base::error::Error;
use crate::ledger::engine::Engine;
use wunderblock_core::id::StreamId;
use wunderblock_core::memory::{Claim, MemoryChange, MemoryKind, MemoryVerdict};
use wunderblock_core::message::Body;
use wunderblock_core::units::{Millis, Seq};

/// Maximum length of the text of a memory, and of its metadata, in bytes.
pub(super) const MAX_TEXT: usize = 16 << 10;
/// Maximum number of tags, and length of one.
const MAX_TAGS: usize = 32;
const MAX_TAG: usize = 80;

/// A claim, as a caller states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewClaim {
    /// Kind of the memory.
    pub kind: MemoryKind,
    /// The claim in words; at most 16 KiB.
    pub text: String,
    /// Tags; at most 32.
    pub tags: Vec<String>,
    /// Free metadata: a JSON object of at most 16 KiB.
    pub metadata: Option<String>,
    /// How much it matters, from 0 to 100.
    pub importance: u8,
    /// How sure the author is, from 0 to 100.
    pub confidence: u8,
    /// Time from which it is true in the world.
    pub from: Option<Millis>,
    /// Time until which it is true in the world.
    pub until: Option<Millis>,
    /// Time at which it is no longer shown.
    pub expires: Option<Millis>,
    /// Whether it stands in every request of its scope.
    pub pinned: bool,
}

/// Change that a caller proposes. A memory is changed in the log that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewChange {
    /// A new memory.
    Add,
    /// Another text, or other fields, of a memory that says the same.
    Revise(MemoryName),
    /// A new memory that takes the place of one, which is kept as history.
    Supersede(MemoryName),
    /// A memory that no longer holds, without another in its place.
    Retract(MemoryName),
}

impl NewChange {
    /// Returns the memory that the change affects, unless it only adds one.
    #[must_use]
    pub const fn of(&self) -> Option<&MemoryName> {
        match self {
            Self::Add => None,
            Self::Revise(memory) | Self::Supersede(memory) | Self::Retract(memory) => Some(memory),
        }
    }

    pub(super) const fn in_log(&self) -> MemoryChange {
        match self {
            Self::Add => MemoryChange::Add,
            Self::Revise(memory) => MemoryChange::Revise(memory.seq),
            Self::Supersede(memory) => MemoryChange::Supersede(memory.seq),
            Self::Retract(memory) => MemoryChange::Retract(memory.seq),
        }
    }
}

/// A memory that a caller adds or proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMemory {
    /// The change.
    pub change: NewChange,
    /// The claim; `None` if the change only retracts one.
    pub claim: Option<NewClaim>,
    /// What the claim rests on; at most 32 places.
    pub evidence: Vec<NewEvidence>,
}

/// Place in the ledger that a claim rests on, as a caller states it. The words must be there; who said them is looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvidence {
    /// Session of the message.
    pub stream: StreamId,
    /// Position of the message.
    pub seq: Seq,
    /// Words of the message that support the claim; at most 4 KiB.
    pub quote: String,
}

/// A verdict about a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryDecision {
    /// The verdict.
    pub verdict: MemoryVerdict,
    /// The claim as the reviewer edited it, for an approval.
    pub edited: Option<NewClaim>,
    /// Reason, in the reviewer's words.
    pub cause: Option<String>,
}

impl NewClaim {
    /// Creates a claim of which only the kind and the text are known.
    pub fn new(kind: MemoryKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
            tags: Vec::new(),
            metadata: None,
            importance: 50,
            confidence: 100,
            from: None,
            until: None,
            expires: None,
            pinned: false,
        }
    }

    /// Returns the claim that a log holds.
    pub(super) fn checked(&self, engine: &Engine, log: &StreamId) -> Result<Claim, Error> {
        let wrong = |why: String| Err(Error::Claim(why));
        let text = self.text.trim();
        if text.len() > MAX_TEXT {
            return wrong(format!("its text has {} bytes; the maximum is {MAX_TEXT}", text.len()));
        }
        let value = value(engine, log, self.kind, text);
        if value.is_none() {
            return wrong("its text has no word".to_owned());
        }
        if self.importance > 100 || self.confidence > 100 {
            return wrong("importance and confidence are numbers from 0 to 100".to_owned());
        }
        if self.tags.len() > MAX_TAGS || self.tags.iter().any(|tag| tag.is_empty() || tag.len() > MAX_TAG) {
            return wrong(format!(
                "it has invalid tags: the maximum is {MAX_TAGS} tags of 1 to {MAX_TAG} bytes"
            ));
        }
        if self.from.zip(self.until).is_some_and(|(from, until)| until <= from) {
            return wrong("it ends before it begins".to_owned());
        }
        if let Some(metadata) = &self.metadata {
            let parsed: Result<serde_json::Map<String, serde_json::Value>, _> =
                serde_json::from_str(metadata);
            if metadata.len() > MAX_TEXT || parsed.is_err() {
                return wrong(format!("its metadata is not a JSON object of at most {MAX_TEXT} bytes"));
            }
        }
        Ok(Claim {
            value,
            tags: self.tags.iter().map(|tag| tag.as_str().into()).collect(),
            metadata: self.metadata.clone().map(Body::Inline),
            importance: self.importance,
            confidence: self.confidence,
            from: self.from,
            until: self.until,
            expires: self.expires,
            pinned: self.pinned,
            ..Claim::new(self.kind, Body::Inline(text.to_owned()))
        })
    }
}

impl NewMemory {
    /// Creates a new memory without evidence: what a person says about it is the evidence.
    #[must_use]
    pub const fn of(claim: NewClaim) -> Self {
        Self { change: NewChange::Add, claim: Some(claim), evidence: Vec::new() }
    }
}
