//! Writing one summary from a range and a brief, with or without a model.

use crate::base::error::Error;
use crate::base::parallel::on_thread;
use crate::compaction::compact::options::CompactOptions;
use crate::compaction::compact::summaries::call_budget::{CallBudget, CountedCalls};
use crate::compaction::compact::summaries::paid::PaidSummaries;
use crate::ledger::texts::Texts;
use crate::request::desk::Desk;
use crate::rules::token_costs::TokenCosts;
use std::pin::Pin;
use std::sync::Arc;
use wunderblock_core::compact::SummaryJob;
use wunderblock_core::policy::{Policy, Summary};
use wunderblock_core::ports::{Bodies, CostModel};
use wunderblock_core::units::Tokens;
use wunderblock_core::view::{SummaryNode, ViewEntry};
use wunderblock_redact::Redactor;
use wunderblock_summary::attempt::{self, AttemptOptions, Floor, Judgement, SummaryDraft};
use wunderblock_summary::{Against, Brief, Earlier, Material, ReadMaterial, Summarise, extract, verify};

/// A summary to write and its sources. Owns all its data, so that another thread can take it.
pub(in crate::compaction::compact) struct WritingTask {
    pub(in crate::compaction::compact) job: SummaryJob,
    pub(in crate::compaction::compact) entries: Vec<ViewEntry>,
    pub(in crate::compaction::compact) texts: Texts,
    /// Summaries that become part of this one.
    pub(in crate::compaction::compact) earlier: Vec<SummaryNode>,
}

/// Callback that receives the number of bytes already written and returns whether to continue.
pub(in crate::compaction::compact) type OnBytes = Box<dyn Fn(usize) -> bool + Send>;

/// Cost model, call budget and progress callback for writing a summary.
pub(in crate::compaction::compact) struct WritingMeans<'a> {
    pub(in crate::compaction::compact) costs: &'a TokenCosts,
    pub(in crate::compaction::compact) budget: &'a CallBudget,
    pub(in crate::compaction::compact) told: OnBytes,
    pub(in crate::compaction::compact) paid: PaidSummaries,
}

/// Future of a summary that is being written.
pub(in crate::compaction::compact) type Writing =
    Pin<Box<dyn Future<Output = Result<(SummaryJob, SummaryDraft), Error>> + Send>>;

/// Writes a summary on another thread. Without a model, writing starts immediately on a worker; with one, it starts
/// on a separate thread when first polled, because a model call may block for minutes.
///
/// # Errors
/// Returns an error if the system cannot start a thread.
pub(in crate::compaction::compact) fn write_apart(
    desk: &Desk,
    options: &CompactOptions,
    task: WritingTask,
    means: WritingMeans<'_>,
) -> Result<Writing, Error> {
    let redactor = Arc::clone(desk.house.redactor());
    let WritingMeans { costs, budget, told, paid } = means;
    let (options, costs, budget) = (options.clone(), costs.clone(), budget.clone());
    let is_slow = options.compactor.summariser.is_some();
    let write = move || {
        let WritingTask { job, entries, texts, earlier } = task;
        let material = Material {
            from: job.from,
            to: job.to,
            entries: entries.iter().collect(),
            bodies: &texts as &dyn Bodies,
            earlier: earlier.iter().filter_map(|node| Earlier::of(node, &texts)).collect(),
            redactor: &redactor,
        };
        let writer = SummaryWriter {
            policy: &options.compactor.policy,
            summariser: options.compactor.summariser.as_deref(),
            focus: options.focus.as_deref(),
            redactor: &redactor,
            budget: &budget,
            paid: &paid,
        };
        let draft = writer.write(&job, &material, &costs, &told);
        (job, draft)
    };
    Ok(if is_slow { Box::pin(on_thread(write)) } else { Box::pin(desk.house.workers.start(write)?) })
}

/// Summariser (`None` for extraction), policy and options for writing summaries.
#[derive(Clone, Copy)]
pub(in crate::compaction::compact) struct SummaryWriter<'a> {
    pub(in crate::compaction::compact) policy: &'a Policy,
    pub(in crate::compaction::compact) summariser: Option<&'a dyn Summarise>,
    pub(in crate::compaction::compact) focus: Option<&'a str>,
    pub(in crate::compaction::compact) redactor: &'a Redactor,
    /// Number of summariser calls that are left.
    pub(in crate::compaction::compact) budget: &'a CallBudget,
    /// Summaries that models wrote before.
    pub(in crate::compaction::compact) paid: &'a PaidSummaries,
}

impl SummaryWriter<'_> {
    /// Writes the summary of a job. `told` receives the number of bytes already written and returns whether to
    /// continue.
    pub(in crate::compaction::compact) fn write(
        &self,
        job: &SummaryJob,
        material: &Material<'_>,
        costs: &dyn CostModel,
        told: &dyn Fn(usize) -> bool,
    ) -> SummaryDraft {
        let summary = &self.policy.summary;
        let brief = Brief {
            template: &summary.template,
            target: job.target,
            most: most(summary, job),
            focus: self.focus,
            detail: job.detail,
        };
        let verify = |text: &str, read: &ReadMaterial<'_>, brief: &Brief<'_>, costs: &dyn CostModel| {
            let tokens = costs.text(text).tokens;
            let against = Against {
                tokens,
                replaces: job.tokens,
                grounded: summary.grounded,
                by_line: self.summariser.is_some(),
            };
            let verdict = verify(text, read, brief, against);
            Judgement {
                check: verdict.check,
                faults: verdict.faults.iter().map(ToString::to_string).collect(),
                text: verdict.text,
            }
        };
        let options = AttemptOptions {
            floor: Floor { extract: &extract, verify: &verify },
            before: job.tokens,
            by_model: summary.by_model,
            overage: summary.overage,
            second: summary.second,
            input: summary.input,
            margin: summary.margin,
            redactor: self.redactor,
            progress: told,
        };
        let read = ReadMaterial::of(material);
        let Some(summariser) = self.summariser else {
            return attempt::write(&read, &brief, costs, None, &options);
        };
        if let Some(draft) = self.paid.draft(job, brief.most, costs) {
            return draft;
        }
        let counted = CountedCalls::new(summariser, self.budget);
        let draft = attempt::write(&read, &brief, costs, Some(&counted), &options);
        SummaryDraft { spent: counted.spent(draft.spent.clone()), ..draft }
    }
}

/// Returns the number of tokens beyond which a summary is cut: a multiple of its target, but less than the content it
/// replaces.
fn most(summary: &Summary, job: &SummaryJob) -> Tokens {
    let smaller = Tokens(job.tokens.0.saturating_sub(FENCE.0));
    summary.overage.of(job.target).min(smaller).max(Tokens(LEAST.0.min(summary.floor.0.max(1))))
}

/// Number of tokens reserved for the fence and header around a summary, so that the whole is smaller than its source.
const FENCE: Tokens = Tokens(300);
/// Smallest maximum length of a summary, unless the policy's floor is lower.
const LEAST: Tokens = Tokens(64);
