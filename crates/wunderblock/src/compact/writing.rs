//! One summary: the range and the brief to what is written, with or without a model.

use super::call_budget::{CallBudget, CountedCalls};
use crate::redact::Redactor;
use crate::summarize::attempt::{self, AttemptOptions, Floor, Judgement, SummaryDraft};
use crate::summarize::{Against, Brief, Material, Summarise, extract, verify};
use wunderblock_core::compact::SummaryJob;
use wunderblock_core::policy::{Policy, Summary};
use wunderblock_core::ports::CostModel;
use wunderblock_core::units::Tokens;

/// Who writes, by which policy.
#[derive(Clone, Copy)]
pub(super) struct SummaryWriter<'a> {
    pub(super) policy: &'a Policy,
    pub(super) summariser: Option<&'a dyn Summarise>,
    pub(super) focus: Option<&'a str>,
    pub(super) redactor: &'a Redactor,
    /// How often the summariser may still be asked.
    pub(super) budget: &'a CallBudget,
}

impl SummaryWriter<'_> {
    /// Writes the summary a job asks for. `told` hears how many bytes have come, and answers whether to go on.
    pub(super) fn write(
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
        let verify = |text: &str, material: &Material<'_>, brief: &Brief<'_>, costs: &dyn CostModel| {
            let tokens = costs.text(text).tokens;
            let against = Against {
                tokens,
                replaces: job.tokens,
                grounded: summary.grounded,
                by_line: self.summariser.is_some(),
            };
            let verdict = verify(text, material, brief, against);
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
        let Some(summariser) = self.summariser else {
            return attempt::write(material, &brief, costs, None, &options);
        };
        let counted = CountedCalls::new(summariser, self.budget);
        let draft = attempt::write(material, &brief, costs, Some(&counted), &options);
        SummaryDraft { spent: counted.spent(draft.spent.clone()), ..draft }
    }
}

/// A summary that is longer is cut: many times its target, and never as long as what it replaces.
fn most(summary: &Summary, job: &SummaryJob) -> Tokens {
    let smaller = Tokens(job.tokens.0.saturating_sub(FENCE.0));
    summary.overage.of(job.target).min(smaller).max(Tokens(LEAST.0.min(summary.floor.0.max(1))))
}

/// What stands around a summary.
const FENCE: Tokens = Tokens(300);
/// No summary is asked for that is shorter.
const LEAST: Tokens = Tokens(64);
