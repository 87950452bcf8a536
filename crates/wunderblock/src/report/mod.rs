//! Reports as data: what happened, as values that serialise to the JSON every door gives.
//!
//! The command line prints them with `--json`; servers and other languages' libraries give the same. Fields are promises:
//! they are added, never renamed or removed, without a new [`VERSION`].
//!
//! Outcomes whose fields are those of their report serialise themselves: [`Imported`](crate::Imported),
//! [`SearchHit`](crate::SearchHit), [`Match`](crate::Match), [`TextFound`](crate::TextFound),
//! [`Described`](crate::graph::Described), [`Expanded`](crate::graph::Expanded), [`Simulation`](crate::Simulation). The
//! same version covers them.

mod agent_view;
mod compaction;
#[cfg(feature = "sqlite")]
mod copies;
pub(crate) mod lossy;
mod output;
mod request;
mod requests;
mod session;
mod text;
mod visibility;

pub use agent_view::{AgentFoundReport, AgentPlaceReport, AgentViewReport, BoundaryReport};
pub use compaction::{
    CompactionReport, DueReport, LeavingKindReport, LeavingReport, NotedReport, SummaryReport, TaskReport,
    UndoReport,
};
#[cfg(feature = "sqlite")]
pub use copies::{BackupReport, RestoreReport};
pub use output::{GapFactReport, GapReport, OutputReport};
pub use request::{
    AnchorReport, BlockReport, CacheReport, DroppedReport, FoundInCache, RequestReport, ToolReport,
};
pub use requests::{CauseReport, DifferenceReport, FoundReport, PlacementReport, ReplayReport};
pub use session::{
    ContentReport, DiagnosisReport, EraseReport, EraseTextReport, ForkReport, SessionReport, SourceReport,
    SummariesReport,
};
pub use text::request_text;
pub use visibility::{EntryReport, VisibilityReport};

/// The version of the reports' fields.
pub const VERSION: u32 = 1;
