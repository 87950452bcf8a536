//! Events that record the decisions of a build: preamble, step, injections, request, warning.

use crate::base::error::Error;
use crate::request::steps::draft::Draft;
use std::collections::BTreeMap;
use wunderblock_core::event::{BudgetWarned, EventSource, Fact, NewEvent, Overflow, TurnCompleted};
use wunderblock_core::id::{EventId, LaneId, StreamId};
use wunderblock_core::plan::PlanRefusal;
use wunderblock_core::section::Section;
use wunderblock_core::units::{Cost, Millis, Seq};

/// Returns the events to append for a request, and the position of the request's own record.
pub(crate) fn to_record(
    draft: &Draft,
    stream: &StreamId,
    now: Millis,
) -> Result<(Seq, Vec<NewEvent>), Error> {
    let mut events = draft.planned.decision.events.clone();
    let seq = Seq(draft.through.0 + events.len() as u64 + 1);
    let built = Fact::ContextBuilt(Box::new(draft.record(stream)));
    events.push(event(format!("context.built@{seq}"), now, built)?);
    if let Some(warned) = warning(draft) {
        events.push(event(format!("budget.warned@{}", seq.next()), now, Fact::BudgetWarned(warned))?);
    }
    Ok((seq, events))
}

/// Returns the event that records why no request was sent. `done` describes what was done to make room.
pub(crate) fn refused(
    lane: &LaneId,
    refusal: &PlanRefusal,
    done: &str,
    now: Millis,
) -> Result<NewEvent, Error> {
    let mut sections: BTreeMap<Section, Cost> = BTreeMap::new();
    for part in &refusal.parts {
        *sections.entry(part.section).or_default() += part.cost;
    }
    let sections: Vec<(Section, Cost)> = sections.into_iter().collect();
    let what = format!("{lane} {:?} {:?} {sections:?} {done}", refusal.limit, refusal.needed);
    // The id is a hash of the refusal, so the same refusal is a duplicate.
    let key = blake3::hash(what.as_bytes());
    let overflow = Overflow { limit: refusal.limit, needed: refusal.needed, sections };
    let fact = Fact::TurnCompleted(TurnCompleted {
        stop_reason: "error".into(),
        error_code: Some("context_overflow".into()),
        detail: Some(format!("{refusal}; {done}. {NEXT}").into()),
        overflow: Some(overflow),
    });
    event(format!("context_overflow:{}", key.to_hex()), now, fact)
}

fn event(id: String, at: Millis, fact: Fact) -> Result<NewEvent, Error> {
    Ok(NewEvent { id: EventId::new(id)?, at, source: EventSource::Engine, fact })
}

/// Returns the threshold that this request has passed and that the lane's previous request had not passed.
fn warning(draft: &Draft) -> Option<BudgetWarned> {
    let percent = draft.warned?;
    if draft.planned.used_before().is_some_and(|before| before >= u64::from(percent)) {
        return None;
    }
    let report = &draft.report;
    Some(BudgetWarned {
        lane: draft.planned.snapshot.lane().clone(),
        percent,
        total_tokens: report.total_tokens,
        limit: report.limit,
    })
}

/// Advice recorded with a request that cannot fit.
const NEXT: &str = "Use a larger window, keep less free for the answer, give fewer tools and instructions, or unpin what is \
    pinned.";
