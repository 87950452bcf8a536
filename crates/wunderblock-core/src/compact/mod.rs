//! Compaction: decides when a lane is due, and how it is compacted. Compaction is pure: a step that needs texts
//! requests them, and is called again with the texts.
//!
//! ```text
//! Measure, Policy ─ due ─► Due
//! View, Policy ─ Ladder ─► Summarise(jobs) … take(texts) … ─► Done(Proposal) | Done(none)
//! ```
//! A [`Ladder`] climbs the policy's steps, cheapest first. Each step makes a new trim from the current one. The trim
//! is taken if it saves the minimum of the step. [`guard`] decides once what is protected, and no step changes
//! protected content.

pub mod due;
pub mod guard;
pub mod importance;
mod job;
mod ladder;
mod rebase;
mod rung;
pub mod task;

pub use due::{Due, LaneMeasurement, Urgency, due};
pub use job::{Detail, SummaryJob};
pub use ladder::edit::{NoRoom, SummaryChange, is_within};
pub use ladder::{Ladder, Made, NextStep, NodeDraft, Proposal};
pub use rebase::rebase;
pub use rung::summarise::target as summary_target;
pub use task::{TaskMark, TaskRange, TaskState};
