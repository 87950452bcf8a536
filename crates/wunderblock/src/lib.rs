//! A context and memory engine for LLM agents.
//!
//! An [`Engine`] keeps a durable ledger of sessions and builds each model request from it, inside a budget:
//!
//! ```text
//! engine.session(id) ─ append(events)          durable when it returns
//!                    ─ context(options)        the next request, its report, and the record of both
//!                    ─ explain(options)        the same, recording nothing
//!                    ─ replay(position)        any earlier request, byte for byte
//! engine             ─ import, search, grep, read, doctor
//! ```
//! What decides is in [`wunderblock_core`]; what speaks to providers and reads transcripts in [`wunderblock_wire`]. This
//! crate adds storage, counting and the index, and reads neither environment nor home directory: whoever opens an
//! engine passes a [`Config`].

mod backup;
mod build;
pub mod catalog;
mod catch_up;
mod claims;
mod compact;
mod doctor;
mod door;
mod echo;
mod engine;
mod erase;
mod error;
mod fate;
mod gauge;
pub mod graph;
mod grep;
mod hash;
mod import;
pub mod index;
mod known;
pub mod limits;
pub mod model;
mod output;
mod parallel;
pub mod policy;
pub mod process;
mod read;
mod record;
pub mod redact;
mod reduce;
mod restore;
mod search;
mod session;
mod simulate;
pub mod sources;
pub mod store;
pub mod summarize;
pub mod tokens;
mod trip;
mod usage;

pub use build::{
    Built, CachePlan, ContextOptions, Difference, Given, Instructions, OfferedTool, Recorded, Replayed,
    Resource, Skill, Sources, StateProvider,
};
pub use catch_up::Progress;
pub use compact::{
    CompactOptions, Compacted, Compactor, Hook, LaneState, MadeNode, OnProgress, Outcome, Stage, Undone,
};
pub use doctor::{Diagnosis, Ledger, Note, Problem};
pub use door::Unappendable;
pub use engine::{Clock, Config, Engine, Reducer};
pub use erase::{Along, Erased, TextFound, TextPlace, TextRecord};
pub use error::{Error, ErrorKind, ImportReason};
pub use fate::Fate;
pub use grep::{GrepOptions, Match};
pub use import::{Imported, MAX_WARNINGS, OnBytes, Transcripts, transcripts};
pub use output::{Keep, Kept, Output, Wanted};
pub use read::{Address, Content, Slice, originals};
pub use record::ReadyEvent;
pub use restore::Restored;
pub use search::{Found, SearchOptions, SearchOrder, SearchResult};
pub use session::Session;
pub use simulate::{OnSimulated, PolicyResult, SimulateOptions, Simulation};
pub use usage::Usage;
