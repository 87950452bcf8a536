//! Brings the texts that the newest turn names back, after everything else is planned.

use super::compose::fixed;
use crate::base::error::Error;
use crate::request::input::job::BuildJob;
use crate::request::named::find::Finder;
use crate::request::named::{AskedFor, AskedOutcome, NamedEvents, NamedPlaces};
use crate::request::need::Asking;
use crate::request::packer::Packer;
use crate::request::stages::Planned;
use std::sync::Arc;
use wunderblock_core::id::Handle;
use wunderblock_core::plan::{AskedText, Injection, PlanInput, Recalled, recall};
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::section::Section;

/// Brings the texts of the names back that the request does not show, as far as there is room.
pub(in crate::request) async fn bring_back(
    planned: &mut Planned,
    found: NamedEvents,
    job: &BuildJob,
    ask: &Asking,
) -> Result<(), Error> {
    let named = Arc::clone(&planned.snapshot.named);
    // A text that entered now would come after a reply that still waits, but before its results.
    if named.names.is_empty() || !planned.decision.plan.trim.waiting.is_empty() {
        return Ok(());
    }
    found.counts.iter().for_each(|(handle, count)| planned.costs.learn(*handle, *count));
    let packer = Packer::new(job.key);
    let (mut asked, wanted) = wanted_texts(planned, &named, &found, &packer);
    packer.unload(&planned.costs, &mut planned.texts);
    let (places, wanted): (Vec<usize>, Vec<AskedText>) = wanted.into_iter().unzip();
    // The driver leaves out only texts of megabytes.
    let handles: Vec<Handle> = wanted.iter().filter_map(|one| one.whole.body.handle()).collect();
    ask.texts(&mut planned.texts, handles.iter().copied()).await?;
    for handle in handles.into_iter().filter(|handle| !planned.costs.knows(*handle)) {
        if let Some(text) = planned.texts.text(handle) {
            planned.costs.learn(handle, planned.costs.measure(text));
        }
    }
    let mut items: Vec<Injection> = Vec::new();
    for ((place, one), answer) in places.iter().zip(&wanted).zip(answered(planned, job, &wanted)) {
        let outcome = match answer {
            Recalled::Shown => AskedOutcome::Shown,
            Recalled::NoRoom { needs, had } => AskedOutcome::NoRoom { needs, had },
            Recalled::Enters(item) => {
                let is_whole = item.body == one.whole.body;
                items.push(packer.packed(&item));
                if is_whole { AskedOutcome::Recalled } else { AskedOutcome::Cut }
            }
        };
        if let Some(one) = asked.get_mut(*place) {
            one.outcome = outcome;
        }
    }
    packer.unload(&planned.costs, &mut planned.texts);
    planned.asked = asked;
    planned.decision.bring_back(items, &planned.texts)
}

/// Returns the names with what is known of them, and the texts that were found, with the places of their names.
fn wanted_texts(
    planned: &Planned,
    named: &NamedPlaces,
    found: &NamedEvents,
    packer: &Packer,
) -> (Vec<AskedFor>, Vec<(usize, AskedText)>) {
    let (mut asked, mut wanted): (Vec<AskedFor>, Vec<(usize, AskedText)>) = (Vec::new(), Vec::new());
    let finder = Finder::of(&found.events, &planned.texts, planned.decision.view.hidden(), named.turn);
    for (name, handles) in &named.names {
        let held = found.held.iter().filter(|(handle, _)| handles.contains(handle));
        let told = |outcome, at| AskedFor { name: name.text.clone(), outcome, at };
        match finder.find(name, &held.copied().collect::<Vec<_>>()) {
            Err((AskedOutcome::Unknown, _)) if !name.firm => {}
            Err((AskedOutcome::Unknown, at)) if named.is_partly => {
                asked.push(told(AskedOutcome::NotIndexed, at))
            }
            Err((outcome, at)) => asked.push(told(outcome, at)),
            Ok(texts) => {
                for mut text in texts {
                    // A part of a body becomes a body of its own.
                    if text.whole.part_of.is_some() {
                        text.whole = packer.packed(&text.whole);
                    }
                    let is_it = |had: &AskedText| had.whole.body == text.whole.body && had.part == text.part;
                    if !wanted.iter().any(|(_, had)| is_it(had)) {
                        let at = Some(text.whole.from_seq);
                        wanted.push((asked.len(), text));
                        asked.push(told(AskedOutcome::Shown, at));
                    }
                }
            }
        }
    }
    (asked, wanted)
}

/// Returns what becomes of texts in the planned request.
fn answered(planned: &Planned, job: &BuildJob, wanted: &[AskedText]) -> Vec<Recalled> {
    let trim = &planned.decision.plan.trim;
    with_plan_input(planned, job, |input| recall(&input, trim, wanted))
}

/// Calls a function with the input of planning, after the plan has been applied.
pub(super) fn with_plan_input<T>(
    planned: &Planned,
    job: &BuildJob,
    then: impl FnOnce(PlanInput<'_>) -> T,
) -> T {
    let Planned { snapshot, target, costs, decision, texts, .. } = planned;
    let limit = target.budget.limit().tokens;
    then(PlanInput {
        view: &decision.view,
        stream: job.stream_handle(),
        budget: target.budget,
        costs,
        bodies: texts,
        fixed: &fixed(target, &decision.view, costs),
        must: &[],
        hits: &[],
        recall: job.options.shares.most(Section::Recall, limit),
        transcript: job.options.shares.most(Section::Transcript, limit),
        floor: snapshot.floor,
    })
}
