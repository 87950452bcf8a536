//! Composing and planning: what of the sources holds, and what of the session goes in beside it.

use super::load::{Loaded, Texts};
use super::offer::Shelf;
use super::step::Step;
use super::target::Target;
use super::{ContextOptions, model_line};
use crate::catalog::CacheMode;
use crate::error::Error;
use crate::gauge::Scales;
use crate::session::Session;
use wunderblock_core::compose::{Composed, Desk, Offer, compose};
use wunderblock_core::id::{Handle, LaneId};
use wunderblock_core::lead;
use wunderblock_core::line::Line;
use wunderblock_core::message::Body;
use wunderblock_core::plan::{Ask, Fixed, Plan, Refusal, TrimReason, plan};
use wunderblock_core::section::Section;
use wunderblock_core::step::Injection;
use wunderblock_core::units::Seq;
use wunderblock_core::view::View;

impl Session {
    /// Composes and plans. When the lane takes a step its beginning is paid for anew, so what waited takes effect.
    pub(super) async fn decide(
        &self,
        desk: &Workbench<'_>,
        (loaded, hits): (&Loaded, &[Injection]),
        (offer, state): (&Offer, &[Injection]),
        texts: &mut Texts,
    ) -> Result<(Step, Composed), Error> {
        // A lane that has taken a step since its last request begins anew, too.
        let first =
            loaded.view.preamble().is_none() || loaded.ignored_steps || loaded.view.last_built().is_none();
        let (composed, step, planned) =
            self.attempt(desk, (loaded, hits), (offer, state), (texts, first)).await?;
        let steps = |plan: &Plan| plan.step == Some(TrimReason::OverBudget);
        let again = !first && planned.as_ref().map_or(true, steps);
        let (composed, mut step, planned) = match again {
            true => self.attempt(desk, (loaded, hits), (offer, state), (texts, true)).await?,
            false => (composed, step, planned),
        };
        let mut plan = planned?;
        if loaded.ignored_steps {
            plan.step = Some(TrimReason::Widened);
        }
        step.plan(plan, texts)?;
        Ok((step, composed))
    }

    /// Composes and plans once; `anew` says that the lane's beginning changes anyway.
    async fn attempt(
        &self,
        desk: &Workbench<'_>,
        (loaded, hits): (&Loaded, &[Injection]),
        (offer, state): (&Offer, &[Injection]),
        (texts, anew): (&mut Texts, bool),
    ) -> Result<(Composed, Step, Result<Plan, Box<Refusal>>), Error> {
        let mut composed = desk.compose(offer, &loaded.view, (texts, anew));
        if composed.preamble.is_some() && self.recorded_texts(&composed, texts).await? {
            composed = desk.compose(offer, &loaded.view, (texts, anew));
        }
        take_in(desk.shelf, desk.gauge, texts);
        let step = Step::begin(&self.engine, &self.id, (desk.lane, &loaded.view));
        let mut step = step.after(&loaded.reduced);
        step.preamble(&composed, texts)?;
        let must: Vec<Injection> = composed.tail.iter().chain(state).cloned().collect();
        let planned = desk.plan(&step.view, (loaded.floor, &must, hits), texts);
        Ok((composed, step, planned))
    }

    /// Loads what a preamble repeats of the one on record and was not offered again. Whether anything had to be loaded.
    pub(super) async fn recorded_texts(&self, composed: &Composed, texts: &mut Texts) -> Result<bool, Error> {
        let bodies = composed.preamble.iter().flat_map(|preamble| preamble.bodies());
        let missing: Vec<Handle> =
            bodies.filter_map(Body::handle).filter(|handle| !texts.0.contains_key(handle)).collect();
        if missing.is_empty() {
            return Ok(false);
        }
        self.engine.more_texts(texts, missing).await?;
        Ok(true)
    }
}

/// What one build decides with.
pub(super) struct Workbench<'a> {
    pub(super) lane: &'a LaneId,
    pub(super) options: &'a ContextOptions,
    pub(super) target: &'a Target,
    pub(super) gauge: &'a Scales,
    pub(super) shelf: &'a Shelf<'a>,
}

impl Workbench<'_> {
    pub(super) fn compose(&self, offer: &Offer, view: &View, (texts, anew): (&Texts, bool)) -> Composed {
        let pack = |text: String| {
            // A text that was cut is weighed at once.
            let count = self.gauge.measure(&text);
            let body = self.shelf.pack(text);
            if let Some(handle) = body.handle() {
                self.gauge.learn(handle, count);
            }
            body
        };
        let rule = self.target.row.cache;
        let desk = Desk {
            limit: self.target.budget.limit().tokens,
            shares: &self.options.shares,
            gauge: self.gauge,
            bodies: texts,
            pack: &pack,
            cache: (rule.mode == CacheMode::Explicit).then_some(rule.minimum),
        };
        compose(offer, view, &desk, anew)
    }

    /// What a request holds whatever is left out of the conversation.
    pub(super) fn fixed(&self, view: &View) -> Vec<Fixed> {
        fixed(model_line(self.target, self.gauge), view, self.gauge)
    }

    fn plan(
        &self,
        view: &View,
        (floor, must, hits): (Seq, &[Injection], &[Injection]),
        texts: &Texts,
    ) -> Result<Plan, Box<Refusal>> {
        let fixed = self.fixed(view);
        let limit = self.target.budget.limit().tokens;
        plan(&Ask {
            view,
            budget: self.target.budget,
            gauge: self.gauge,
            bodies: texts,
            fixed: &fixed,
            must,
            hits,
            recall: self.options.shares.most(Section::Recall, limit),
            transcript: self.options.shares.most(Section::Transcript, limit),
            floor,
        })
    }
}

/// What a request holds whatever is left out of the conversation: the model's name, and the lane's preamble.
pub(super) fn fixed(name: Line, view: &View, gauge: &Scales) -> Vec<Fixed> {
    let mut fixed = vec![Fixed { section: name.section, what: name.what, cost: name.cost }];
    fixed.extend(view.preamble().map(|preamble| lead::fixed(preamble, gauge)).unwrap_or_default());
    fixed
}

/// Moves texts from the shelf to where rendering finds them, and counts those nobody has counted.
pub(super) fn take_in(shelf: &Shelf<'_>, gauge: &Scales, texts: &mut Texts) {
    for (handle, text) in shelf.drain() {
        if !gauge.knows(handle) {
            gauge.learn(handle, gauge.measure(&text));
        }
        texts.0.insert(handle, text);
    }
}
