//! Reads events and texts of a ledger as they were recorded.

use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::texts::Texts;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::message::Body;
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_store::codec::CodecError;
use wunderblock_store::{Answer, EventFilter, Query, ReadOrder, StoredEvent, StreamInfo, codec};

pub(crate) fn decode_event(
    engine: &Engine,
    stream: &StreamId,
    row: &StoredEvent,
) -> Result<Event, CodecError> {
    codec::event(&engine.config.tenant, stream, row)
}

/// Loads the texts of bodies by their handles.
pub(crate) async fn read_texts(
    engine: &Engine,
    handles: impl IntoIterator<Item = Handle>,
) -> Result<Texts, Error> {
    let mut texts = Texts::default();
    read_more_texts(engine, &mut texts, handles).await?;
    Ok(texts)
}

/// Loads the texts that are not loaded yet.
pub(crate) async fn read_more_texts(
    engine: &Engine,
    texts: &mut Texts,
    handles: impl IntoIterator<Item = Handle>,
) -> Result<(), Error> {
    let handles = texts.missing(handles);
    if handles.is_empty() {
        return Ok(());
    }
    let blobs = engine.ask(Query::Blobs { tenant: engine.tenant.no, handles }, Answer::blobs).await?;
    for blob in blobs.into_iter().flatten() {
        texts.insert(blob.handle, codec::unpack_body(&engine.tenant.key, &blob)?);
    }
    Ok(())
}

pub(crate) async fn read_page(
    engine: &Engine,
    info: &StreamInfo,
    from: Seq,
    limit: u64,
    text: Bytes,
) -> Result<Vec<wunderblock_store::StoredEvent>, Error> {
    let query = Query::Events {
        tenant: engine.tenant.no,
        stream: info.id.clone(),
        from,
        to: info.head,
        order: ReadOrder::Ascending,
        limit,
        text,
        counts: false,
        filter: EventFilter::default(),
    };
    engine.ask(query, Answer::events).await
}

/// Returns the stored events of a stream at positions, without those that do not exist.
pub(crate) async fn rows_at(
    engine: &Engine,
    stream: &StreamId,
    seqs: Vec<Seq>,
) -> Result<Vec<wunderblock_store::StoredEvent>, Error> {
    let (tenant, stream, filter) = (engine.tenant.no, stream.clone(), EventFilter::default());
    engine.ask(Query::At { tenant, stream, seqs, filter }, Answer::events).await
}

/// Replaces the handles in events with their texts.
pub(crate) async fn with_whole_texts(engine: &Engine, mut events: Vec<Event>) -> Result<Vec<Event>, Error> {
    let handles = events.iter().filter_map(|event| event.fact.as_ref()).flat_map(Fact::bodies);
    let texts = read_texts(engine, handles.filter_map(Body::handle).collect::<Vec<_>>()).await?;
    for body in events.iter_mut().filter_map(|event| event.fact.as_mut()).flat_map(Fact::bodies_mut) {
        if let Some(handle) = body.handle() {
            let text = texts.text(handle).ok_or_else(|| Error::Erased(handle.to_string()))?;
            *body = Body::Inline(text.to_owned());
        }
    }
    Ok(events)
}
