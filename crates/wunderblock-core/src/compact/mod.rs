//! Compaction: when a lane is due, and what becomes of it. Pure: what needs a text asks for it, and is asked again.
//!
//! ```text
//! Measure, Policy ─ due ─► Due
//! View, Policy ─ Ladder ─► Summarise(jobs) … take(texts) … ─► Done(Proposal) | Done(none)
//! ```
//! A [`Ladder`] climbs the policy's steps, cheapest first. Each makes a trim of a trim; it is taken if what that saves
//! reaches the step's minimum. What is protected is decided once, by [`guard`]; no step touches it.

mod condense;
mod curate;
mod dedupe;
mod drop;
pub mod due;
pub mod guard;
pub mod importance;
mod ladder;
mod rebase;
mod shrink;
mod stub;
mod summarise;
pub mod task;

pub use due::{Due, Level, Measure, due};
pub use ladder::{Ladder, Made, Next, NodeDraft, Proposal};
pub use rebase::rebase;
pub use task::{Mark, Task, TaskState};

use crate::units::{Seq, Tokens};

/// A text the ladder needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The first position it stands for.
    pub from: Seq,
    /// The last.
    pub to: Seq,
    /// The entries it is to be made from.
    pub entries: Vec<Seq>,
    /// The summaries that go into it, by the positions of their events; new ones have positions to come.
    pub sources: Vec<Seq>,
    /// Its level.
    pub level: u32,
    /// How much it should say.
    pub detail: Detail,
    /// What it replaces takes so much.
    pub tokens: Tokens,
    /// It should take about so much.
    pub target: Tokens,
    /// It covers the beginning of a turn that goes on behind it.
    pub splits: bool,
    /// No request shows it: it goes into another of the same climb, so no model need write it.
    pub inner: bool,
}

/// How much a summary says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// All parts of its template.
    #[default]
    Full,
    /// What was wanted, decided, changed and how it ended: a few lines.
    KeyPoints,
    /// Numbers: how many messages, calls, failures, files.
    Statistics,
}
