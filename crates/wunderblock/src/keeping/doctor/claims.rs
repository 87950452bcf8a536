//! Checks the claims that events make. Positions must refer to earlier events, erased content must be gone, and
//! requests must show what they are required to show.
//!
//! Lanes ignore events whose claims are false; `doctor` reports them.

use super::diagnosis::Diagnosis;
use crate::base::error::Error;
use crate::ledger::engine::{Engine, unexpected};
use crate::ledger::reading::query_batch::{EVERY, marked};
use crate::ledger::reading::stored::decode_event;
use crate::recall::document::is_document;
use wunderblock_core::event::{ContentErased, Fact};
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_store::{Answer, EventFilter, Marked, Query, ReadOrder, StreamInfo};

/// Event kinds that refer to positions. Summaries refer to positions, too, but
/// [`examine_nodes`](super::summaries::examine_nodes) checks them.
const KINDS: [&str; 3] = ["view.trimmed", "context.built", "content.erased"];

/// Checks the stream's own events, not those that it shares with the stream from which it was forked.
pub(crate) async fn examine_claims(
    engine: &Engine,
    info: &StreamInfo,
    base: Seq,
    diagnosis: &mut Diagnosis,
) -> Result<(), Error> {
    let of_kind = |kind| marked(engine, &info.id, Marked::Kind(kind), info.head, EVERY);
    for answer in engine.storage.query(KINDS.map(of_kind).into()).await? {
        let rows = answer.events().ok_or_else(unexpected)?;
        for row in rows.iter().filter(|row| row.seq > base) {
            // `examine_stream` has already reported records that cannot be read.
            let Ok(event) = decode_event(engine, &info.id, row) else { continue };
            let Some(fact) = event.fact else { continue };
            let place = format!("{} position {}", info.id, row.seq);
            if let Some(why) = fact.contradiction(row.seq) {
                let detail = format!("{place}: {}: {why}", row.kind);
                diagnosis.found("events speak of what came before them", detail);
            } else if let Fact::ContentErased(erased) = &fact
                && let Some(at) = find_survivor(engine, info, erased).await?
            {
                let detail = format!("{place}: the message at position {at} was not erased");
                diagnosis.found("what was erased is gone", detail);
            }
        }
    }
    examine_requests(engine, info, base, diagnosis).await
}

/// Checks that each lane's latest request shows the user's latest turn, unless that turn is hidden. Earlier versions
/// did not guarantee that requests show this turn, and did not record a policy, so requests without a policy are
/// skipped.
async fn examine_requests(
    engine: &Engine,
    info: &StreamInfo,
    base: Seq,
    diagnosis: &mut Diagnosis,
) -> Result<(), Error> {
    let latest = marked(engine, &info.id, Marked::EachLane("context.built"), info.head, EVERY);
    for row in engine.ask(latest, Answer::events).await?.iter().filter(|row| row.seq > base) {
        let Ok(event) = decode_event(engine, &info.id, row) else { continue };
        let Some(Fact::ContextBuilt(built)) = event.fact else { continue };
        let Some(trim) = built.policy.is_some().then_some(&built.plan.trim) else { continue };
        let turn = marked(engine, &info.id, Marked::UserTurn, built.plan.through, 1);
        let turn = engine.ask(turn, Answer::events).await?;
        let is_shown =
            |seq: Seq| seq >= trim.drop_before || trim.keep.contains(&seq) || trim.hold.contains(&seq);
        if let Some(turn) = turn.iter().find(|turn| turn.payload.is_some() && !is_shown(turn.seq)) {
            if is_hidden(engine, info, turn.seq, built.plan.through).await? {
                continue;
            }
            let (at, lane) = (row.seq, &built.lane);
            let detail = format!("{} position {at}: lane {lane} leaves out position {}", info.id, turn.seq);
            diagnosis.found("requests show the user's newest turn", detail);
        }
    }
    Ok(())
}

/// Returns whether an entry is hidden as of a position.
async fn is_hidden(engine: &Engine, info: &StreamInfo, seq: Seq, as_of: Seq) -> Result<bool, Error> {
    let hides = marked(engine, &info.id, Marked::Kind("content.hidden"), as_of, EVERY);
    for row in engine.ask(hides, Answer::events).await? {
        let Ok(event) = decode_event(engine, &info.id, &row) else { continue };
        match event.fact {
            Some(Fact::ContentHidden(mark)) if mark.target == seq => return Ok(mark.hidden),
            _ => {}
        }
    }
    Ok(false)
}

/// Returns the position of a message that still has content although an erasure receipt covers it.
async fn find_survivor(
    engine: &Engine,
    info: &StreamInfo,
    erased: &ContentErased,
) -> Result<Option<Seq>, Error> {
    let query = Query::Events {
        tenant: engine.tenant.no,
        stream: info.id.clone(),
        from: erased.from_seq,
        to: erased.to_seq,
        order: ReadOrder::Ascending,
        limit: u64::from(u32::MAX),
        text: Bytes(i64::MAX.unsigned_abs()),
        counts: false,
        filter: EventFilter::default(),
    };
    let rows = engine.ask(query, Answer::events).await?;
    Ok(rows.iter().find(|row| is_document(&row.kind) && row.payload.is_some()).map(|row| row.seq))
}
