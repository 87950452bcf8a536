//! Account of a compaction: what was done, what it saved, what it cost.

use crate::compaction::compact::accounting::leaving::{CompactionMoney, Leaving};
use crate::compaction::compact::climb::Climbed;
use crate::compaction::compact::options::CompactOptions;
use wunderblock_core::compact::{Due, SummaryJob, TaskRange};
use wunderblock_core::compaction::{CompactionRejected, Manner, Rejection, RungTaken, SummarySpend};
use wunderblock_core::id::LaneId;
use wunderblock_core::units::{Millis, Seq, Tokens};
use wunderblock_summary::attempt::{SummaryDraft, sum_spent};

/// Outcome of a compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompactionResult {
    /// The lane was compacted.
    Compacted,
    /// The lane would be compacted; nothing was recorded.
    WouldCompact,
    /// Summaries were made before the level at which they take effect. No request changes yet.
    Prepared,
    /// No step of the policy saves the minimum that it must save.
    NothingGained,
    /// No step saves the minimum that it must save, and attempts at summaries were rejected.
    Refused,
    /// A hook vetoed the compaction for this reason.
    Vetoed(String),
    /// Events from which the compaction was made have changed in the meantime. Only the work is lost.
    Overtaken,
    /// Another worker, with this name, is compacting the lane.
    Busy(String),
    /// This number of compactions in a row changed nothing. The lane is left alone until it has grown or a person
    /// asks.
    Stopped(u32),
    /// The policy is off.
    Off,
    /// The progress callback stopped the compaction.
    Interrupted,
}

impl CompactionResult {
    /// Returns the outcome's name in records.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Compacted => "compacted",
            Self::WouldCompact => "would_compact",
            Self::Prepared => "prepared",
            Self::NothingGained => "no_progress",
            Self::Refused => "summary_refused",
            Self::Vetoed(_) => "vetoed",
            Self::Overtaken => "overtaken",
            Self::Busy(_) => "busy",
            Self::Stopped(_) => "stopped",
            Self::Off => "off",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Account of a compaction.
#[derive(Clone, Debug)]
pub struct Compacted {
    /// Outcome.
    pub outcome: CompactionResult,
    /// Lane.
    pub lane: LaneId,
    /// Name of the policy.
    pub policy: String,
    /// Reason for the compaction.
    pub due: Due,
    /// Number of tokens in the request before the compaction.
    pub before: Tokens,
    /// Number of tokens in the request after the compaction.
    pub after: Tokens,
    /// Whether `after` reaches the policy's goal.
    pub reached: bool,
    /// Position of the recorded step.
    pub recorded: Option<Seq>,
    /// Summaries made, with their positions, ranges, levels and tokens before and after.
    pub nodes: Vec<MadeNode>,
    /// Number of summaries of other programs that the lane begins with.
    pub adopted: usize,
    /// Steps of the policy that were tried.
    pub rungs: Vec<RungTaken>,
    /// Rejected attempts at summaries.
    pub rejected: Vec<Rejection>,
    /// Cost of model calls.
    pub spent: Vec<SummarySpend>,
    /// Time spent on writing the summaries, in milliseconds.
    pub writing: Millis,
    /// Name of the summariser that would have written the summaries, if nothing is recorded and no model is called.
    pub stands_in_for: Option<String>,
    /// Tasks that guided the compaction; empty if the policy ignores tasks.
    pub tasks: Vec<TaskRange>,
    /// Content that the compaction takes out of view.
    pub leaving: Leaving,
    /// Costs now and savings later; `None` if no price is known.
    pub money: Option<CompactionMoney>,
    /// Request that the lane was compacted for; `None` if the compaction ended before it was known.
    pub request: Option<CompactedRequest>,
}

/// The request that a lane is compacted for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactedRequest {
    /// Name of the model.
    pub model: Box<str>,
    /// The model's window in tokens.
    pub window: Tokens,
    /// Maximum number of tokens in the request.
    pub limit: Tokens,
}

/// A summary that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeNode {
    /// Position of the summary, or, if nothing was recorded, the position that it would have.
    pub at: Seq,
    /// First position it covers.
    pub from: Seq,
    /// Last position it covers.
    pub to: Seq,
    /// Level: 0 for a summary of events, higher for a summary of summaries.
    pub level: u32,
    /// Name of the summariser that wrote the summary.
    pub producer: String,
    /// Manner in which the summary was made.
    pub manner: Manner,
    /// Number of tokens in the content that the summary replaces.
    pub before: Tokens,
    /// Tokens of the summary.
    pub after: Tokens,
    /// Text of the summary.
    pub text: String,
    /// Whether requests show it. A summary that is not shown is a source of a summary at a higher level.
    pub shown: bool,
}

impl MadeNode {
    /// Creates the account of a summary written for a job, with the summary's token counts.
    pub(in crate::compaction::compact) fn new(
        at: Seq,
        job: &SummaryJob,
        draft: &SummaryDraft,
        tokens: Tokens,
    ) -> Self {
        Self {
            at,
            from: job.from,
            to: job.to,
            level: job.level,
            producer: draft.producer.to_string(),
            manner: draft.manner,
            before: job.tokens,
            after: tokens,
            text: draft.text.clone(),
            shown: true,
        }
    }
}

impl Compacted {
    /// Creates the account of a compaction that has done nothing yet.
    pub(crate) fn empty(options: &CompactOptions, lane: LaneId, due: Due, outcome: CompactionResult) -> Self {
        Self {
            outcome,
            lane,
            policy: options.compactor.policy.name.to_string(),
            due,
            before: Tokens::ZERO,
            after: Tokens::ZERO,
            reached: false,
            recorded: None,
            nodes: Vec::new(),
            adopted: 0,
            rungs: Vec::new(),
            rejected: Vec::new(),
            spent: Vec::new(),
            writing: Millis::ZERO,
            stands_in_for: None,
            tasks: Vec::new(),
            leaving: Leaving::default(),
            money: None,
            request: None,
        }
    }

    /// Turns the account of a compaction that was made without recording anything into that of a dry run.
    pub(crate) fn unrecord(&mut self) {
        self.recorded = None;
        if self.outcome == CompactionResult::Compacted {
            self.outcome = CompactionResult::WouldCompact;
        }
    }

    /// Creates the account of a climb.
    pub(crate) fn of(options: &CompactOptions, lane: &LaneId, due: Due, climbed: &Climbed) -> Self {
        let proposal = &climbed.proposal;
        let nodes = proposal.nodes.iter().filter_map(|node| {
            Some(MadeNode::new(node.at, &node.job, climbed.drafts.get(node.made)?, node.tokens))
        });
        let rejected: Vec<Rejection> =
            climbed.drafts.iter().flat_map(|draft| draft.rejected.clone()).collect();
        let refused = proposal.trim.is_none() && !rejected.is_empty();
        Self {
            // Until the step is published, the outcome can only be a failure.
            outcome: if refused { CompactionResult::Refused } else { CompactionResult::NothingGained },
            before: proposal.before,
            after: proposal.after,
            reached: proposal.reached,
            nodes: nodes.collect(),
            rungs: proposal.rungs.clone(),
            rejected,
            writing: Millis(i64::try_from(climbed.writing.as_millis()).unwrap_or(i64::MAX)),
            spent: climbed.drafts.iter().filter_map(|draft| draft.spent.clone()).collect(),
            ..Self::empty(options, lane.clone(), due, CompactionResult::NothingGained)
        }
    }

    /// Returns the record of a compaction that changed nothing. `tokens` is the size of the request, and `round` is
    /// the number of consecutive compactions that changed nothing.
    pub(crate) fn rejection(&self, tokens: Tokens, round: u32) -> CompactionRejected {
        let why = match &self.outcome {
            CompactionResult::Vetoed(why) => why.clone(),
            CompactionResult::Overtaken => "what it was made from changed meanwhile".to_owned(),
            CompactionResult::Refused => "no summary could be taken".to_owned(),
            _ => "no step saves what it must".to_owned(),
        };
        CompactionRejected {
            lane: self.lane.clone(),
            policy: self.policy.as_str().into(),
            trigger: self.due.why.as_str().into(),
            outcome: self.outcome.word().into(),
            why: why.into(),
            tokens,
            round,
            rungs: self.rungs.clone(),
            rejected: self.rejected.clone(),
            spent: sum_spent(self.spent.iter().cloned()),
        }
    }
}
