//! What a compaction did.

use crate::compact::account::{Compacted, CompactionResult, MadeNode};
use crate::compact::leaving::Leaving;
use crate::compact::undo::Undone;
use serde::Serialize;
use wunderblock_core::compact::{Due, TaskRange, TaskState};
use wunderblock_core::compaction::{Manner, Rejection, RungTaken, SummarySpend};

/// The account of a compaction.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct CompactionReport {
    /// The session.
    pub session: String,
    /// The lane.
    pub lane: String,
    /// The policy's name.
    pub policy: String,
    /// Whether the lane is compacted.
    pub compacted: bool,
    /// What came of it, in a word.
    pub outcome: &'static str,
    /// Why not, where somebody said so.
    pub why: Option<String>,
    /// The level that was due.
    pub level: &'static str,
    /// Why it was due.
    pub trigger: String,
    /// Tokens of the request before.
    pub tokens_before: u64,
    /// Tokens of the request after.
    pub tokens_after: u64,
    /// Whether that is what the policy wants to reach.
    pub target_reached: bool,
    /// Where the step is recorded.
    pub seq: Option<u64>,
    /// The summaries that were made.
    pub summaries: Vec<SummaryReport>,
    /// What is no longer in view.
    pub leaving: LeavingReport,
    /// What the next request costs, written anew, in dollars; the answer is not counted.
    pub next_cost_usd: Option<String>,
    /// What it would cost without the compaction, read from the cache.
    pub next_cost_without_usd: Option<String>,
    /// What each later request of this size costs, read from the cache.
    pub later_cost_usd: Option<String>,
    /// Who would have written the summaries, where nothing is recorded and nobody asked: these are extractive.
    pub stands_in_for: Option<String>,
    /// The tasks it went by.
    pub tasks: Vec<TaskReport>,
    /// The steps of the policy that were tried.
    pub steps: Vec<RungTaken>,
    /// Milliseconds that summarisers took.
    pub writing_ms: i64,
    /// Summaries that were not taken.
    pub rejected: Vec<Rejection>,
    /// What models cost.
    pub spent: Vec<SummarySpend>,
}

/// What is no longer in view after a compaction.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LeavingReport {
    /// Entries.
    pub entries: u64,
    /// What they took.
    pub tokens: u64,
    /// What of them people would miss, by kind.
    pub kinds: Vec<LeavingKindReport>,
}

/// Things of one kind that are no longer in view.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LeavingKindReport {
    /// `user words`, `rules`, `decisions`, `files`, `errors`.
    pub kind: &'static str,
    /// How many.
    pub count: usize,
    /// Those of which no summary tells.
    pub untold: Vec<NotedReport>,
}

/// Something that is no longer in view.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct NotedReport {
    /// Where it stands.
    pub seq: u64,
    /// What it says.
    pub text: String,
}

/// A summary that was made.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SummaryReport {
    /// Its position.
    pub seq: u64,
    /// The first position it stands for.
    pub from_seq: u64,
    /// The last.
    pub to_seq: u64,
    /// 0 for a summary of events.
    pub level: u32,
    /// Who wrote it.
    pub producer: String,
    /// How it came about.
    pub manner: Manner,
    /// Tokens of what it replaces.
    pub tokens_before: u64,
    /// Its tokens.
    pub tokens_after: u64,
    /// Whether requests show it; others went into one of a higher level.
    pub shown: bool,
    /// What it says, if requests show it.
    pub text: Option<String>,
}

/// A task of a session.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TaskReport {
    /// Its first position.
    pub from_seq: u64,
    /// Its last.
    pub to_seq: u64,
    /// Whether it goes on.
    pub active: bool,
    /// What it is called.
    pub title: Option<Box<str>>,
    /// How its bounds are known.
    pub by: &'static str,
}

/// That a compaction is due.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct DueReport {
    /// The level.
    pub level: &'static str,
    /// Why.
    pub trigger: String,
}

/// A compaction that was undone.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct UndoReport {
    /// The session.
    pub session: String,
    /// The lane.
    pub lane: String,
    /// Where the compaction is recorded.
    pub undone_seq: u64,
    /// Its policy.
    pub policy: String,
    /// Tokens of the request before the undoing.
    pub tokens_before: u64,
    /// Tokens after it.
    pub tokens_after: u64,
    /// Where the lane's new step is recorded.
    pub seq: u64,
}

impl CompactionReport {
    /// The report of a compaction.
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
    /// The report of an undoing.
    #[must_use]
    pub fn new(session: &str, undone: &Undone) -> Self {
        Self {
            session: session.to_owned(),
            lane: undone.lane.to_string(),
            undone_seq: undone.compaction.0,
            policy: undone.policy.clone(),
            tokens_before: undone.after.0,
            tokens_after: undone.before.0,
            seq: undone.recorded.0,
        }
    }
}
