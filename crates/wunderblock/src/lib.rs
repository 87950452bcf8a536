//! A context and memory engine for LLM agents.
//!
//! An [`Engine`] keeps a durable ledger of sessions and builds each model request from it, within a budget:
//!
//! ```text
//! engine.session_by_id(id) ─ append(events)          durable when it returns
//!                    ─ context(options)        the next request, its report, and the record of both
//!                    ─ explain(options)        the same, recording nothing
//!                    ─ replay(position)        any earlier request, byte for byte
//! engine.recall()    ─ search, grep, read, expand
//! engine.memory(scope) ─ add, review, list, forget   claims that outlive a session
//! engine             ─ import, documents, agents, maintenance
//! ```
//! Decisions are made in [`wunderblock_core`]; provider formats and transcripts are handled in [`wunderblock_wire`].
//! This crate adds storage, token counting and the text index. This crate reads neither environment variables nor the
//! home directory: callers pass a [`Config`] when they open an engine.

mod base;
mod compaction;
mod delegates;
mod histories;
mod import;
mod keeping;
mod lanes;
mod ledger;
mod limits;
pub mod machine;
mod memory;
mod recall;
mod request;
mod rules;
mod show;

pub use delegates::handoff;
/// Runs a future to completion on the current thread, for programs without an async executor. The library requires no
/// async executor.
pub use futures_executor::block_on;
pub use lanes::in_memory;
pub use lanes::recap;
pub use ledger::recording::authors::first_request;
pub use recall::summary_graph;
pub use rules::catalog;
pub use rules::embedder;
#[cfg(feature = "http")]
pub use rules::model;
pub use rules::policy;
pub use rules::process;
pub use rules::summarize;
pub use rules::tokens;
pub use show::account;
pub use show::eval;
pub use show::report;
pub use wunderblock_core as core;
pub use wunderblock_core::nearest::nearest;
pub use wunderblock_redact as redact;
pub use wunderblock_sources as sources;
pub use wunderblock_sources::definitions;
pub use wunderblock_sources::project::{ProjectPlace, place_of, project_folders, repository_of};
pub use wunderblock_store as store;
pub use wunderblock_summary::CallFailure;
pub use wunderblock_wire::delegation::{DelegateText, Delegation, DelegationOutcome, ModelMismatch};

pub use base::deadline::Deadline;
pub use base::edit_error::EditError;
pub use base::error::{Error, ErrorKind, ImportReason, Unappendable};
pub use base::future::BoxFuture;
pub use base::hint::Hint;
pub use base::short_id::ShortIds;
pub use base::turns::Turns;
pub use compaction::compact::accounting::account::{Compacted, CompactedRequest, CompactionResult, MadeNode};
pub use compaction::compact::accounting::leaving::{CompactionMoney, Leaving, LeavingKind};
pub use compaction::compact::options::{CompactOptions, CompactionStage, OnProgress, SummaryEdit};
pub use compaction::compact::state::LaneState;
pub use compaction::compact::undo::Undone;
pub use compaction::drive::lanes::LaneBuilt;
pub use compaction::drive::replay::{Difference, Replayed};
pub use delegates::sessions::{Agents, DelegateCall, DelegationNode};
pub use histories::holds_sessions;
pub use histories::member::HistoryFile;
pub use import::documents::{Documents, IndexedDocuments, KnownDocument, SkippedDocument};
pub use import::transcripts::{ImportNotice, Imported, OnBytes, Transcripts, transcripts, was_imported};
#[cfg(feature = "sqlite")]
pub use keeping::backup::BackedUp;
pub use keeping::doctor::diagnosis::{Diagnosis, DoctorNote, Problem};
pub use keeping::erase::{Along, Erased, TextFound, TextPlace, TextRecord};
#[cfg(feature = "sqlite")]
pub use keeping::ledger_copies::ErasedPart;
pub use keeping::maintenance::Ledger;
pub use keeping::maintenance::Maintenance;
#[cfg(feature = "sqlite")]
pub use keeping::restore::Restored;
pub use lanes::agent_view::{AgentBoundary, AgentFound, AgentPlace, AgentView};
pub use lanes::context::Built;
pub use lanes::explain::entry::EntryDescription;
pub use lanes::explain::found::Found;
pub use lanes::explain::placement::{Advice, Placement};
pub use lanes::lane::SessionLane;
pub use lanes::usage::Usage;
pub use lanes::visibility::{Visibility, VisibilityChange};
pub use ledger::engine::{Config, Engine, Reducer};
pub use ledger::incoming::{Clock, IdSource, IntoEvents, Stamp};
pub use ledger::kept_bytes::BytePlace;
pub use ledger::project::{ReachChoice, latest_session, reach_at, scope_at};
pub use ledger::reading::address::{Address, Slice};
pub use ledger::reading::originals::originals;
pub use ledger::recording::command::{CommandResult, ShellCommand};
pub use ledger::recording::output::{Keep, Output, OutputOptions, ShortenedOutput};
pub use ledger::recording::record::ReadyEvent;
pub use ledger::session::Session;
pub use limits::{
    COMMAND_TIME, COMMAND_TOKENS, COMPACTION_LEASE, ERASE_TEXT_MIN, EXPAND_LEAST, EXPAND_MOST, EXPAND_TOKENS,
    MAX_LINE, MAX_MESSAGE_OUTPUT, MAX_WARNINGS, NOTE_BYTES, PAGE_BYTES, PLACEMENTS, PROVIDER_BYTES,
    PROVIDER_TIME, SEARCH_TIME,
};
pub use memory::{
    Memories, MemoryDecision, MemoryDescription, MemoryFilter, MemoryLearned, MemoryName, MemoryOutcome,
    MemoryStep, MemoryWritten, NewChange, NewClaim, NewEvidence, NewMemory, ProposalDescription,
};
pub use recall::catch_up::Progress;
pub use recall::grep::{GrepOptions, GrepStop, Match};
pub use recall::handle::Recall;
pub use recall::note::SavedNote;
pub use recall::read::Content;
pub use recall::read_page::ReadPage;
pub use recall::search::{
    DocumentPlace, HitStrength, SearchCut, SearchHit, SearchIn, SearchOptions, SearchOrder, SearchResult,
};
pub use request::input::options::{ContextOptions, Model};
pub use request::input::provider::StateProvider;
pub use request::input::sources::{AgentType, Given, Instructions, OfferedTool, Resource, Skill, Sources};
pub use request::named::unasked::{RecalledPassage, UnaskedOutcome, UnaskedRecall};
pub use request::named::{AskedFor, AskedOutcome};
pub use request::steps::draft::Draft;
pub use request::steps::prefix::{CachePlan, ReportedCache};
pub use rules::compactor::{Compactor, Hook};
pub use show::simulate::{
    OnSimulated, PairedDifference, PairedVerdict, PolicyDifference, PolicyGain, PolicyResult, RecallCounts,
    RecallShares, ReplyRecall, SimulateOptions, SimulatedHistory, Simulation, SummaryWriter, histories,
};
pub use show::timeline::{CompactionMark, Timeline, TimelineGap, TimelineStretch, TimelineText};

/// Items that most programs need: `use wunderblock::prelude::*;`.
pub mod prelude {
    pub use crate::{
        Address, Built, Config, ContextOptions, Draft, Engine, Error, ErrorKind, Hint, IntoEvents, Model,
        SearchOptions, Session, Slice,
    };
    pub use wunderblock_core::event::{Event, Fact, NewEvent};
    pub use wunderblock_core::id::{EventId, Handle, HandlePrefix, LaneId, StreamId};
    pub use wunderblock_core::message::{Dialect, Message, Part, Role};
    pub use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};
}
