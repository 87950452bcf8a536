//! Compacting a lane: prepare, climb, publish.
//!
//! ```text
//! load, compose ─► Climb ─ on a thread: ladder, summariser, verification ─► Climbed ─ publish ─► view.trimmed, session.compacted …
//!                                                                             └ overtaken, refused, vetoed ─► compaction.rejected
//! ```
//! Nothing is locked while a summary is written. Publishing appends only if the head has not moved; if it has, the proposal
//! is made to fit what came, or is void.

mod climb;
mod due;
mod hook;
mod lease;
mod prepare;
mod publish;
mod ration;
mod state;
mod sweep;
mod todo;
mod undo;
mod writing;

pub(crate) use climb::{Climb, Climbed, on_thread};
pub(crate) use due::{between_tasks, is_stopped, settled, task_mark};
pub use hook::Hook;
pub(crate) use publish::{By, facts, prompt};
pub(crate) use ration::Ration;
pub use state::LaneState;
pub use undo::Undone;

use crate::build::ContextOptions;
use crate::error::Error;
use crate::session::Session;
use crate::summarize::Summarise;
use std::fmt;
use std::sync::Arc;
use wunderblock_core::compact::{Due, Level, Task};
use wunderblock_core::compaction::{CompactionRejected, Manner, Rejection, RungTaken, Spent};
use wunderblock_core::event::Fact;
use wunderblock_core::id::LaneId;
use wunderblock_core::policy::Policy;
use wunderblock_core::units::{Millis, Seq, Tokens};

/// How a lane is compacted.
#[derive(Clone)]
pub struct Compactor {
    /// When, and in which steps.
    pub policy: Arc<Policy>,
    /// Who writes summaries; none for the extractive summariser, which needs no model.
    pub summariser: Option<Arc<dyn Summarise>>,
    /// What is asked before a compaction, and told after it.
    pub hooks: Vec<Hook>,
    /// Whether a build leaves it to a worker. A request that does not fit is compacted at once, without a model.
    pub background: bool,
}

impl Compactor {
    /// A compactor that needs no model.
    #[must_use]
    pub fn new(policy: Arc<Policy>) -> Self {
        Self { policy, summariser: None, hooks: Vec::new(), background: false }
    }
}

impl fmt::Debug for Compactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let writer =
            self.summariser.as_ref().map_or_else(|| "extractive".to_owned(), |summariser| summariser.name());
        f.debug_struct("Compactor")
            .field("policy", &self.policy.name)
            .field("summariser", &writer)
            .finish_non_exhaustive()
    }
}

/// What is told while a compaction is under way; it answers whether to go on.
pub type OnProgress = Arc<dyn Fn(&Stage) -> bool + Send + Sync>;

/// How far a compaction is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
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
    /// Say what would be done, and record nothing.
    pub dry_run: bool,
    /// Summarise what lies before the lane's view, too, from the beginning of the session.
    pub sweep: bool,
    /// Told while it is under way.
    pub progress: Option<OnProgress>,
}

/// What came of a compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The lane is compacted.
    Compacted,
    /// It would be; nothing was recorded.
    WouldCompact,
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

impl Outcome {
    /// Its word in records.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Compacted => "compacted",
            Self::WouldCompact => "would_compact",
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
    pub outcome: Outcome,
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
    /// The steps that were tried.
    pub rungs: Vec<RungTaken>,
    /// Summaries that were not taken.
    pub rejected: Vec<Rejection>,
    /// What models cost.
    pub spent: Vec<Spent>,
    /// How long summarisers took, in milliseconds.
    pub writing: Millis,
    /// The tasks it went by; none where the policy does not go by tasks.
    pub tasks: Vec<Task>,
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
}

impl Session {
    /// Compacts a lane.
    ///
    /// # Errors
    /// When the ledger cannot be used. That nothing was gained is no error but an [`Outcome`].
    pub async fn compact(&self, options: &CompactOptions) -> Result<Compacted, Error> {
        let lane = options.context.lane.clone().unwrap_or_else(LaneId::main);
        let due =
            options.due.clone().unwrap_or_else(|| Due { level: Level::Manual, why: "asked for".to_owned() });
        if options.compactor.policy.is_off() {
            return Ok(empty(options, lane, due, Outcome::Off));
        }
        let holder = self.engine.holder()?;
        if !options.dry_run
            && let Some(other) = self.claim(&lane, &holder).await?
        {
            return Ok(empty(options, lane, due, Outcome::Busy(other)));
        }
        let work = self.compact_held(options, &lane, due);
        if options.dry_run {
            return work.await;
        }
        let done = self.holding((&lane, &holder), work).await;
        self.release(&lane, &holder).await?;
        done
    }

    async fn compact_held(
        &self,
        options: &CompactOptions,
        lane: &LaneId,
        due: Due,
    ) -> Result<Compacted, Error> {
        let mut swept = Vec::new();
        let most = options.compactor.policy.limits.calls_per_hour;
        let ration = Ration::of(match due.level {
            Level::Manual => u32::MAX,
            _ => most.saturating_sub(self.calls(lane).await?),
        });
        if options.sweep && !options.dry_run {
            swept = self.sweep(options, lane, &ration).await?;
        }
        let prepared = self.prepare(options, lane).await?;
        let size = (prepared.tokens, prepared.budget.limit().tokens);
        if let Some(rounds) = self.breaker(options, size, (lane, &due)).await? {
            return Ok(empty(options, lane.clone(), due, Outcome::Stopped(rounds)));
        }
        let asked = hook::before(options, &prepared, &due, &self.id).await;
        if let Some(why) = asked.veto {
            let account = empty(options, lane.clone(), due, Outcome::Vetoed(why));
            return self.reject(options, account, prepared.tokens).await;
        }
        let mut options = options.clone();
        options.focus =
            options.focus.into_iter().chain(asked.focus).reduce(|all, more| format!("{all}\n{more}"));
        let options = &options;
        let climbed =
            climb::run(options, Arc::clone(&self.engine.config.redactor), &prepared, (due.level, ration))
                .await?;
        let mut account = account(options, (lane, due), &climbed);
        if options.compactor.policy.goes_by_tasks() {
            account.tasks.clone_from(&prepared.tasks);
        }
        account.nodes.splice(0..0, swept);
        if climbed.interrupted {
            account.outcome = Outcome::Interrupted;
            return Ok(account);
        }
        if climbed.proposal.trim.is_none() {
            if !account.nodes.is_empty() {
                account.outcome = Outcome::Compacted;
                return Ok(account);
            }
            return self.reject(options, account, prepared.tokens).await;
        }
        if options.dry_run {
            account.outcome = Outcome::WouldCompact;
            return Ok(account);
        }
        match self.publish(&prepared, &climbed, &account, options).await? {
            Some((recorded, shift)) => {
                account.outcome = Outcome::Compacted;
                account.recorded = Some(recorded);
                let own = |node: &&mut MadeNode| node.at > climbed.proposal.head;
                account.nodes.iter_mut().filter(own).for_each(|node| node.at = Seq(node.at.0 + shift));
                hook::after(options, &account, &self.id).await;
                Ok(account)
            }
            None => {
                account.outcome = Outcome::Overtaken;
                self.reject(options, account, prepared.tokens).await
            }
        }
    }

    /// Records that a compaction changed nothing, unless a person only asked what would be.
    async fn reject(
        &self,
        options: &CompactOptions,
        account: Compacted,
        tokens: Tokens,
    ) -> Result<Compacted, Error> {
        if options.dry_run {
            return Ok(account);
        }
        let why = match &account.outcome {
            Outcome::Vetoed(why) => why.clone(),
            Outcome::Overtaken => "what it was made from changed meanwhile".to_owned(),
            Outcome::Refused => "no summary could be taken".to_owned(),
            _ => "no step saves what it must".to_owned(),
        };
        let mut rejected = CompactionRejected {
            lane: account.lane.clone(),
            policy: account.policy.as_str().into(),
            trigger: account.due.why.as_str().into(),
            outcome: account.outcome.word().into(),
            why: why.into(),
            tokens,
            round: self.rounds(&account.lane).await?.map_or(0, |(round, _)| round),
            rungs: account.rungs.clone(),
            rejected: account.rejected.clone(),
            spent: together(&account.spent),
        };
        rejected.round = rejected.round.saturating_add(u32::from(rejected.counts()));
        self.note(Fact::CompactionRejected(rejected)).await?;
        Ok(account)
    }
}

fn empty(options: &CompactOptions, lane: LaneId, due: Due, outcome: Outcome) -> Compacted {
    Compacted {
        outcome,
        lane,
        policy: options.compactor.policy.name.to_string(),
        due,
        before: Tokens::ZERO,
        after: Tokens::ZERO,
        reached: false,
        recorded: None,
        nodes: Vec::new(),
        rungs: Vec::new(),
        rejected: Vec::new(),
        spent: Vec::new(),
        writing: Millis::ZERO,
        tasks: Vec::new(),
    }
}

fn account(options: &CompactOptions, (lane, due): (&LaneId, Due), climbed: &Climbed) -> Compacted {
    let proposal = &climbed.proposal;
    let nodes = proposal.nodes.iter().filter_map(|node| {
        let draft = climbed.drafts.get(node.made)?;
        Some(MadeNode {
            at: node.at,
            from: node.job.from,
            to: node.job.to,
            level: node.job.level,
            producer: draft.producer.to_string(),
            manner: draft.manner,
            before: node.job.tokens,
            after: node.tokens,
            text: draft.text.clone(),
        })
    });
    let rejected: Vec<Rejection> = climbed.drafts.iter().flat_map(|draft| draft.rejected.clone()).collect();
    let refused = proposal.trim.is_none() && !rejected.is_empty();
    Compacted {
        outcome: if refused { Outcome::Refused } else { Outcome::NothingGained },
        before: proposal.before,
        after: proposal.after,
        reached: proposal.reached,
        nodes: nodes.collect(),
        rungs: proposal.rungs.clone(),
        rejected,
        writing: Millis(i64::try_from(climbed.writing.as_millis()).unwrap_or(i64::MAX)),
        spent: climbed.drafts.iter().filter_map(|draft| draft.spent.clone()).collect(),
        ..empty(options, lane.clone(), due, Outcome::NothingGained)
    }
}

/// What several summaries cost together, under the name of the first one's model.
fn together(spent: &[Spent]) -> Option<Spent> {
    let add = |sum: Spent, more: &Spent| Spent {
        calls: sum.calls.saturating_add(more.calls),
        input: sum.input + more.input,
        output: sum.output + more.output,
        // A sum that lacks a part is not known.
        micro_dollars: sum.micro_dollars.zip(more.micro_dollars).map(|(a, b)| a.saturating_add(b)),
        model: sum.model,
    };
    let (first, rest) = spent.split_first()?;
    Some(rest.iter().fold(first.clone(), add))
}
