//! Whether a recap is due, for agents that tell no hook of a compaction: their transcripts show it.

use super::own::BEGINNING;
use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::compaction::compact::history::find_newest;
use crate::ledger::reading::stored::decode_event;
use crate::ledger::session::PageLimit;
use crate::ledger::session::Session;
use crate::ledger::texts::Texts;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::LaneId;
use wunderblock_core::message::{Part, Role};
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_core::view::View;
use wunderblock_store::{Answer, EventFilter, Marked, Query, ReadOrder};

/// Number of the user's turns after a compaction within which a recap is due. An agent that compacts at the beginning of
/// a turn has called the hook for this turn before, so that the recap comes with the next one.
const TURNS: usize = 2;
/// Maximum number of messages that are read after a compaction, and of bytes of their text.
const READ: PageLimit = PageLimit { events: 16, text: Bytes(256 << 10) };

/// Returns whether a session was compacted by its agent, and has not shown a recap since: neither in the user's turns
/// that followed, of which there is at most one, nor in the prompt that is about to be sent.
///
/// # Errors
/// Returns an error if the session does not exist, or if the ledger cannot be read.
pub fn is_recap_due<'a>(session: &'a Session, prompt: &'a str) -> BoxFuture<'a, bool> {
    Box::pin(async move {
        if prompt.contains(BEGINNING) {
            return Ok(false);
        }
        let head = session.info().await?.head;
        let of_agent = |event: Event| match event.fact {
            Some(Fact::SessionCompacted(made)) if made.lane.is_none() => Some(event.seq),
            _ => None,
        };
        match find_newest(session, Marked::Kind("session.compacted"), head, of_agent).await? {
            Some(at) => Ok(turns_after(session, at.next()).await?.is_some_and(|turns| turns < TURNS)),
            None => Ok(false),
        }
    })
}

/// Returns the number of the user's turns from a position on. `None` if one of them shows a recap.
async fn turns_after(session: &Session, from: Seq) -> Result<Option<usize>, Error> {
    let engine = session.engine();
    let query = Query::Events {
        tenant: engine.tenant.no,
        stream: session.id().clone(),
        from,
        to: crate::ledger::reading::query_batch::NEWEST,
        order: ReadOrder::Ascending,
        limit: READ.events,
        text: READ.text,
        counts: false,
        filter: EventFilter { role: Some(Role::User), ..EventFilter::default() },
    };
    let mut view = View::new(LaneId::main());
    for row in engine.ask(query, Answer::events).await? {
        view.apply(&decode_event(engine, session.id(), &row)?);
    }
    let mut texts = Texts::default();
    crate::compaction::drive::read_view_texts(engine, &view, &mut texts).await?;
    let shows = |part: &Part| match part {
        Part::Text { text, .. } => texts.of(text).is_some_and(|text| text.contains(BEGINNING)),
        _ => false,
    };
    let is_shown = view.entries().any(|entry| entry.message.parts.iter().any(shows));
    let turns = view.entries().filter(|entry| entry.message.is_user_turn()).count();
    Ok((!is_shown).then_some(turns))
}
