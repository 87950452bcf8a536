//! Records of long-term memory: what was claimed, who decided about it, and what changed.
//!
//! A memory log is a stream of its own, opened by its scope. The seq of a [`MemoryProposed`] event names the proposal,
//! and, if it adds a memory, the memory. Nothing changes without a verdict: [`MemoryChanged`] names the proposal that it
//! carries out. [`crate::memory`] folds the events.

use crate::id::{EventId, Handle, Scope, StreamId};
use crate::record::author::Author;
use crate::record::compaction::SummarySpend;
use crate::record::message::Body;
use crate::units::{Millis, Seq, is_default};
use serde::{Deserialize, Serialize};

/// Fields of [`Fact::MemoryOpened`](super::event::Fact::MemoryOpened).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryOpened {
    /// Whose memories the log holds. A part that is `None` limits nothing.
    pub scope: Scope,
}

/// Fields of [`Fact::MemoryProposed`](super::event::Fact::MemoryProposed).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryProposed {
    /// Change that is proposed.
    pub change: MemoryChange,
    /// Claim that the change leads to; `None` for a change that only withdraws one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// Who proposes.
    pub by: MemoryAuthor,
    /// What the claim rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// Memories that were near when the change was proposed, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<NearMemory>,
    /// Reasons why only a person may approve the proposal, as names of a closed list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HoldReason>,
    /// Cost of the calls of a model that led to the proposal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<SummarySpend>,
}

/// Change of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryChange {
    /// A new memory.
    Add,
    /// Another text, or other fields, of a memory that says the same.
    Revise(Seq),
    /// A new memory that takes the place of one, which is kept as history.
    Supersede(Seq),
    /// A memory that no longer holds, without another in its place.
    Retract(Seq),
}

impl MemoryChange {
    /// Returns the memory that the change affects, unless it only adds one.
    #[must_use]
    pub const fn of(self) -> Option<Seq> {
        match self {
            Self::Add => None,
            Self::Revise(memory) | Self::Supersede(memory) | Self::Retract(memory) => Some(memory),
        }
    }
}

/// A claim: what a memory says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Kind of the memory.
    pub kind: MemoryKind,
    /// The claim in words.
    pub text: Body,
    /// What the claim is about, if it was found in the text: `test command`, `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Box<str>>,
    /// Keyed digest of the normal form of the claim, by which the same claim is known again; `None` if the text has no
    /// word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Handle>,
    /// Tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Box<str>>,
    /// Free metadata: a JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Body>,
    /// How much it matters, from 0 to 100.
    pub importance: u8,
    /// How sure the author is, from 0 to 100.
    pub confidence: u8,
    /// Time from which it is true in the world; `None` if not stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Millis>,
    /// Time until which it is true in the world; `None` if not stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Millis>,
    /// Time at which it is no longer shown, whatever is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Millis>,
    /// Whether it stands in every request of its scope.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pinned: bool,
}

impl Claim {
    /// Creates a claim of which only the kind and the text are known. The author is sure of it.
    #[must_use]
    pub const fn new(kind: MemoryKind, text: Body) -> Self {
        Self {
            kind,
            text,
            subject: None,
            value: None,
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

    /// Returns the bodies of the claim.
    pub fn bodies(&self) -> impl Iterator<Item = &Body> {
        [&self.text].into_iter().chain(&self.metadata)
    }

    /// Returns the bodies of the claim, to be moved into blobs.
    pub fn bodies_mut(&mut self) -> impl Iterator<Item = &mut Body> {
        [&mut self.text].into_iter().chain(&mut self.metadata)
    }

    /// Returns whether the claim is true in the world at a time, as far as it states when it is.
    #[must_use]
    pub fn holds_at(&self, at: Millis) -> bool {
        self.from.is_none_or(|from| from <= at) && self.until.is_none_or(|until| at < until)
    }

    /// Returns whether the claim is no longer to be shown at a time.
    #[must_use]
    pub fn is_expired(&self, at: Millis) -> bool {
        self.expires.is_some_and(|expires| expires <= at)
    }
}

/// Kind of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// Something that is so: a name, a place, a decision.
    Fact,
    /// What a person wants.
    Preference,
    /// How something is done here: a convention, a fix for a failure.
    Procedure,
    /// What happened in a task.
    Episode,
}

impl MemoryKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Fact, Self::Preference, Self::Procedure, Self::Episode];

    /// Returns the word used in records and on the command line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Preference => "preference",
            Self::Procedure => "procedure",
            Self::Episode => "episode",
        }
    }
}

/// Place in the ledger that a claim rests on, with the words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Stream of the event.
    pub stream: StreamId,
    /// Position of the event.
    pub seq: Seq,
    /// Id of the event, which a copy of the session has too.
    pub event: EventId,
    /// The words.
    pub quote: Body,
    /// Keyed digest of the normal form of the words.
    pub digest: Handle,
    /// Who said them.
    pub speaker: Author,
}

/// Who proposes a change, or decides about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryAuthor {
    /// A person, by name.
    Person(Box<str>),
    /// The rules of this program, by version.
    Rules(Box<str>),
    /// A model, by name.
    Model(Box<str>),
    /// An agent at work, by the name of its program.
    Agent(Box<str>),
    /// A program that vouches for what it adds, by name.
    Host(Box<str>),
    /// A written policy, by name.
    Policy(Box<str>),
}

impl MemoryAuthor {
    /// Returns the author's kind and name.
    #[must_use]
    pub const fn parts(&self) -> (&'static str, &str) {
        match self {
            Self::Person(name) => ("person", name),
            Self::Rules(name) => ("rules", name),
            Self::Model(name) => ("model", name),
            Self::Agent(name) => ("agent", name),
            Self::Host(name) => ("host", name),
            Self::Policy(name) => ("policy", name),
        }
    }

    /// Returns whether the author may decide about a proposal of another: nobody decides about their own, except a person
    /// or a host program who says and approves something in one step.
    #[must_use]
    pub fn may_review(&self, proposer: &Self) -> bool {
        match self {
            Self::Person(_) => true,
            Self::Host(_) => self == proposer,
            Self::Policy(_) => self != proposer,
            Self::Rules(_) | Self::Model(_) | Self::Agent(_) => false,
        }
    }
}

/// A memory near a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearMemory {
    /// The memory.
    pub memory: Seq,
    /// How near, from 0 to 1,000: 1,000 for the same claim.
    pub nearness: u16,
    /// Whether both speak about the same subject and say something else.
    #[serde(default, skip_serializing_if = "is_default")]
    pub differs: bool,
}

/// Reason why only a person may approve a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldReason {
    /// The same claim was rejected in this scope.
    Rejected,
    /// The same claim was forgotten in this scope.
    Forgotten,
    /// The claim is near one that was rejected or forgotten.
    NearForgotten,
    /// The claim is an order to the agent.
    Order,
    /// The words come from the web, another program, or a file outside the project.
    Tainted,
    /// The claim contradicts a memory.
    Contradicts,
    /// Nobody's words support the claim.
    Unsupported,
}

/// Fields of [`Fact::MemoryReviewed`](super::event::Fact::MemoryReviewed).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryReviewed {
    /// The proposal.
    pub proposal: Seq,
    /// The verdict.
    pub verdict: MemoryVerdict,
    /// Who decided.
    pub by: MemoryAuthor,
    /// Reason, in the words of who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Body>,
}

/// Verdict about a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryVerdict {
    /// The change is to be made.
    Approved,
    /// The change is not made, and the claim is not learned again.
    Rejected,
}

/// Fields of [`Fact::MemoryChanged`](super::event::Fact::MemoryChanged).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryChanged {
    /// What was done.
    pub deed: MemoryDeed,
    /// Who did it.
    pub by: MemoryAuthor,
    /// Reason, in the words of who did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Body>,
}

/// What a change did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryDeed {
    /// An approved proposal was carried out, with the claim as it was approved if a person edited it.
    Applied {
        /// The proposal.
        proposal: Seq,
        /// The claim as a person edited it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edited: Option<Claim>,
    },
    /// A memory is again what it was after an earlier event of the log.
    RolledBack {
        /// The memory.
        memory: Seq,
        /// Last event that counts.
        to: Seq,
    },
    /// A forgotten memory was restored.
    Restored {
        /// The memory.
        memory: Seq,
    },
}

impl MemoryDeed {
    /// Returns the claim as a person edited it.
    #[must_use]
    pub const fn edited(&self) -> Option<&Claim> {
        match self {
            Self::Applied { edited, .. } => edited.as_ref(),
            Self::RolledBack { .. } | Self::Restored { .. } => None,
        }
    }
}

/// Fields of [`Fact::MemoryForgotten`](super::event::Fact::MemoryForgotten).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryForgotten {
    /// Memories that are no longer shown. Their texts stay until they are erased.
    pub memories: Vec<Seq>,
    /// Why they were chosen.
    pub why: ForgetReason,
    /// Who decided.
    pub by: MemoryAuthor,
    /// Reason, in the words of who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Body>,
}

/// Why memories were forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForgetReason {
    /// A person asked for it. The values are not learned again.
    Asked,
    /// They were older than the limit. Such values may be learned again.
    Age,
    /// They mattered less than the limit.
    Importance,
    /// There were more than the limit.
    Capacity,
    /// They were not used for longer than the limit.
    Disuse,
}

impl ForgetReason {
    /// Returns the word used in records and reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Age => "age",
            Self::Importance => "importance",
            Self::Capacity => "capacity",
            Self::Disuse => "disuse",
        }
    }
}
