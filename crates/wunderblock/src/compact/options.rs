//! What is asked of a compaction.

use crate::compactor::Compactor;
use crate::request::options::ContextOptions;
use std::sync::Arc;
use wunderblock_core::compact::Due;
use wunderblock_core::units::Seq;

/// What is told while a compaction is under way; it answers whether to go on.
pub type OnProgress = Arc<dyn Fn(&CompactionStage) -> bool + Send + Sync>;

/// How far a compaction is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompactionStage {
    /// So many texts are to be written.
    Summarising {
        /// How many are written.
        done: usize,
        /// How many there are to write, as far as is known.
        of: usize,
        /// How much of the present one has come.
        bytes: usize,
    },
    /// A sweep has come to a position.
    Swept {
        /// The last position that is summarised.
        through: Seq,
        /// Where it goes to.
        of: Seq,
    },
}

/// What becomes of one summary or one range, in the place of what the policy would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryEdit {
    /// The summary recorded at a position is written again, from what it was made from.
    Rewrite(Seq),
    /// The summary recorded at a position no longer stands: what it was made from is shown again.
    Dissolve(Seq),
    /// All whole exchanges and summaries from a position to another become one summary.
    Range(Seq, Seq),
}

/// What is asked of a compaction.
#[derive(Clone)]
pub struct CompactOptions {
    /// The request it is for: lane, model, window, sources. Its own `compactor` is not used.
    pub context: ContextOptions,
    /// How.
    pub compactor: Compactor,
    /// Why; a person if none.
    pub due: Option<Due>,
    /// What summaries should look at most. It is recorded with them, and is never a message.
    pub focus: Option<String>,
    /// One summary or one range only; none for what the policy does.
    pub edit: Option<SummaryEdit>,
    /// Say what would be done, and record nothing.
    pub dry_run: bool,
    /// Summarise what lies before the lane's view, too, from the beginning of the session.
    pub sweep: bool,
    /// Told while it is under way.
    pub progress: Option<OnProgress>,
}

impl CompactOptions {
    /// A person asks for it, for the lane of such a request.
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
