//! Lets a lane begin again if needed, and shortens texts before they are first shown. The resulting events are
//! applied to the view.
//!
//! Nothing is recorded here. A recorded build records the shortening events before its own events; an unrecorded
//! build produces the same request from them.

use crate::base::error::Error;
use crate::ledger::reduce::{Candidate, Choice, ReduceContext, in_order, marked, shorten as shorten_texts};
use crate::ledger::texts::Texts;
use crate::request::decision::Decision;
use crate::request::input::job::BuildJob;
use crate::request::need::{Asking, Need};
use crate::request::packer::Packer;
use crate::request::stages::{Shortened, ShorterTexts, Weighed};
use std::collections::HashSet;
use std::sync::Arc;
use wunderblock_core::event::{ContentReduced, ContextInjected, Fact, ViewTrimmed};
use wunderblock_core::id::Handle;
use wunderblock_core::plan::{Trim, TrimReason};
use wunderblock_core::view::View;

/// Lets a lane begin again if it was last built for another model or window. The returned decision holds only the
/// step with which the lane begins again.
pub(in crate::request) fn resize(lane: &mut Weighed, job: &BuildJob) -> Result<Decision, Error> {
    let (snapshot, target) = (&mut lane.snapshot, Some(lane.target.lane()));
    let mut decision = Decision::begin(job, &snapshot.view);
    if lane.resizes {
        let (lane, trim) = (snapshot.lane().clone(), Trim::default());
        let step =
            ViewTrimmed { lane: lane.clone(), trim, reason: TrimReason::Resized, target, compaction: None };
        // A lane that begins again rebuilds its work log from what it sees.
        if snapshot.view.lane().work().is_some_and(|work| !work.is_empty()) {
            let work = Some(Box::default());
            let nothing = ContextInjected { work, ..ContextInjected::new(lane.clone(), Vec::new()) };
            decision.take(Fact::ContextInjected(nothing), &Texts::default())?;
        }
        decision.take(Fact::ViewTrimmed(step.clone()), &Texts::default())?;
        snapshot.view = Arc::clone(&decision.view);
        snapshot.step = Some((job.now, step));
    }
    Ok(decision)
}

/// Shortens texts that the lane's requests have not shown yet, and applies the reductions to the view.
pub(in crate::request) async fn shorten(
    mut lane: Weighed,
    job: &BuildJob,
    ask: &Asking,
) -> Result<Shortened, Error> {
    let (head, epoch) = (lane.snapshot.view.head(), lane.snapshot.epoch);
    let mut decision = resize(&mut lane, job)?;
    let packer = Packer::new(job.key);
    let mut texts = Texts::default();
    let facts = shorter_texts(&lane, job, ask, &mut texts, &packer).await?;
    let view = &lane.snapshot.view;
    let replaced = facts.iter().filter_map(|fact| {
        let part = view.part(fact.at())?;
        part.bodies().into_iter().find_map(|body| body.handle())
    });
    let replaced: HashSet<Handle> = replaced.collect();
    texts.drop_all(&replaced);
    packer.unload(&lane.costs, &mut texts);
    for fact in facts {
        let fact = ContentReduced { lane: Some(view.lane().id.clone()), ..fact };
        decision.take(Fact::ContentReduced(Box::new(fact)), &texts)?;
    }
    lane.snapshot.view = Arc::clone(&decision.view);
    Ok(Shortened { lane, shorter: ShorterTexts::of(head, epoch, decision), texts })
}

async fn shorter_texts(
    lane: &Weighed,
    job: &BuildJob,
    ask: &Asking,
    texts: &mut Texts,
    packer: &Packer,
) -> Result<Vec<ContentReduced>, Error> {
    let means = ReduceContext { rules: &job.rules, costs: &lane.costs, reducer: job.reducer };
    let view: Arc<View> = Arc::clone(&lane.snapshot.view);
    let mut choice = Choice::new(&view, &means, lane.target.budget.limit().tokens);
    let mut facts = Vec::new();
    loop {
        let candidates = choice.more();
        if candidates.is_empty() {
            return Ok(in_order(facts));
        }
        ask.texts(texts, candidates.iter().flat_map(Candidate::handles)).await?;
        let known = known(marked(&candidates, &*texts), ask).await?;
        let more = shorten_texts(&candidates, &*texts, &means, &known, &|text| packer.pack_named(text))?;
        choice.gained(&more);
        facts.extend(more);
    }
}

/// Returns those of the given texts that are recorded reductions, which must not be reduced again. One need covers
/// all of the texts. Most texts have no mark, so usually no need arises.
async fn known(handles: HashSet<Handle>, ask: &Asking) -> Result<HashSet<Handle>, Error> {
    if handles.is_empty() {
        return Ok(handles);
    }
    let mut handles: Vec<Handle> = handles.into_iter().collect();
    handles.sort_unstable();
    ask.ask(|reply| Need::Known(handles, reply)).await
}
