//! A context and memory engine for LLM agents.
//!
//! An [`Engine`] keeps a durable ledger of sessions and builds each model request from it, within a budget:
//!
//! ```text
//! engine.session_by_id(id) ─ append(events)          durable when it returns
//!                    ─ context(options)        the next request, its report, and the record of both
//!                    ─ explain(options)        the same, recording nothing
//!                    ─ replay(position)        any earlier request, byte for byte
//! engine             ─ import, search, grep, read, doctor
//! ```
//! Decisions are made in [`wunderblock_core`]; provider formats and transcripts are handled in [`wunderblock_wire`].
//! This crate adds storage, token counting and the text index. This crate reads neither environment variables nor the
//! home directory: callers pass a [`Config`] when they open an engine.

pub mod account;
mod address;
mod agent;
mod agent_view;
pub mod agents;
mod authors;
#[cfg(feature = "sqlite")]
mod backup;
pub mod catalog;
mod catch_up;
mod command;
mod compact;
mod compactor;
mod content;
mod context;
mod deadline;
mod delegates;
mod doctor;
mod door;
mod drive;
mod edit_error;
mod engine;
mod entry;
mod erase;
mod error;
mod found;
mod future;
pub mod graph;
mod grep;
pub mod handoff;
mod header_cache;
mod hint;
mod histories;
mod import;
mod incoming;
mod kept_bytes;
mod lane;
mod latest;
#[cfg(feature = "sqlite")]
mod ledger_copies;
mod ledger_file;
pub mod limits;
mod lineage;
mod lossy;
mod maintenance;
pub mod memory;
#[cfg(feature = "http")]
pub mod model;
mod note;
#[cfg(feature = "sqlite")]
mod open;
mod originals;
mod output;
mod page;
mod page_finder;
mod parallel;
mod placement;
pub mod policy;
pub mod prelude;
pub mod process;
mod query_batch;
mod read;
mod read_page;
pub mod recap;
mod record;
mod records;
mod reduce;
mod reductions;
pub mod report;
mod request;
#[cfg(feature = "sqlite")]
mod restore;
mod search;
mod session;
mod short_id;
mod simulate;
mod stored;
pub mod summarize;
mod texts;
mod token_costs;
pub mod tokens;
mod turns;
mod usage;
mod visibility;

pub use authors::first_request;
/// Runs a future to completion on the current thread, for programs without an async executor. The library requires no
/// async executor.
pub use futures_executor::block_on;
pub use wunderblock_core as core;
pub use wunderblock_core::nearest::nearest;
pub use wunderblock_redact as redact;
pub use wunderblock_sources as sources;
pub use wunderblock_sources::definitions;
pub use wunderblock_sources::project::{project_folders, repository_of};
pub use wunderblock_store as store;
pub use wunderblock_summary::CallFailure;
pub use wunderblock_wire::delegation::{DelegateText, Delegation, DelegationOutcome, ModelMismatch};

pub use address::{Address, Slice};
pub use agent_view::{AgentBoundary, AgentFound, AgentPlace, AgentView};
#[cfg(feature = "sqlite")]
pub use backup::BackedUp;
pub use catch_up::Progress;
pub use command::{CommandResult, ShellCommand};
pub use compact::account::{Compacted, CompactedRequest, CompactionResult, MadeNode};
pub use compact::leaving::{CompactionMoney, Leaving, LeavingKind};
pub use compact::options::{CompactOptions, CompactionStage, OnProgress, SummaryEdit};
pub use compact::state::LaneState;
pub use compact::undo::Undone;
pub use compactor::{Compactor, Hook};
pub use context::Built;
pub use deadline::Deadline;
pub use delegates::{Agents, DelegateCall, DelegationNode};
pub use doctor::diagnosis::{Diagnosis, DoctorNote, Problem};
pub use drive::lanes::LaneBuilt;
pub use drive::replay::{Difference, Replayed};
pub use edit_error::EditError;
pub use engine::{Config, Engine, Reducer};
pub use entry::EntryDescription;
pub use erase::{Along, Erased, TextFound, TextPlace, TextRecord};
pub use error::{Error, ErrorKind, ImportReason, Unappendable};
pub use found::Found;
pub use future::BoxFuture;
pub use grep::{GrepOptions, GrepStop, Match};
pub use hint::Hint;
pub use histories::holds_sessions;
pub use histories::member::HistoryFile;
pub use import::{ImportNotice, Imported, OnBytes, Transcripts, transcripts, was_imported};
pub use incoming::{Clock, IdSource, IntoEvents, Stamp};
pub use kept_bytes::BytePlace;
pub use lane::SessionLane;
pub use latest::latest_session;
#[cfg(feature = "sqlite")]
pub use ledger_copies::ErasedPart;
pub use maintenance::Ledger;
pub use maintenance::Maintenance;
pub use note::SavedNote;
pub use originals::originals;
pub use output::{Keep, Output, OutputOptions, ShortenedOutput};
pub use page::Page;
pub use placement::{Advice, Placement};
pub use read::Content;
pub use read_page::ReadPage;
pub use record::ReadyEvent;
pub use request::draft::Draft;
pub use request::options::{ContextOptions, Model};
pub use request::prefix::{CachePlan, ReportedCache};
pub use request::provider::StateProvider;
pub use request::sources::{AgentType, Given, Instructions, OfferedTool, Resource, Skill, Sources};
#[cfg(feature = "sqlite")]
pub use restore::Restored;
pub use search::{HitStrength, SearchCut, SearchHit, SearchOptions, SearchOrder, SearchResult};
pub use session::Session;
pub use short_id::ShortIds;
pub use simulate::{
    OnSimulated, PairedDifference, PairedVerdict, PolicyDifference, PolicyGain, PolicyResult, Recall,
    RecallCounts, ReplyRecall, SimulateOptions, SimulatedHistory, Simulation, SummaryWriter, histories,
};
pub use turns::Turns;
pub use usage::Usage;
pub use visibility::{Visibility, VisibilityChange};
