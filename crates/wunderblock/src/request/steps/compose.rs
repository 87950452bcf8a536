//! Composes and plans: decides which sources take effect, and which entries of the session are shown with them.

use crate::base::error::Error;
use crate::request::decision::Decision;
use crate::request::input::job::BuildJob;
use crate::request::input::target::Target;
use crate::request::need::Asking;
use crate::request::packer::Packer;
use crate::request::stages::{Bench, Gathered, Planned, Stopped, Weighed};
use crate::request::steps::work::standing;
use crate::rules::catalog::CacheMode;
use crate::rules::token_costs::TokenCosts;
use std::sync::Arc;
use wunderblock_core::calibration::ModelCalibration;
use wunderblock_core::compose::{ComposeInput, Composed, compose};
use wunderblock_core::decision::Injection;
use wunderblock_core::message::Body;
use wunderblock_core::plan::{Fixed, Plan, PlanInput, PlanRefusal, TrimReason, plan};
use wunderblock_core::preamble_text;
use wunderblock_core::restate::compared;
use wunderblock_core::section::Section;
use wunderblock_core::view::View;

/// Composes and plans. After a step, the provider has to read the beginning of the request again, so changes that
/// waited for a step take effect with this one. A lane that takes a step composes again with all waiting changes, and
/// once more if the work log waited for an unfinished reply that the step left out.
pub(in crate::request) async fn decide(
    mut gathered: Gathered,
    job: &BuildJob,
    ask: &Asking,
) -> Result<Planned, Stopped> {
    let snapshot = &gathered.lane.snapshot;
    // A lane that has taken a step since its last request also begins again.
    let begins = snapshot.view.lane().preamble().is_none() || snapshot.view.lane().built.is_none();
    let mut attempt = gathered.attempt(job, ask, begins).await?;
    let steps = |plan: &Plan| plan.step == Some(TrimReason::OverBudget);
    if !begins && attempt.plan.as_ref().map_or(true, steps) {
        attempt = gathered.attempt(job, ask, true).await?;
    }
    if let Some(log) = gathered.log_behind(&attempt, job) {
        gathered.state.push(log);
        attempt = gathered.attempt(job, ask, true).await?;
    }
    let Attempt { composed, mut decision, plan } = attempt;
    let Gathered { lane, shorter, mut texts, .. } = gathered;
    let plan = match plan {
        Ok(plan) => plan,
        Err(refusal) => {
            let lane = lane.snapshot.lane().clone();
            return Err(Stopped::Refused { lane, refusal, shorter });
        }
    };
    // A work log that the step drops is injected again as it was recorded, so its text is needed.
    let again = plan.inject.iter().filter(|item| item.section == Section::Work);
    ask.texts(&mut texts, again.filter_map(|item| item.body.handle()).collect::<Vec<_>>()).await?;
    decision.follow(plan, &texts)?;
    let anchor = lane.anchor(&job.catalog);
    let Weighed { snapshot, target, costs, calibration, overhead, fresh, .. } = lane;
    Ok(Planned {
        snapshot,
        target,
        costs,
        calibration,
        overhead,
        anchor,
        fresh,
        shorter,
        composed,
        decision,
        texts,
        asked: Vec::new(),
        unasked: None,
    })
}

/// Composes as the lane's next step would, but without planning; a compaction starts from the result.
pub(in crate::request) async fn bench(
    mut gathered: Gathered,
    job: &BuildJob,
    ask: &Asking,
) -> Result<Bench, Error> {
    let (composed, decision) = gathered.compose(job, ask, true).await?;
    let Gathered { mut lane, shorter, texts, state, .. } = gathered;
    let limit = lane.target.budget.limit().tokens;
    if let Some(preamble) = composed.preamble.as_ref().filter(|preamble| !preamble.restated.is_empty()) {
        Arc::make_mut(&mut lane.snapshot.view).restate(&preamble.restated);
    }
    Ok(Bench {
        epoch: lane.snapshot.epoch,
        stream: job.stream_handle(),
        begins: lane.snapshot.begins(),
        target: lane.target.lane(),
        shorter,
        fixed: fixed(&lane.target, &decision.view, &lane.costs),
        must: composed.tail.into_iter().chain(state).collect(),
        recall: job.options.shares.most(Section::Recall, limit),
        transcript: job.options.shares.most(Section::Transcript, limit),
        floor: lane.snapshot.floor,
        view: lane.snapshot.view,
        budget: lane.target.budget,
        row: lane.target.row.clone(),
        costs: lane.costs,
        calibration: lane
            .calibration
            .map(|learned| ModelCalibration { model: lane.target.model.as_str().into(), learned }),
        texts,
    })
}

/// Result of composing and planning once.
struct Attempt {
    composed: Composed,
    decision: Decision,
    plan: Result<Plan, Box<PlanRefusal>>,
}

impl Gathered {
    /// Composes and plans once. `begins` states that the lane's beginning changes in any case.
    async fn attempt(&mut self, job: &BuildJob, ask: &Asking, begins: bool) -> Result<Attempt, Error> {
        let (composed, decision) = self.compose(job, ask, begins).await?;
        let must: Vec<Injection> = composed.tail.iter().chain(&self.state).cloned().collect();
        let limit = self.lane.target.budget.limit().tokens;
        let plan = plan(&PlanInput {
            view: &decision.view,
            stream: job.stream_handle(),
            budget: self.lane.target.budget,
            costs: &self.lane.costs,
            bodies: &self.texts,
            fixed: &fixed(&self.lane.target, &decision.view, &self.lane.costs),
            must: &must,
            hits: &self.hits,
            recall: job.options.shares.most(Section::Recall, limit),
            transcript: job.options.shares.most(Section::Transcript, limit),
            floor: self.lane.snapshot.floor,
        });
        Ok(Attempt { composed, decision, plan })
    }

    /// Returns the work log to inject after the planned step, if the request would otherwise show none.
    fn log_behind(&mut self, attempt: &Attempt, job: &BuildJob) -> Option<Injection> {
        let plan = attempt.plan.as_ref().ok().filter(|plan| plan.step.is_some())?;
        if self.state.iter().any(|item| item.section == Section::Work) {
            return None;
        }
        let view = self.lane.snapshot.view.with(&plan.trim, &[], &[]);
        let limit = self.lane.target.budget.limit().tokens;
        let log = standing(&view, job.stream_handle(), limit, &self.lane.costs, &self.packer);
        self.packer.unload(&self.lane.costs, &mut self.texts);
        log
    }

    /// Composes the preamble. Texts that the new preamble keeps from the recorded one, and that no source has offered
    /// again, are loaded first.
    async fn compose(
        &mut self,
        job: &BuildJob,
        ask: &Asking,
        begins: bool,
    ) -> Result<(Composed, Decision), Error> {
        let compared = compared(&self.lane.snapshot.view).into_iter().filter_map(Body::handle);
        ask.texts(&mut self.texts, compared.collect::<Vec<_>>()).await?;
        let mut composed = self.composed(job, begins);
        let bodies = composed.preamble.iter().flat_map(|preamble| preamble.bodies());
        let handles: Vec<_> = bodies.filter_map(Body::handle).collect();
        self.packer.unload(&self.lane.costs, &mut self.texts);
        if ask.texts(&mut self.texts, handles).await? {
            composed = self.composed(job, begins);
            self.packer.unload(&self.lane.costs, &mut self.texts);
        }
        let mut decision = Decision::begin(job, &self.lane.snapshot.view).after(self.shorter.events.clone());
        decision.change_preamble(&composed, &self.texts)?;
        Ok((composed, decision))
    }

    fn composed(&self, job: &BuildJob, begins: bool) -> Composed {
        let costs = &self.lane.costs;
        let pack = |text: String| pack(&self.packer, costs, text);
        let rule = self.lane.target.row.cache;
        let desk = ComposeInput {
            limit: self.lane.target.budget.limit().tokens,
            shares: &job.options.shares,
            costs,
            bodies: &self.texts,
            pack: &pack,
            cache: (rule.mode == CacheMode::Explicit).then_some(rule.minimum),
        };
        compose(&self.offer, &self.lane.snapshot.view, &desk, begins)
    }
}

/// Packs a truncated text as a body, and counts it immediately.
fn pack(packer: &Packer, costs: &TokenCosts, text: String) -> Body {
    let count = costs.measure(&text);
    let body = packer.pack(text);
    if let Some(handle) = body.handle() {
        costs.learn(handle, count);
    }
    body
}

/// Returns the content of a request that does not depend on the conversation: the model's name and the preamble.
pub(crate) fn fixed(target: &Target, view: &View, costs: &TokenCosts) -> Vec<Fixed> {
    let name = target.model_line(costs);
    let mut fixed = vec![Fixed { section: name.section, what: name.what, cost: name.cost }];
    fixed.extend(
        view.lane().preamble().map(|preamble| preamble_text::fixed(preamble, costs)).unwrap_or_default(),
    );
    fixed
}
