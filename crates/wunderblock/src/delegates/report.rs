//! Records what a hook reports about a delegate, beside the transcript of its parent.

use crate::error::Error;
use crate::future::BoxFuture;
use crate::query_batch::{NEWEST, marked};
use crate::session::Session;
use crate::store::{Answer, Marked};
use crate::stored::decode_event;
use wunderblock_core::event::{EventSource, Fact, NewEvent, SubagentReturned, SubagentSpawned};
use wunderblock_core::id::{EventId, StreamId};
use wunderblock_core::units::Millis;

/// Maximum number of the latest reports that are compared with a new one: a hook must not read the whole session.
const LATEST: u64 = 64;

/// Records the start of a delegate in the session of its parent. Returns whether it was new: an import may already have
/// read it in the transcript.
///
/// # Errors
/// Returns an error if the session does not exist, or if the ledger cannot be written.
pub(super) fn record_spawned(session: &Session, spawned: SubagentSpawned, at: Millis) -> BoxFuture<'_, bool> {
    Box::pin(async move {
        let id = format!("hook:spawned:{}", spawned.session);
        record(session, (id, at), Fact::SubagentSpawned(spawned)).await
    })
}

/// Records the end of a delegate's work in the session of its parent. Returns whether it was new.
///
/// # Errors
/// Returns an error if the session does not exist, or if the ledger cannot be written.
pub(super) fn record_returned(
    session: &Session,
    returned: SubagentReturned,
    at: Millis,
) -> BoxFuture<'_, bool> {
    Box::pin(async move {
        let id = format!("hook:returned:{}", returned.session);
        record(session, (id, at), Fact::SubagentReturned(returned)).await
    })
}

async fn record(session: &Session, (id, at): (String, Millis), fact: Fact) -> Result<bool, Error> {
    let engine = session.engine();
    let query = marked(engine, session.id(), Marked::Kind(fact.kind()), (NEWEST, LATEST));
    for row in engine.ask(query, Answer::events).await? {
        let known = decode_event(engine, session.id(), &row)?.fact;
        if known.as_ref().and_then(delegate).is_some_and(|known| delegate(&fact) == Some(known)) {
            return Ok(false);
        }
    }
    let event = NewEvent { id: EventId::new(id)?, at, source: EventSource::Live, fact };
    let appended = session.append(event).await?;
    Ok(appended.iter().any(|one| !one.duplicate))
}

fn delegate(fact: &Fact) -> Option<&StreamId> {
    match fact {
        Fact::SubagentSpawned(spawned) => Some(&spawned.session),
        Fact::SubagentReturned(returned) => Some(&returned.session),
        _ => None,
    }
}
