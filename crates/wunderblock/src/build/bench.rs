//! What a compaction needs of a build: the lane as the next request would find it, and what that request takes.

use super::decide::{Workbench, take_in};
use super::load::Texts;
use super::offer::{self, Shelf};
use super::step::Step;
use super::{ContextOptions, Draft};
use crate::engine::Engine;
use crate::error::Error;
use crate::gauge::Scales;
use crate::session::Session;
use wunderblock_core::budget::Budget;
use wunderblock_core::event::ViewTrimmed;
use wunderblock_core::id::LaneId;
use wunderblock_core::message::Body;
use wunderblock_core::plan::{Fixed, TrimReason};
use wunderblock_core::section::Section;
use wunderblock_core::step::Injection;
use wunderblock_core::units::{Millis, Seq, Tokens};
use wunderblock_core::view::View;

/// A lane as its next request would find it.
pub(crate) struct Bench {
    pub(crate) view: View,
    pub(crate) budget: Budget,
    pub(crate) gauge: Scales,
    pub(crate) texts: Texts,
    pub(crate) fixed: Vec<Fixed>,
    pub(crate) must: Vec<Injection>,
    pub(crate) recall: Tokens,
    pub(crate) transcript: Tokens,
    /// The first position of which everything is in the view.
    pub(crate) floor: Seq,
}

/// What a request that was built says of its lane.
pub(crate) struct Sized<'a> {
    pub(crate) view: &'a View,
    pub(crate) texts: &'a Texts,
    /// What it takes; what the provider measured, where that is more.
    pub(crate) tokens: Tokens,
    pub(crate) limit: Tokens,
    pub(crate) window: Tokens,
    /// It fitted only because something was left out, or the provider refused the one before as too long.
    pub(crate) overflows: bool,
    /// Whether the provider found the lane's last request too long.
    pub(crate) refused: bool,
    pub(crate) messages: u64,
    pub(crate) now: Millis,
    pub(crate) opened_at: Millis,
    /// The lane's newest step, and when it took it.
    pub(crate) step: Option<(Millis, ViewTrimmed)>,
    pub(crate) cache_until: Option<Millis>,
}

impl Draft {
    /// What it says of its lane.
    pub(super) fn sized(&self, now: Millis) -> Sized<'_> {
        let report = &self.built.report;
        let anchored = self
            .built
            .anchor
            .as_ref()
            .filter(|anchor| self.built.view.last_built().is_some_and(|at| anchor.seq > at));
        let measured = anchored.map(wunderblock_core::usage::Anchor::total).unwrap_or_default();
        let lifetime = self.target.row.cache.lifetime;
        let cached = self.built_before.filter(|_| lifetime > Millis::ZERO);
        Sized {
            view: &self.built.view,
            texts: &self.built.texts,
            tokens: report.total_tokens.max(measured),
            limit: report.limit,
            window: report.window,
            overflows: self.step.plan.step == Some(TrimReason::OverBudget),
            refused: self.refused,
            messages: report.entries.iter().filter(|entry| entry.seq.is_some()).count() as u64,
            now,
            opened_at: self.opened_at,
            step: self.last_step.clone(),
            cache_until: cached.map(|at| Millis(at.0.saturating_add(lifetime.0))),
        }
    }
}

impl Session {
    /// Loads a lane as its next request would find it, the sources composed.
    pub(crate) async fn bench(&self, lane: &LaneId, options: &ContextOptions) -> Result<Bench, Error> {
        let engine = &self.engine;
        let (loaded, target) = self.fitting(lane, options).await?;
        let scales = Scales::new(target.row.counter(), target.dialect).remembering(engine.known.counts());
        let (gauge, _) = engine.gauge(&loaded.view, &loaded.counts, scales).await?;
        let calibration = engine.calibration(&loaded, &target.model, &gauge);
        let gauge = gauge.calibrated(calibration);
        let mut texts = loaded.texts.clone();
        let turn = loaded.view.newest_user().and_then(|seq| loaded.view.entry(seq));
        let turn = turn.into_iter().flat_map(|entry| super::load::spoken(&entry.message));
        let turn: Vec<_> = turn.filter_map(Body::handle).collect();
        engine.more_texts(&mut texts, turn).await?;
        let shelf = Shelf::new(&engine.tenant.key);
        let (offer, state) = offer::offer(&options.sources, &loaded.view, (&texts, &shelf));
        take_in(&shelf, &gauge, &mut texts);
        let (view, fixed, must) = {
            let desk = Workbench { lane, options, target: &target, gauge: &gauge, shelf: &shelf };
            let composed = desk.compose(&offer, &loaded.view, (&texts, true));
            take_in(&shelf, &gauge, &mut texts);
            let mut step = Step::begin(engine, &self.id, (lane, &loaded.view));
            if self.recorded_texts(&composed, &mut texts).await? {
                take_in(&shelf, &gauge, &mut texts);
            }
            step.preamble(&composed, &texts)?;
            let must = composed.tail.iter().chain(&state).cloned().collect();
            let fixed = desk.fixed(&step.view);
            (loaded.view.clone(), fixed, must)
        };
        let limit = target.budget.limit().tokens;
        Ok(Bench {
            view,
            budget: target.budget,
            gauge,
            texts,
            fixed,
            must,
            recall: options.shares.most(Section::Recall, limit),
            transcript: options.shares.most(Section::Transcript, limit),
            floor: loaded.floor,
        })
    }
}

impl Engine {
    /// Loads every text of a view that is not there yet.
    pub(crate) async fn view_texts(&self, view: &View, texts: &mut Texts) -> Result<(), Error> {
        let handles: Vec<_> = super::load::view_handles(view).collect();
        self.more_texts(texts, handles).await
    }
}
