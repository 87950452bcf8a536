//! What happened: the closed list of facts the ledger can hold. A new kind needs a design note.

#[macro_use]
mod kind;
mod place;

use crate::budget::Budget;
use crate::calibration::{Calibration, Overhead};
pub use crate::compaction::{
    CompactionOutcome, CompactionRejected, CompactionUndone, Focus, Rejection, RungTaken, SessionCompacted,
    SummaryCheck, SummarySpend,
};
use crate::decision::{Injection, Plan, Trim, TrimReason};
use crate::id::{EventId, Handle, LaneId, Scope, StreamId, TenantId};
use crate::message::{Body, Dialect, Message};
use crate::preamble::PreambleChanged;
pub use crate::reduction::{ContentReduced, Reduction};
use crate::request::CachePoint;
use crate::section::Section;
use crate::units::{Bytes, Cost, Millis, Seq, Tokens};
use crate::work::WorkLog;

use serde::{Deserialize, Serialize};

/// Where an event came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventSource {
    /// Handed in while it happened.
    Live,
    /// Read from a transcript; the raw record stands at this place of the imported source.
    Import {
        /// The source.
        source: Handle,
        /// The revision of it that was read.
        revision: u32,
        /// First byte of the raw record.
        offset: u64,
        /// Its length in bytes.
        len: u64,
    },
    /// Written by the engine itself.
    Engine,
}

/// One fact in the ledger, in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Whose ledger.
    pub tenant: TenantId,
    /// Which log.
    pub stream: StreamId,
    /// Its position: gapless, given when it is appended.
    pub seq: Seq,
    /// The caller's idempotency key.
    pub id: EventId,
    /// When, by the clock of whoever saw it happen.
    pub at: Millis,
    /// From where.
    pub source: EventSource,
    /// What. `None` once it has been erased.
    #[serde(flatten)]
    pub fact: Option<Fact>,
    /// What is left of it once it has been erased; `None` while `fact` is there.
    #[serde(flatten)]
    pub erased: Option<Remains>,
}

/// What is left of an erased event beside its position, id and time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remains {
    /// The kind it had.
    pub kind: Box<str>,
    /// Always true: tells it from an event whose fields are missing.
    pub erased: bool,
}

impl Remains {
    /// The remains of an event of a kind.
    pub fn of(kind: impl Into<Box<str>>) -> Self {
        Self { kind: kind.into(), erased: true }
    }
}

/// A fact on its way into the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewEvent {
    /// The caller's idempotency key.
    pub id: EventId,
    /// When it happened.
    pub at: Millis,
    /// From where.
    #[serde(default = "live")]
    pub source: EventSource,
    /// What.
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
        /// A unit of work began.
        TaskStarted(TaskStarted) = "task.started",
        /// A unit of work ended.
        TaskFinished(TaskFinished) = "task.finished",
        /// Something was said.
        MessageAppended(MessageAppended) = "message.appended",
        /// An entry shall stay in every request, or no longer.
        ContentPinned(ContentPinned) = "content.pinned",
        /// An entry shall be in no request, or may be again. It stays in the ledger, readable and found by searches.
        ContentHidden(ContentHidden) = "content.hidden",
        /// A provider reported what a call used.
        UsageMeasured(UsageMeasured) = "usage.measured",
        /// A turn of the agent ended.
        TurnCompleted(TurnCompleted) = "turn.completed",
        /// A sub-agent was started in a session of its own.
        SubagentSpawned(SubagentSpawned) = "subagent.spawned",
    }
    engine {
        /// A session went on from a position of another. Always the first event of a fork.
        SessionForked(SessionForked) = "session.forked",
        /// A request was built; holds everything that is needed to build it again.
        ContextBuilt(Box<ContextBuilt>) = "context.built",
        /// Something came back, at the tail.
        ContextInjected(ContextInjected) = "context.injected",
        /// A text was given a shorter form, which a lane can show in its place, or shall if it has not shown the text yet.
        ContentReduced(Box<ContentReduced>) = "content.reduced",
        /// Content was erased; the receipt of it.
        ContentErased(ContentErased) = "content.erased",
        /// A lane left something out, in one recorded step.
        ViewTrimmed(ViewTrimmed) = "view.trimmed",
        /// What stands before the conversation is not what it was.
        PreambleChanged(Box<PreambleChanged>) = "preamble.changed",
        /// A request has come near its limit.
        BudgetWarned(BudgetWarned) = "budget.warned",
        /// A range was summarised. Without a lane it is an available node, made elsewhere, that no view has adopted.
        SessionCompacted(Box<SessionCompacted>) = "session.compacted",
        /// A compaction was tried and changed nothing.
        CompactionRejected(CompactionRejected) = "compaction.rejected",
        /// The view before a compaction holds again.
        CompactionUndone(CompactionUndone) = "compaction.undone",
    }
}

impl Fact {
    /// The lane it belongs to; `None` for what is said in the session or true of all its lanes.
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

    /// The bodies the fact carries, to be moved into blobs.
    pub fn bodies_mut(&mut self) -> Vec<&mut Body> {
        match self {
            Self::MessageAppended(said) => {
                said.message.parts.iter_mut().flat_map(crate::message::Part::bodies_mut).collect()
            }
            Self::SessionCompacted(compacted) => compacted.summary.iter_mut().collect(),
            Self::ContentReduced(reduced) => vec![&mut reduced.text],
            Self::ContextBuilt(built) => built.inputs.iter_mut().collect(),
            Self::PreambleChanged(changed) => changed.preamble.bodies_mut().collect(),
            Self::ContextInjected(injected) => {
                let own = injected.items.iter_mut().filter(|item| item.is_new());
                own.map(|item| &mut item.body).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The bodies that are read on demand, by their handle: they become blobs however short they are.
    pub fn on_demand_mut(&mut self) -> Vec<&mut Body> {
        match self {
            Self::PreambleChanged(changed) => {
                changed.preamble.blocks.iter_mut().filter_map(|block| block.body.as_mut()).collect()
            }
            Self::SessionCompacted(compacted) if compacted.lane.is_some() => {
                compacted.summary.iter_mut().collect()
            }
            _ => Vec::new(),
        }
    }

    /// The bodies the fact carries.
    #[must_use]
    pub fn bodies(&self) -> Vec<&Body> {
        match self {
            Self::MessageAppended(said) => {
                said.message.parts.iter().flat_map(crate::message::Part::bodies).collect()
            }
            Self::SessionCompacted(compacted) => compacted.summary.iter().collect(),
            Self::ContentReduced(reduced) => vec![&reduced.text],
            Self::ContextBuilt(built) => built.inputs.iter().collect(),
            Self::PreambleChanged(changed) => changed.preamble.bodies().collect(),
            Self::ContextInjected(injected) => {
                injected.items.iter().filter(|item| item.is_new()).map(|item| &item.body).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// See [`Fact::SessionOpened`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionOpened {
    /// Whose session it is.
    #[serde(default)]
    pub scope: Scope,
    /// The format it was imported from, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Box<str>>,
    /// Where the agent worked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Box<str>>,
    /// The version of the agent program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Box<str>>,
    /// The session this one was started from as a sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<StreamId>,
}

/// See [`Fact::SessionForked`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionForked {
    /// The session that was gone on from.
    pub parent: StreamId,
    /// The last position the two have in common. The fork's own events follow with the next.
    pub at_seq: Seq,
}

/// See [`Fact::SessionClosed`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionClosed {
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Box<str>>,
}

/// See [`Fact::TaskStarted`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskStarted {
    /// The caller's name for the task, unique in its session.
    pub task: Box<str>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Box<str>>,
}

/// See [`Fact::TaskFinished`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFinished {
    /// The task.
    pub task: Box<str>,
    /// How it ended, in the caller's word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Box<str>>,
}

/// See [`Fact::MessageAppended`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageAppended {
    /// What was said.
    pub message: Message,
}

/// See [`Fact::ContextBuilt`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextBuilt {
    /// Which consumer's view.
    pub lane: LaneId,
    /// The model it was built for.
    pub model: Box<str>,
    /// The name of the policy its lane is compacted by; `None` in records from before lanes were told apart by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Box<str>>,
    /// The format it was written in.
    pub dialect: Dialect,
    /// The version of the renderer. Old versions stay in the program.
    pub render: u32,
    /// What it had to fit into.
    pub budget: Budget,
    /// What was decided.
    pub plan: Plan,
    /// The head of each stream it read, its own first.
    pub heads: Vec<(StreamId, Seq)>,
    /// Tools, as one JSON text, where the request was built before lanes had a preamble.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Body>,
    /// Where the preamble it begins with is recorded; none if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preamble: Option<Seq>,
    /// Where a provider was told to cache up to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cache: Vec<CachePoint>,
    /// The part of it that the next request should begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stem: Option<Stem>,
    /// How many bytes at the beginning it has in common with the lane's request before; none if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common: Option<Bytes>,
    /// How many of its tokens the provider should find in its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_cached: Option<Tokens>,
    /// What our counts were multiplied by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// What the program that made the session's requests added to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Overhead>,
    /// The report's sections.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<(Section, Tokens)>,
    /// The report's total.
    pub total_tokens: Tokens,
    /// The length of the encoded request.
    pub encoded_bytes: Bytes,
    /// BLAKE3 of the encoded request, hexadecimal.
    pub digest: Box<str>,
}

/// The beginning of a request, without the brackets that close it: what the lane's next request should begin with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stem {
    /// Its blocks: parts of messages, as the provider counts them.
    pub blocks: u64,
    /// The first 16 hexadecimal digits of BLAKE3 over so many bytes from the beginning, ascending; the last is all of it.
    pub marks: Vec<(Bytes, Box<str>)>,
    /// The same up to the end of its last message: what the reply to it was written behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<(Bytes, Box<str>)>,
}

impl Stem {
    /// How long it is.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.marks.last().map_or(Bytes::ZERO, |(bytes, _)| *bytes)
    }
}

/// See [`Fact::BudgetWarned`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetWarned {
    /// Which consumer's view.
    pub lane: LaneId,
    /// The threshold that was passed, in hundredths of the limit.
    pub percent: u8,
    /// What the request takes.
    pub total_tokens: Tokens,
    /// What it may take.
    pub limit: Tokens,
}

/// Why no request was sent: what could not be left out did not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overflow {
    /// What the sections may use.
    pub limit: Cost,
    /// What the least request would take.
    pub needed: Cost,
    /// What that is made of, section by section.
    pub sections: Vec<(Section, Cost)>,
}

/// See [`Fact::ContextInjected`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextInjected {
    /// Which consumer's view.
    pub lane: LaneId,
    /// What came back, in order.
    pub items: Vec<Injection>,
    /// What the lane's work has come to, where the items tell of it; it replaces what was recorded of it before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Box<WorkLog>>,
}

impl ContextInjected {
    /// Texts that came in at a lane's tail.
    #[must_use]
    pub const fn new(lane: LaneId, items: Vec<Injection>) -> Self {
        Self { lane, items, work: None }
    }
}

/// See [`Fact::ContentPinned`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentPinned {
    /// The entry.
    pub target: Seq,
    /// Whether it is pinned from here on.
    pub pinned: bool,
}

/// See [`Fact::ContentHidden`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentHidden {
    /// The entry. What it belongs to goes along: a call with its results, and a result with its call.
    pub target: Seq,
    /// Whether it is hidden from here on.
    pub hidden: bool,
}

/// See [`Fact::ContentErased`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentErased {
    /// First position erased.
    pub from_seq: Seq,
    /// Last position erased.
    pub to_seq: Seq,
    /// How many events lost their content.
    pub events: u64,
    /// How many bodies were removed because nothing else held them.
    pub blobs: u64,
    /// How many bytes of imported sources were overwritten.
    pub source_bytes: Bytes,
    /// Why, in the words of whoever asked. Never the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Box<str>>,
}

/// See [`Fact::ViewTrimmed`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewTrimmed {
    /// Which consumer's view.
    pub lane: LaneId,
    /// What is left out and stubbed from here on.
    pub trim: Trim,
    /// Why the lane moved.
    pub reason: TrimReason,
    /// What the lane's requests are for from here on, where a step was taken for that before a request was built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<LaneTarget>,
    /// Of a step that a policy took: what it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<Box<CompactionOutcome>>,
}

/// What a lane's requests are for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneTarget {
    /// The model.
    pub model: Box<str>,
    /// Its window.
    pub window: Tokens,
}

/// See [`Fact::UsageMeasured`]. Counts follow one convention, whatever the provider's: the parts add up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageMeasured {
    /// The provider's id of the reply it belongs to; a later report for the same reply replaces an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_id: Option<Box<str>>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Box<str>>,
    /// Input that was neither read from nor written to a cache.
    pub input: Tokens,
    /// Input read from the cache.
    pub cache_read: Tokens,
    /// Input written to the cache.
    pub cache_write: Tokens,
    /// Output, reasoning included.
    pub output: Tokens,
    /// The context window, where the provider told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Tokens>,
    /// The position of the `context.built` whose request was sent as it was built, where the caller says so. Usage that is
    /// told right after a request was built need not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Seq>,
}

impl UsageMeasured {
    /// What was measured of a reply: input, read from a cache, written to it, output.
    #[must_use]
    pub fn of(reply: &Message, tokens: [u64; 4]) -> Self {
        let [input, cache_read, cache_write, output] = tokens.map(Tokens);
        let (api_id, model) = (reply.api_id.clone(), reply.model.clone());
        Self { api_id, model, input, cache_read, cache_write, output, window: None, request: None }
    }
}

/// See [`Fact::TurnCompleted`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnCompleted {
    /// Why the turn ended: `end`, `aborted`, `error`, or the provider's word.
    pub stop_reason: Box<str>,
    /// Which error, such as `context_overflow`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<Box<str>>,
    /// What is to be known about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Box<str>>,
    /// Of a `context_overflow`: what did not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overflow: Option<Overflow>,
}

/// See [`Fact::SubagentSpawned`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubagentSpawned {
    /// The sub-agent's session.
    pub session: StreamId,
}
