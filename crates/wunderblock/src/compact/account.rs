//! The account of a compaction.

use super::climb::Climbed;
use super::leaving::{CompactionMoney, Leaving};
use super::options::CompactOptions;
use crate::summarize::attempt::{SummaryDraft, sum_spent};
use wunderblock_core::compact::{Due, SummaryJob, TaskRange};
use wunderblock_core::compaction::{CompactionRejected, Manner, Rejection, RungTaken, SummarySpend};
use wunderblock_core::id::LaneId;
use wunderblock_core::units::{Millis, Seq, Tokens};

/// What came of a compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompactionResult {
    /// The lane is compacted.
    Compacted,
    /// It would be; nothing was recorded.
    WouldCompact,
    /// Summaries were made before the level at which they take effect. No request changes yet.
    Prepared,
    /// No step of the policy saves what it must.
    NothingGained,
    /// The summaries that were written could not be taken.
    Refused,
    /// A hook said no.
    Vetoed(String),
    /// What it was made from is not as it was. Nothing is lost but the work.
    Overtaken,
    /// Somebody else is at it, until then.
    Busy(String),
    /// So many compactions in a row came to nothing that the lane is left alone until it has grown, or a person asks.
    Stopped(u32),
    /// The policy is off.
    Off,
    /// Whoever watched it stopped it.
    Interrupted,
}

impl CompactionResult {
    /// Its word in records.
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

/// The account of a compaction, by what it saved.
#[derive(Clone, Debug)]
pub struct Compacted {
    /// What came of it.
    pub outcome: CompactionResult,
    /// The lane.
    pub lane: LaneId,
    /// The policy.
    pub policy: String,
    /// Why it was done.
    pub due: Due,
    /// What the request took.
    pub before: Tokens,
    /// What it takes.
    pub after: Tokens,
    /// Whether that is what the policy wants to reach.
    pub reached: bool,
    /// Where the step is recorded.
    pub recorded: Option<Seq>,
    /// The summaries that were made: their positions, ranges, levels, tokens before and after.
    pub nodes: Vec<MadeNode>,
    /// How many summaries of other lanes it took over.
    pub adopted: usize,
    /// The steps that were tried.
    pub rungs: Vec<RungTaken>,
    /// Summaries that were not taken.
    pub rejected: Vec<Rejection>,
    /// What models cost.
    pub spent: Vec<SummarySpend>,
    /// How long summarisers took, in milliseconds.
    pub writing: Millis,
    /// Who would have written the summaries, where nobody is asked because nothing is recorded.
    pub stands_in_for: Option<String>,
    /// The tasks it went by; none where the policy does not go by tasks.
    pub tasks: Vec<TaskRange>,
    /// What it takes out of view.
    pub leaving: Leaving,
    /// What it costs now and saves later; none if no price is known.
    pub money: Option<CompactionMoney>,
}

/// A summary that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeNode {
    /// Its position; where it would be, if nothing was recorded.
    pub at: Seq,
    /// The first position it stands for.
    pub from: Seq,
    /// The last.
    pub to: Seq,
    /// Its level.
    pub level: u32,
    /// Who wrote it.
    pub producer: String,
    /// How it came about.
    pub manner: Manner,
    /// What it replaces took.
    pub before: Tokens,
    /// What it takes.
    pub after: Tokens,
    /// What it says.
    pub text: String,
    /// Whether requests show it; others went into one of a higher level.
    pub shown: bool,
}

impl MadeNode {
    /// A summary that was written for a job, with what it takes.
    pub(super) fn new(at: Seq, job: &SummaryJob, draft: &SummaryDraft, tokens: Tokens) -> Self {
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
    /// The account of a compaction that has not come to anything yet.
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
        }
    }

    /// The account of what was done aside: it would be so.
    pub(crate) fn unrecord(&mut self) {
        self.recorded = None;
        if self.outcome == CompactionResult::Compacted {
            self.outcome = CompactionResult::WouldCompact;
        }
    }

    /// The account of a climb.
    pub(crate) fn of(options: &CompactOptions, lane: &LaneId, due: Due, climbed: &Climbed) -> Self {
        let proposal = &climbed.proposal;
        let nodes = proposal.nodes.iter().filter_map(|node| {
            Some(MadeNode::new(node.at, &node.job, climbed.drafts.get(node.made)?, node.tokens))
        });
        let rejected: Vec<Rejection> =
            climbed.drafts.iter().flat_map(|draft| draft.rejected.clone()).collect();
        let refused = proposal.trim.is_none() && !rejected.is_empty();
        Self {
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

    /// The record of a compaction that changed nothing: what the request took, and how many in a row came to nothing.
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
