//! Compaction: when a lane is due, and what becomes of it. Pure: what needs a text asks for it, and is asked again.
//!
//! ```text
//! Measure, Policy ─ due ─► Due
//! View, Policy ─ Ladder ─► Summarise(jobs) … take(texts) … ─► Done(Proposal) | Done(none)
//! ```
//! A [`Ladder`] climbs the policy's steps, cheapest first. Each makes a trim of a trim; it is taken if what that saves
//! reaches the step's minimum. What is protected is decided once, by [`guard`]; no step touches it.

mod archive;
mod condense;
mod curate;
mod dedupe;
mod drop;
pub mod due;
pub mod guard;
pub mod importance;
mod job;
mod ladder;
mod rebase;
mod shrink;
mod stub;
mod summarise;
pub mod task;

pub use due::{Due, LaneMeasurement, Urgency, due};
pub use job::{Detail, SummaryJob};
pub use ladder::edit::{NoRoom, SummaryChange, is_within};
pub use ladder::{Ladder, Made, NextStep, NodeDraft, Proposal};
pub use rebase::rebase;
pub use summarise::target as summary_target;
pub use task::{TaskMark, TaskRange, TaskState};
