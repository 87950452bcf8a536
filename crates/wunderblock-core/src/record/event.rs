//! Events: the closed list of facts that the ledger can hold. A new kind needs a design note.

#[macro_use]
mod kind;
mod body;
mod delegation;
mod place;
mod session;
mod skeleton;

use crate::id::{EventId, Handle, LaneId, StreamId, TenantId};
use crate::record::budget::Budget;
use crate::record::calibration::{Calibration, Overhead};
pub use crate::record::compaction::{
    CompactionOutcome, CompactionRejected, CompactionUndone, Focus, Rejection, RungTaken, SessionCompacted,
    SummaryCheck, SummarySpend,
};
use crate::record::decision::{Injection, Plan, Trim, TrimReason};
pub use crate::record::document::{DocumentIndexed, DocumentRemoved, DocumentSection};
pub use crate::record::memory::{
    MemoryChanged, MemoryForgotten, MemoryOpened, MemoryProposed, MemoryReviewed,
};
use crate::record::message::{Body, Dialect, Message};
use crate::record::preamble::PreambleChanged;
pub use crate::record::reduction::{ContentReduced, Reduction};
use crate::record::request::CachePoint;
use crate::record::work::WorkLog;
use crate::source::section::Section;
use crate::units::{Bytes, Cost, Millis, Seq, Tokens};
pub use delegation::{RouteChosen, RouteLayer, SubagentOutcome, SubagentReturned, SubagentSpawned};
pub use session::{SessionClosed, SessionDescribed, SessionForked, SessionOpened};

use serde::{Deserialize, Serialize};

/// Source of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventSource {
    /// Appended by a caller as it happened.
    Live,
    /// Read from a transcript. The raw record is at this place in the imported source.
    Import {
        /// Handle of the source.
        source: Handle,
        /// Revision that was read.
        revision: u32,
        /// First byte of the raw record.
        offset: u64,
        /// Length of the raw record, in bytes.
        len: u64,
    },
    /// Written by the engine itself.
    Engine,
}

/// A fact in the ledger, with its position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Tenant that owns the ledger.
    pub tenant: TenantId,
    /// Stream that holds the event.
    pub stream: StreamId,
    /// Position in the stream, assigned when the event is appended. Positions have no gaps.
    pub seq: Seq,
    /// The caller's idempotency key.
    pub id: EventId,
    /// Time of the event by the clock of the process that observed it.
    pub at: Millis,
    /// Source of the event.
    pub source: EventSource,
    /// The fact; `None` once it has been erased.
    #[serde(flatten)]
    pub fact: Option<Fact>,
    /// Remains of the fact once it has been erased; `None` while `fact` is present.
    #[serde(flatten)]
    pub erased: Option<Remains>,
}

/// Remains of an erased event besides its position, id and time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remains {
    /// Kind of the erased fact.
    pub kind: Box<str>,
    /// Always true. Distinguishes an erased event from one whose fields are missing.
    pub erased: bool,
}

impl Remains {
    /// Creates the remains of an event of a given kind.
    pub fn of(kind: impl Into<Box<str>>) -> Self {
        Self { kind: kind.into(), erased: true }
    }
}

/// A fact to be appended to the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewEvent {
    /// The caller's idempotency key.
    pub id: EventId,
    /// Time of the event.
    pub at: Millis,
    /// Source of the event.
    #[serde(default = "live")]
    pub source: EventSource,
    /// The fact.
    #[serde(flatten)]
    pub fact: Fact,
}

fn live() -> EventSource {
    EventSource::Live
}

kinds! {
    callers {
        /// A session began. Always the first event of a stream that is not a fork.
        SessionOpened(SessionOpened) = "session.opened",
        /// A session ended.
        SessionClosed(SessionClosed) = "session.closed",
        /// A session got a title or tags.
        SessionDescribed(SessionDescribed) = "session.described",
        /// A unit of work began.
        TaskStarted(TaskStarted) = "task.started",
        /// A unit of work ended.
        TaskFinished(TaskFinished) = "task.finished",
        /// A message was added to the conversation.
        MessageAppended(MessageAppended) = "message.appended",
        /// An entry was pinned into every request, or unpinned.
        ContentPinned(ContentPinned) = "content.pinned",
        /// An entry was hidden from all requests, or shown again. The hidden entry stays readable and searchable in
        /// the ledger.
        ContentHidden(ContentHidden) = "content.hidden",
        /// A provider reported what a call used.
        UsageMeasured(UsageMeasured) = "usage.measured",
        /// A turn of the agent ended.
        TurnCompleted(TurnCompleted) = "turn.completed",
        /// A sub-agent was started in a separate session.
        SubagentSpawned(SubagentSpawned) = "subagent.spawned",
        /// A sub-agent ended its work.
        SubagentReturned(SubagentReturned) = "subagent.returned",
    }
    engine {
        /// A session was continued from a position in another session. Always the first event of a fork.
        SessionForked(SessionForked) = "session.forked",
        /// A model was chosen for a delegate.
        RouteChosen(Box<RouteChosen>) = "route.chosen",
        /// A request was built. Holds everything that is needed to build the request again.
        ContextBuilt(Box<ContextBuilt>) = "context.built",
        /// Texts entered at the tail of a request.
        ContextInjected(ContextInjected) = "context.injected",
        /// A text got a shorter form. A lane may show the shorter form, and must show it if the reduction is standing
        /// and the text is new.
        ContentReduced(Box<ContentReduced>) = "content.reduced",
        /// Content was erased. This event is the receipt of the erasure.
        ContentErased(ContentErased) = "content.erased",
        /// A lane changed what it leaves out, in one recorded step.
        ViewTrimmed(ViewTrimmed) = "view.trimmed",
        /// The preamble of a lane changed.
        PreambleChanged(Box<PreambleChanged>) = "preamble.changed",
        /// A request came near its limit.
        BudgetWarned(BudgetWarned) = "budget.warned",
        /// A range was summarised. If no lane is given, the node was made elsewhere, and no view has adopted it.
        SessionCompacted(Box<SessionCompacted>) = "session.compacted",
        /// A compaction was tried and changed nothing.
        CompactionRejected(CompactionRejected) = "compaction.rejected",
        /// A compaction was undone, and the view before it applies again.
        CompactionUndone(CompactionUndone) = "compaction.undone",
        /// A version of a document begins. Its sections follow.
        DocumentIndexed(DocumentIndexed) = "document.indexed",
        /// A section of a document.
        DocumentSection(DocumentSection) = "document.section",
        /// A document ended: its file is gone, or a person removed it. Search no longer finds its sections.
        DocumentRemoved(DocumentRemoved) = "document.removed",
        /// A memory log begins. Always the first event of its stream.
        MemoryOpened(MemoryOpened) = "memory.opened",
        /// A change of long-term memory was proposed.
        MemoryProposed(Box<MemoryProposed>) = "memory.proposed",
        /// Somebody decided about a proposal.
        MemoryReviewed(MemoryReviewed) = "memory.reviewed",
        /// Long-term memory changed.
        MemoryChanged(Box<MemoryChanged>) = "memory.changed",
        /// Memories were forgotten: they are kept, and no longer shown.
        MemoryForgotten(MemoryForgotten) = "memory.forgotten",
    }
}

impl Fact {
    /// Returns the lane that the fact belongs to; `None` for facts of the session and of all its lanes.
    #[must_use]
    pub fn lane(&self) -> Option<&LaneId> {
        match self {
            Self::ContextBuilt(built) => Some(&built.lane),
            Self::ContextInjected(injected) => Some(&injected.lane),
            Self::ContentReduced(reduced) => reduced.lane.as_ref(),
            Self::ViewTrimmed(trimmed) => Some(&trimmed.lane),
            Self::PreambleChanged(changed) => Some(&changed.lane),
            Self::BudgetWarned(warned) => Some(&warned.lane),
            Self::SessionCompacted(made) => made.lane.as_ref(),
            Self::CompactionRejected(rejected) => Some(&rejected.lane),
            Self::CompactionUndone(undone) => Some(&undone.lane),
            _ => None,
        }
    }
}

/// Fields of [`Fact::TaskStarted`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskStarted {
    /// The caller's name for the task, unique in its session.
    pub task: Box<str>,
    /// Subject of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Box<str>>,
}

/// Fields of [`Fact::TaskFinished`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFinished {
    /// The caller's name for the task.
    pub task: Box<str>,
    /// Outcome, in the caller's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Box<str>>,
}

/// Fields of [`Fact::MessageAppended`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageAppended {
    /// The message.
    pub message: Message,
}

/// Fields of [`Fact::ContextBuilt`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextBuilt {
    /// Lane of the request.
    pub lane: LaneId,
    /// Model the request was built for.
    pub model: Box<str>,
    /// Policy that compacts the lane; `None` in records from before lanes were distinguished by policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Box<str>>,
    /// Format of the encoded request.
    pub dialect: Dialect,
    /// Version of the renderer. Old versions stay in the program.
    pub render: u32,
    /// Budget of the request.
    pub budget: Budget,
    /// Plan of the request.
    pub plan: Plan,
    /// Head of each stream that was read, the session's own first.
    pub heads: Vec<(StreamId, Seq)>,
    /// Tools, as one JSON text, if the request was built before lanes had a preamble.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Body>,
    /// Position of the preamble's record; `None` if the request has no preamble.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preamble: Option<Seq>,
    /// Places up to which the provider was asked to cache.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cache: Vec<CachePoint>,
    /// Beginning that the lane's next request should share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stem: Option<Stem>,
    /// Bytes shared with the beginning of the lane's previous request; `None` if this is the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common: Option<Bytes>,
    /// Tokens that the provider should find in its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_cached: Option<Tokens>,
    /// Calibration applied to our counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// Overhead of the program that made the session's requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Overhead>,
    /// Tokens by section, as reported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<(Section, Tokens)>,
    /// Total tokens, as reported.
    pub total_tokens: Tokens,
    /// Tokens that the request would take within its limit, had everything stood verbatim and had nothing been added
    /// for what is missing; `None` in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbatim: Option<Tokens>,
    /// Length of the encoded request.
    pub encoded_bytes: Bytes,
    /// BLAKE3 hash of the encoded request, hexadecimal.
    pub digest: Box<str>,
}

/// Beginning of a request, without the brackets that close it: the lane's next request should begin with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stem {
    /// Number of blocks: parts of messages, as the provider counts them.
    pub blocks: u64,
    /// Lengths in bytes, ascending, each with the first 16 hexadecimal digits of the BLAKE3 hash of that many leading
    /// bytes; the last length covers all bytes.
    pub marks: Vec<(Bytes, Box<str>)>,
    /// First 16 hexadecimal digits of the BLAKE3 hash up to the end of the last message, after which the reply was
    /// written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<(Bytes, Box<str>)>,
}

impl Stem {
    /// Returns the length of the stem, in bytes.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.marks.last().map_or(Bytes::ZERO, |(bytes, _)| *bytes)
    }
}

/// Fields of [`Fact::BudgetWarned`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetWarned {
    /// Lane of the request.
    pub lane: LaneId,
    /// Threshold that was passed, in hundredths of the limit.
    pub percent: u8,
    /// Tokens of the request.
    pub total_tokens: Tokens,
    /// Maximum number of tokens in the request.
    pub limit: Tokens,
}

/// Reason why no request was sent: the parts that cannot be left out did not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overflow {
    /// Maximum that the sections may use.
    pub limit: Cost,
    /// Cost of the smallest possible request.
    pub needed: Cost,
    /// Parts of the smallest request's cost, by section.
    pub sections: Vec<(Section, Cost)>,
}

/// Fields of [`Fact::ContextInjected`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextInjected {
    /// Lane that the texts entered.
    pub lane: LaneId,
    /// Texts that entered, in order.
    pub items: Vec<Injection>,
    /// Work log of the lane, if the items are made from it. The new log replaces the one recorded earlier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Box<WorkLog>>,
}

impl ContextInjected {
    /// Creates the record of texts that entered at a lane's tail.
    #[must_use]
    pub const fn new(lane: LaneId, items: Vec<Injection>) -> Self {
        Self { lane, items, work: None }
    }
}

/// Fields of [`Fact::ContentPinned`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentPinned {
    /// Position of the entry.
    pub target: Seq,
    /// Whether the entry is pinned from here on.
    pub pinned: bool,
}

/// Fields of [`Fact::ContentHidden`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentHidden {
    /// Position of the entry. A call's results are hidden with it, and so is the call of a result.
    pub target: Seq,
    /// Whether the entry is hidden from here on.
    pub hidden: bool,
}

/// Fields of [`Fact::ContentErased`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentErased {
    /// First position erased.
    pub from_seq: Seq,
    /// Last position erased.
    pub to_seq: Seq,
    /// Number of events that lost their content.
    pub events: u64,
    /// Number of bodies removed because nothing else refers to them.
    pub blobs: u64,
    /// Number of overwritten bytes in imported sources.
    pub source_bytes: Bytes,
    /// Reason given by the caller. Never contains the erased content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Box<str>>,
}

/// Fields of [`Fact::ViewTrimmed`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewTrimmed {
    /// Lane that took the step.
    pub lane: LaneId,
    /// State of the lane from here on.
    pub trim: Trim,
    /// Reason for the step.
    pub reason: TrimReason,
    /// Model and window of the lane's requests from here on, if the step states them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<LaneTarget>,
    /// Outcome of the compaction, if a policy took the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<Box<CompactionOutcome>>,
}

/// Model and window that a lane's requests are built for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneTarget {
    /// Name of the model.
    pub model: Box<str>,
    /// Window of the model, in tokens.
    pub window: Tokens,
}

/// See [`Fact::UsageMeasured`]. All counts follow one convention, whatever the provider's own convention is: the
/// parts add up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageMeasured {
    /// Provider's id of the reply. A later report for the same reply replaces an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_id: Option<Box<str>>,
    /// Name of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Box<str>>,
    /// Input tokens that were neither read from nor written to a cache.
    pub input: Tokens,
    /// Input tokens read from the cache.
    pub cache_read: Tokens,
    /// Input tokens written to the cache.
    pub cache_write: Tokens,
    /// Output tokens, including reasoning.
    pub output: Tokens,
    /// Context window, if the provider reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Tokens>,
    /// Position of the `context.built` whose request was sent as built, if the caller states it. Usage that is
    /// reported right after a request was built does not have to state the position of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Seq>,
}

impl UsageMeasured {
    /// Creates the record for a reply from four counts: uncached input, input read from a cache, input written to a
    /// cache, and output.
    #[must_use]
    pub fn of(reply: &Message, tokens: [u64; 4]) -> Self {
        let [input, cache_read, cache_write, output] = tokens.map(Tokens);
        let (api_id, model) = (reply.api_id.clone(), reply.model.clone());
        Self { api_id, model, input, cache_read, cache_write, output, window: None, request: None }
    }
}

/// Fields of [`Fact::TurnCompleted`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnCompleted {
    /// Reason why the turn ended: `end`, `aborted`, `error`, or the provider's word.
    pub stop_reason: Box<str>,
    /// Code of the error, such as `context_overflow`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<Box<str>>,
    /// Details of how the turn ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Box<str>>,
    /// Parts that did not fit, for a `context_overflow`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overflow: Option<Overflow>,
}
