//! Records the decisions of a build: preamble, step, injections, request, warning.

use crate::base::error::Error;
use crate::ledger::record::{MadeFrom, append_events};
use crate::ledger::session::Session;
use crate::request::draft::Draft;
use std::collections::BTreeMap;
use wunderblock_core::event::{BudgetWarned, EventSource, Fact, NewEvent, Overflow, TurnCompleted};
use wunderblock_core::id::{EventId, LaneId, StreamId};
use wunderblock_core::plan::PlanRefusal;
use wunderblock_core::section::Section;
use wunderblock_core::units::{Cost, Millis, Seq};
use wunderblock_store::{Commit, Write};

/// Appends the decisions of a build, unless the session has grown in the meantime.
pub(super) async fn record_request(session: &Session, draft: &Draft) -> Result<Seq, Error> {
    let (seq, events) = to_record(draft, &session.id, session.engine.now())?;
    let fresh = &draft.planned.fresh;
    if !fresh.is_empty() {
        let counts = Write::Counts { tenant: session.engine.tenant.no, counts: fresh.clone() };
        // Counts are derived data, so the request does not fail if they cannot be stored.
        let _ = session.engine.storage.commit(Commit::raw(vec![counts])).await;
    }
    let made = MadeFrom::session(draft.planned.snapshot.epoch, draft.through);
    append_events(session, Some(draft.through), events, made).await?;
    Ok(seq)
}

/// Records that no request was sent, and the reason. Repeating the same refusal records nothing.
pub(super) async fn record_overflow(
    session: &Session,
    lane: &LaneId,
    refusal: &PlanRefusal,
    done: &str,
) -> Result<(), Error> {
    let event = refused(lane, refusal, done, session.engine.now())?;
    append_events(session, None, vec![event], MadeFrom::Nothing).await?;
    Ok(())
}

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
