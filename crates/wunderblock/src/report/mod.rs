//! Reports as data: what happened, as values that serialise to the JSON every door gives.
//!
//! The command line prints them with `--json`; servers and other languages' libraries give the same. Fields are promises:
//! they are added, never renamed or removed, without a new [`VERSION`].

mod compaction;
mod request;
mod requests;

pub use compaction::{CompactionReport, DueReport, SummaryReport, TaskReport, UndoReport};
pub use request::{
    AnchorReport, BlockReport, CacheReport, DroppedReport, FoundInCache, RequestReport, ToolReport,
};
pub use requests::{CauseReport, DifferenceReport, PlacementReport, ReplayReport};

/// The version of the reports' fields.
pub const VERSION: u32 = 1;
