//! Records what a hook reports about a delegate, beside the transcript of its parent.

use crate::base::error::Error;
use crate::ledger::reading::query_batch::{NEWEST, marked};
use crate::ledger::reading::stored::decode_event;
use crate::ledger::session::Session;
use wunderblock_core::event::{EventSource, Fact, NewEvent};
use wunderblock_core::id::{EventId, StreamId};
use wunderblock_core::units::Millis;
use wunderblock_store::{Answer, Marked};

/// Maximum number of the latest reports that are compared with a new one: a hook must not read the whole session.
const LATEST: u64 = 64;

/// Records the start or the end of a delegate in the session of its parent. Returns whether it was new: an import may
/// already have read it in the transcript.
pub(super) async fn record(session: &Session, fact: Fact, at: Millis) -> Result<bool, Error> {
    let Some((what, child)) = report(&fact) else { return Ok(false) };
    let id = format!("hook:{what}:{child}");
    let engine = session.engine();
    let query = marked(engine, session.id(), Marked::Kind(fact.kind()), NEWEST, LATEST);
    for row in engine.ask(query, Answer::events).await? {
        let known = decode_event(engine, session.id(), &row)?.fact;
        if known.as_ref().and_then(report) == Some((what, child)) {
            return Ok(false);
        }
    }
    let event = NewEvent { id: EventId::new(id)?, at, source: EventSource::Live, fact };
    let appended = session.append(event).await?;
    Ok(appended.iter().any(|one| !one.duplicate))
}

/// Returns what a fact reports, and the session of the delegate.
fn report(fact: &Fact) -> Option<(&'static str, &StreamId)> {
    match fact {
        Fact::SubagentSpawned(spawned) => Some(("spawned", &spawned.session)),
        Fact::SubagentReturned(returned) => Some(("returned", &returned.session)),
        _ => None,
    }
}
