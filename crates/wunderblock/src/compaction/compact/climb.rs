//! Climbing the ladder on a separate thread, because the summariser may block.

use super::options::{CompactOptions, CompactionStage, OnProgress};
use super::prepare::Prepared;
use crate::base::error::Error;
use crate::base::parallel::on_thread;
use crate::compaction::compact::summaries::call_budget::CallBudget;
use crate::compaction::compact::summaries::paid::PaidSummaries;
use crate::compaction::compact::summaries::writing::SummaryWriter;
use crate::request::desk::Desk;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wunderblock_core::compact::{Ladder, NextStep, Proposal, SummaryJob, TaskRange, Urgency};
use wunderblock_core::decision::Quote;
use wunderblock_core::message::Body;
use wunderblock_core::plan::PlanInput;
use wunderblock_core::policy::Policy;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_core::view::{SummaryNode, ViewEntry};
use wunderblock_redact::Redactor;
use wunderblock_summary::attempt::SummaryDraft;
use wunderblock_summary::{Earlier, Material, Summarise};

/// Result of a climb.
pub(crate) struct Climbed {
    pub(crate) proposal: Proposal,
    /// Texts that were written, in order. The proposal's summaries refer to these texts by index.
    pub(crate) drafts: Vec<SummaryDraft>,
    pub(crate) interrupted: bool,
    /// Time spent on writing and checking the texts.
    pub(crate) writing: Duration,
}

/// Climbs on a separate thread.
pub(super) async fn run(
    desk: &Desk,
    options: &CompactOptions,
    prepared: &Prepared,
    level: Urgency,
    budget: CallBudget,
) -> Result<Climbed, Error> {
    let (prepared, options) = (prepared.clone(), options.clone());
    let redactor = Arc::clone(desk.house.redactor());
    let climbing = on_thread(move || {
        let climb = Climb {
            ask: prepared.bench.ask(),
            tasks: &prepared.tasks,
            before: (prepared.tokens, prepared.spare),
            adopted: &prepared.adopted,
            paid: &prepared.paid,
            rules: &prepared.rules,
            files: &prepared.files,
            policy: &options.compactor.policy,
            summariser: options.compactor.summariser.as_deref(),
            redactor: &redactor,
            focus: options.focus.as_deref(),
            progress: options.progress.as_ref(),
            budget: &budget,
        };
        climb.run(level)
    });
    desk.wait(climbing).await?
}

/// Input of a climb.
struct Climb<'a> {
    ask: PlanInput<'a>,
    tasks: &'a [TaskRange],
    /// Number of tokens in the request before the climb, and number of tokens that the work log adds but that may be
    /// left out.
    before: (Tokens, Tokens),
    /// Summaries of other programs that the lane may begin with.
    adopted: &'a [SummaryNode],
    /// Summaries that models wrote before.
    paid: &'a PaidSummaries,
    /// The user's standing rules, best first.
    rules: &'a [Quote],
    /// Speakers of the exchanges that stay word for word because they read files that have not changed since.
    files: &'a [Seq],
    policy: &'a Policy,
    summariser: Option<&'a dyn Summarise>,
    redactor: &'a Redactor,
    focus: Option<&'a str>,
    progress: Option<&'a OnProgress>,
    /// Number of summariser calls that are left.
    budget: &'a CallBudget,
}

impl Climb<'_> {
    /// Climbs the ladder. Blocks while the summariser writes.
    fn run(&self, level: Urgency) -> Climbed {
        let ladder =
            Ladder::new(self.policy, self.ask, level, self.tasks).adding(self.before.0, self.before.1);
        let ladder = ladder.keeping(self.files).activating();
        let mut ladder = ladder.adopting(self.adopted).with_rules(self.rules);
        let mut drafts: Vec<SummaryDraft> = Vec::new();
        let stopped = AtomicBool::new(false);
        let mut writing = Duration::ZERO;
        loop {
            match ladder.climb() {
                NextStep::Done(proposal) => {
                    let interrupted = stopped.load(Ordering::Relaxed);
                    return Climbed { proposal: *proposal, drafts, interrupted, writing };
                }
                NextStep::Summarise(jobs) => {
                    let begin = Instant::now();
                    let first = drafts.len();
                    let of = first + jobs.len();
                    for job in jobs {
                        let done = drafts.len();
                        let told = |bytes| {
                            let on = self.tell(&CompactionStage::Summarising { done, of, bytes });
                            stopped.fetch_or(!on, Ordering::Relaxed);
                            on
                        };
                        if stopped.load(Ordering::Relaxed) || !told(0) {
                            break;
                        }
                        drafts.push(self.write(&ladder, &drafts, &job, &told));
                    }
                    writing += begin.elapsed();
                    // If the callback stopped the loop, there are fewer texts than jobs.
                    let made = drafts.get(first..).unwrap_or_default().iter();
                    ladder.take(made.map(|draft| Some(Body::from(draft.text.as_str()))).collect(), first);
                }
            }
        }
    }

    fn tell(&self, stage: &CompactionStage) -> bool {
        self.progress.is_none_or(|progress| progress(stage))
    }

    fn write(
        &self,
        ladder: &Ladder<'_>,
        drafts: &[SummaryDraft],
        job: &SummaryJob,
        told: &dyn Fn(usize) -> bool,
    ) -> SummaryDraft {
        let (view, texts) = (self.ask.view, self.ask.bodies);
        let entries: Vec<&ViewEntry> = job.entries.iter().filter_map(|seq| view.entry(*seq)).collect();
        let sources: Vec<SummaryNode> =
            job.sources.iter().filter_map(|at| source(ladder, drafts, *at)).collect();
        let mut earlier: Vec<Earlier<'_>> =
            sources.iter().filter_map(|node| Earlier::of(node, texts)).collect();
        // An earlier summary of entries that are also shown word for word is left out, so that nothing is repeated.
        let begins = entries.first().map_or(job.to.next(), |entry| entry.seq);
        earlier.retain(|earlier| earlier.to < begins);
        let (from, to, redactor) = (job.from, job.to, self.redactor);
        let material = Material { from, to, entries, bodies: texts, earlier, redactor };
        let writer = SummaryWriter {
            policy: self.policy,
            summariser: self.summariser.filter(|_| !job.inner),
            focus: self.focus,
            redactor: self.redactor,
            budget: self.budget,
            paid: self.paid,
        };
        writer.write(job, &material, self.ask.costs, told)
    }
}

/// Returns a summary that becomes part of another: a draft of this climb, or a summary that the lane shows.
fn source(ladder: &Ladder<'_>, drafts: &[SummaryDraft], at: Seq) -> Option<SummaryNode> {
    let Some(draft) = ladder.draft(at) else { return ladder.view().node(at).cloned() };
    let items = drafts.get(draft.made).and_then(|made| made.items.as_deref()).map(Body::from);
    Some(SummaryNode { items, ..draft.summary() })
}
