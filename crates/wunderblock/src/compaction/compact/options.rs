//! Options and progress of a compaction.

use crate::request::input::options::ContextOptions;
use crate::rules::compactor::Compactor;
use std::sync::Arc;
use wunderblock_core::compact::Due;
use wunderblock_core::units::Seq;

/// Callback that receives the stage of a running compaction and returns whether to continue.
pub type OnProgress = Arc<dyn Fn(&CompactionStage) -> bool + Send + Sync>;

/// Stage of a running compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompactionStage {
    /// Summaries are being written.
    Summarising {
        /// Number of summaries written.
        done: usize,
        /// Number of summaries to write, as far as known.
        of: usize,
        /// Number of bytes received for the current summary.
        bytes: usize,
    },
    /// A sweep has reached a position.
    Swept {
        /// Last summarised position.
        through: Seq,
        /// Last position the sweep will reach.
        of: Seq,
    },
}

/// Manual change of one summary or range, made instead of the policy's steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryEdit {
    /// Rewrites the summary recorded at a position from its original sources.
    Rewrite(Seq),
    /// Removes the summary recorded at a position and shows its sources again.
    Dissolve(Seq),
    /// Replaces all whole exchanges and summaries between two positions, both included, with one summary.
    Range(Seq, Seq),
}

/// Options of a compaction.
#[derive(Clone)]
pub struct CompactOptions {
    /// Request for which to compact: its lane, model, window and sources. The `compactor` of this request is ignored.
    pub context: ContextOptions,
    /// Policy, summariser and hooks.
    pub compactor: Compactor,
    /// Reason for the compaction; `None` if a person asked for it.
    pub due: Option<Due>,
    /// Topic that summaries should focus on. The topic is recorded with the summaries and never becomes a message.
    pub focus: Option<String>,
    /// Manual change of one summary or range; `None` to follow the policy.
    pub edit: Option<SummaryEdit>,
    /// Whether to report the result without recording anything.
    pub dry_run: bool,
    /// Whether to also summarise the content that precedes the lane's view, from the beginning of the session.
    pub sweep: bool,
    /// Receives the stage while the compaction runs, and can stop it.
    pub progress: Option<OnProgress>,
}

impl CompactOptions {
    /// Creates options for a compaction, requested by a person, of the lane that `context` describes.
    #[must_use]
    pub fn new(context: ContextOptions, compactor: Compactor) -> Self {
        Self {
            context,
            compactor,
            due: None,
            focus: None,
            edit: None,
            dry_run: false,
            sweep: false,
            progress: None,
        }
    }
}
