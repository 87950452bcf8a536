//! Reports about compactions.

use crate::compaction::compact::accounting::account::{Compacted, CompactionResult, MadeNode};
use crate::compaction::compact::accounting::leaving::Leaving;
use crate::compaction::compact::undo::Undone;
use serde::Serialize;
use wunderblock_core::compact::{Due, TaskRange, TaskState};
use wunderblock_core::compaction::{Manner, Rejection, RungTaken, SummarySpend};

/// Report of a compaction.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct CompactionReport {
    /// Id of the session.
    pub session: String,
    /// Id of the lane.
    pub lane: String,
    /// Name of the policy.
    pub policy: String,
    /// Whether the lane was compacted.
    pub compacted: bool,
    /// Outcome as one word.
    pub outcome: &'static str,
    /// Reason given for a veto, or for a lane that is busy.
    pub why: Option<String>,
    /// Model that the lane was compacted for.
    pub model: Option<String>,
    /// The model's window in tokens.
    pub window: Option<u64>,
    /// Maximum number of tokens in a request.
    pub limit: Option<u64>,
    /// Level that was due.
    pub level: &'static str,
    /// Reason why the level was due.
    pub trigger: String,
    /// Tokens in the request before the compaction.
    pub tokens_before: u64,
    /// Tokens in the request after the compaction.
    pub tokens_after: u64,
    /// Whether the request is within the policy's goal.
    pub target_reached: bool,
    /// Position at which the step is recorded, if it is recorded.
    pub seq: Option<u64>,
    /// Summaries that were made.
    pub summaries: Vec<SummaryReport>,
    /// Content that is no longer in view.
    pub leaving: LeavingReport,
    /// Cost of the next request in dollars, without cached input. The answer is not counted.
    pub next_cost_usd: Option<String>,
    /// Cost of the next request in dollars without the compaction, with its input read from the cache.
    pub next_cost_without_usd: Option<String>,
    /// Cost of each later request of this size in dollars, with its input read from the cache.
    pub later_cost_usd: Option<String>,
    /// Summariser that would have written the summaries. Set only for a dry run, which makes extractive summaries
    /// instead.
    pub stands_in_for: Option<String>,
    /// Tasks on which the compaction was based.
    pub tasks: Vec<TaskReport>,
    /// Steps of the policy that were tried.
    pub steps: Vec<RungTaken>,
    /// Time that summarisers took, in milliseconds.
    pub writing_ms: i64,
    /// Summaries that were rejected.
    pub rejected: Vec<Rejection>,
    /// Costs of model calls.
    pub spent: Vec<SummarySpend>,
}

/// Content that is no longer in view after a compaction.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LeavingReport {
    /// Number of entries.
    pub entries: u64,
    /// Tokens of those entries.
    pub tokens: u64,
    /// Parts of the entries that people would miss, by kind.
    pub kinds: Vec<LeavingKindReport>,
}

/// Content of one kind that is no longer in view.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LeavingKindReport {
    /// Name of the kind: `user words`, `rules`, `decisions`, `files` or `errors`.
    pub kind: &'static str,
    /// Number of items of this kind.
    pub count: usize,
    /// Items that no summary mentions.
    pub untold: Vec<NotedReport>,
}

/// An item that is no longer in view.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct NotedReport {
    /// Position of the item.
    pub seq: u64,
    /// Text of the item.
    pub text: String,
}

/// A summary that was made.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SummaryReport {
    /// Position of the summary.
    pub seq: u64,
    /// First position that the summary replaces.
    pub from_seq: u64,
    /// Last position that the summary replaces.
    pub to_seq: u64,
    /// Level of the summary. A summary of events has level 0.
    pub level: u32,
    /// Program or model that wrote the summary.
    pub producer: String,
    /// How the summary was made.
    pub manner: Manner,
    /// Number of tokens in the content that the summary replaces.
    pub tokens_before: u64,
    /// Tokens of the summary.
    pub tokens_after: u64,
    /// Whether requests show it. A summary that is not shown is part of one at a higher level.
    pub shown: bool,
    /// Text of the summary, if requests show it.
    pub text: Option<String>,
}

/// A task of a session.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TaskReport {
    /// First position of the task.
    pub from_seq: u64,
    /// Last position of the task.
    pub to_seq: u64,
    /// Whether the task continues.
    pub active: bool,
    /// Title of the task, if it has one.
    pub title: Option<Box<str>>,
    /// Evidence for the bounds of the task.
    pub by: &'static str,
}

/// Compaction that is due.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct DueReport {
    /// Level that is due.
    pub level: &'static str,
    /// Reason why it is due.
    pub trigger: String,
}

/// A compaction that was undone.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct UndoReport {
    /// Id of the session.
    pub session: String,
    /// Id of the lane.
    pub lane: String,
    /// Position at which the undone compaction is recorded.
    pub undone_seq: u64,
    /// Policy of the undone compaction.
    pub policy: String,
    /// Number of tokens in the request before the undo.
    pub tokens_before: u64,
    /// Number of tokens in the request after the undo.
    pub tokens_after: u64,
    /// Position at which the lane's new step is recorded.
    pub seq: u64,
}

impl CompactionReport {
    /// Creates the report of a compaction.
    #[must_use]
    pub fn new(session: &str, done: &Compacted) -> Self {
        let why = match &done.outcome {
            CompactionResult::Vetoed(why) | CompactionResult::Busy(why) => Some(why.clone()),
            _ => None,
        };
        Self {
            session: session.to_owned(),
            lane: done.lane.to_string(),
            policy: done.policy.clone(),
            compacted: done.outcome == CompactionResult::Compacted,
            outcome: done.outcome.word(),
            why,
            model: done.request.as_ref().map(|request| request.model.to_string()),
            window: done.request.as_ref().map(|request| request.window.0),
            limit: done.request.as_ref().map(|request| request.limit.0),
            level: done.due.level.word(),
            trigger: done.due.why.clone(),
            tokens_before: done.before.0,
            tokens_after: done.after.0,
            target_reached: done.reached,
            seq: done.recorded.map(|seq| seq.0),
            summaries: done.nodes.iter().map(SummaryReport::new).collect(),
            leaving: LeavingReport::new(&done.leaving),
            next_cost_usd: done.money.map(|money| money.next.to_string()),
            next_cost_without_usd: done.money.map(|money| money.next_without.to_string()),
            later_cost_usd: done.money.map(|money| money.later.to_string()),
            stands_in_for: done.stands_in_for.clone(),
            tasks: done.tasks.iter().map(TaskReport::new).collect(),
            steps: done.rungs.clone(),
            writing_ms: done.writing.0,
            rejected: done.rejected.clone(),
            spent: done.spent.clone(),
        }
    }
}

impl LeavingReport {
    fn new(leaving: &Leaving) -> Self {
        let kinds = leaving.kinds.iter().map(|kind| LeavingKindReport {
            kind: kind.name,
            count: kind.count,
            untold: kind
                .untold
                .iter()
                .map(|noted| NotedReport { seq: noted.at.0, text: noted.text.clone() })
                .collect(),
        });
        Self { entries: leaving.entries, tokens: leaving.tokens.0, kinds: kinds.collect() }
    }
}

impl SummaryReport {
    fn new(node: &MadeNode) -> Self {
        Self {
            seq: node.at.0,
            from_seq: node.from.0,
            to_seq: node.to.0,
            level: node.level,
            producer: node.producer.clone(),
            manner: node.manner,
            tokens_before: node.before.0,
            tokens_after: node.after.0,
            shown: node.shown,
            text: node.shown.then(|| node.text.clone()),
        }
    }
}

impl TaskReport {
    fn new(task: &TaskRange) -> Self {
        Self {
            from_seq: task.from.0,
            to_seq: task.to.0,
            active: task.state == TaskState::Active,
            title: task.title.clone(),
            by: task.by.label(),
        }
    }
}

impl DueReport {
    pub(super) fn new(due: &Due) -> Self {
        Self { level: due.level.word(), trigger: due.why.clone() }
    }
}

impl UndoReport {
    /// Creates the report of an undo.
    #[must_use]
    pub fn new(session: &str, undone: &Undone) -> Self {
        Self {
            session: session.to_owned(),
            lane: undone.lane.to_string(),
            undone_seq: undone.compaction.0,
            policy: undone.policy.clone(),
            // `Undone` holds the token counts before and after the compaction. An undo's report swaps the two token
            // counts.
            tokens_before: undone.after.0,
            tokens_after: undone.before.0,
            seq: undone.recorded.0,
        }
    }
}
