//! Appending what a build decided: the preamble, the step, what entered at the tail, the request, a warning.

use crate::error::Error;
use crate::record::append_events;
use crate::request::draft::Draft;
use crate::session::Session;
use crate::store::Write;
use std::collections::BTreeMap;
use wunderblock_core::event::{BudgetWarned, EventSource, Fact, NewEvent, Overflow, TurnCompleted};
use wunderblock_core::id::{EventId, LaneId, StreamId};
use wunderblock_core::plan::PlanRefusal;
use wunderblock_core::section::Section;
use wunderblock_core::units::{Cost, Millis, Seq};

/// Appends what the build decided, unless the session has grown meanwhile.
pub(super) async fn record_request(session: &Session, draft: &Draft) -> Result<Seq, Error> {
    let (seq, events) = to_record(draft, &session.id, session.engine.now())?;
    let fresh = &draft.planned.fresh;
    if !fresh.is_empty() {
        let counts = Write::Counts { tenant: session.engine.tenant.no, counts: fresh.clone() };
        // Derived: that it fails is no reason for the request to fail.
        let _ = session.engine.storage.commit(vec![counts]).await;
    }
    append_events(&session.engine, &session.id, Some(draft.through), events).await?;
    Ok(seq)
}

/// Records that no request was sent, and why. The same refusal is recorded once, however often it is met.
pub(super) async fn record_overflow(
    session: &Session,
    lane: &LaneId,
    refusal: &PlanRefusal,
    done: &str,
) -> Result<(), Error> {
    let event = refused(lane, refusal, done, session.engine.now())?;
    append_events(&session.engine, &session.id, None, vec![event]).await?;
    Ok(())
}

/// What is to be appended for a request, and the position of its own record.
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

/// That no request was sent, and why; `done` says what was done so that one might fit.
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

/// The threshold this request passed and the lane's request before had not.
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

/// What helps where even the least does not fit.
const NEXT: &str = "Use a larger window, keep less free for the answer, give fewer tools and instructions, or unpin what is \
    pinned.";
