//! Reports as data: values that serialise to the same JSON for every caller.
//!
//! The command line prints these reports with `--json`. Servers and libraries for other languages return the same
//! JSON. Fields are guaranteed: new ones may be added, but none is renamed or removed without a new [`VERSION`].
//!
//! Results whose reports would have the same fields serialise themselves: [`Imported`](crate::Imported),
//! [`SearchHit`](crate::SearchHit), [`Match`](crate::Match), [`TextFound`](crate::TextFound),
//! [`Described`](crate::recall::summary_graph::Described), [`Expanded`](crate::recall::summary_graph::Expanded), [`Simulation`](crate::Simulation).
//! Results that serialise themselves have the same version as the reports.

mod agent_view;
mod compaction;
#[cfg(feature = "sqlite")]
mod copies;
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
    ContentReport, DiagnosisReport, EraseDocumentsReport, EraseReport, EraseTextReport, ForkReport,
    SessionReport, SourceReport, SummariesReport,
};
pub use text::request_text;
pub use visibility::{EntryReport, VisibilityReport};

/// Version of the reports' fields.
pub const VERSION: u32 = 1;
