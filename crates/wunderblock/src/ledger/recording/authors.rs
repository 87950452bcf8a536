//! Settles the authors of events that have none yet: those of an upgraded ledger, and those whose derived data was
//! deleted. New events get theirs when they are recorded.
//!
//! ```text
//! unsettled rows ─► raw records ─ stated_author ─► statement ─ settle ─► author and spans ─► Write::Authors
//! ```

use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use crate::ledger::reading::originals::{copy_source, source_info};
use crate::ledger::reading::query_batch::NEWEST;
use crate::ledger::reading::stored::{decode_event, read_texts, rows_at};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use wunderblock_core::author::{self, Author, Authors};
use wunderblock_core::event::{Event, EventSource, Fact};
use wunderblock_core::id::Handle;
use wunderblock_core::message::{Body, Message, Role};
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_store::{
    Answer, Commit, EventFilter, HandleTarget, Query, ReadOrder, SourceInfo, StoreError, StreamInfo,
    StreamKind, StreamNo, Write,
};
use wunderblock_wire::transcript::{Format, stated_author};

/// Maximum number of events settled in one transaction.
const BATCH: u64 = 512;

/// Returns the author that a raw record states. The parent of a sub-agent writes the prompts that state nothing.
pub(crate) fn stated(format: Format, raw: &[u8], is_delegates: bool) -> Option<Author> {
    stated_author(format, raw).or_else(|| is_delegates.then_some(Author::Peer))
}

/// Returns whether a session, or the one that it continues, is that of a sub-agent.
pub(crate) async fn is_delegates(engine: &Engine, info: &StreamInfo) -> Result<bool, Error> {
    let mut next = Some(info.clone());
    while let Some(info) = next {
        if info.parent.is_some() {
            return Ok(true);
        }
        next = match &info.fork {
            Some((parent, _)) => engine.info(parent).await?,
            None => None,
        };
    }
    Ok(false)
}

/// Returns the message with which the work of a session begins: the person's first one, or else another agent's,
/// as in the session of a delegate. `None` if neither asked for something.
///
/// # Errors
/// Fails if the session cannot be read.
pub fn first_request<'a>(engine: &'a Engine, info: &'a StreamInfo) -> BoxFuture<'a, Option<Event>> {
    Box::pin(async move {
        let Some(first) = info.first_user else { return Ok(None) };
        for author in [Author::Person, Author::Peer] {
            // The first turn is usually the person's, and reading it is faster than searching.
            for (from, to) in [(first, first), (Seq::START, NEWEST)] {
                if let Some(found) = engine.first_by(info, author, from, to).await? {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    })
}

impl Engine {
    async fn first_by(
        &self,
        info: &StreamInfo,
        author: Author,
        from: Seq,
        to: Seq,
    ) -> Result<Option<Event>, Error> {
        let filter = EventFilter { role: Some(Role::User), author: Some(author), ..EventFilter::default() };
        let query = Query::Events {
            tenant: self.tenant.no,
            stream: info.id.clone(),
            from,
            to,
            order: ReadOrder::Ascending,
            limit: 1,
            text: Bytes(1 << 20),
            counts: false,
            filter,
        };
        let rows = self.ask(query, Answer::events).await?;
        let found = rows.first().map(|row| decode_event(self, &info.id, row));
        found.transpose().map_err(Error::from)
    }
}

/// Settles the authors of all events of the tenant that have none.
pub(crate) async fn settle_authors(engine: &Engine) -> Result<(), Error> {
    let mut sources = HashMap::new();
    loop {
        let query = Query::Unsettled { tenant: engine.tenant.no, of: StreamKind::Session, limit: BATCH };
        let mut places: BTreeMap<StreamNo, Vec<Seq>> = BTreeMap::new();
        for (stream, seq) in engine.ask(query, Answer::holders).await? {
            places.entry(stream).or_default().push(seq);
        }
        let mut writes = Vec::new();
        let epoch = engine.ask(Query::Epoch { tenant: engine.tenant.no }, Answer::epoch).await?;
        for (no, seqs) in places {
            let query = Query::StreamsByNo { tenant: engine.tenant.no, streams: vec![no] };
            let Some(info) = engine.ask(query, Answer::streams).await?.pop() else { continue };
            let authors = authors_of(engine, &info, seqs, &mut sources).await?;
            writes.push(Write::Authors { tenant: engine.tenant.no, stream: no, authors });
        }
        if writes.is_empty() {
            return Ok(());
        }
        match engine.storage.commit(Commit::derived(epoch, writes)).await {
            // What was read may be erased by now, so it is read again.
            Err(StoreError::EpochMoved { .. }) => sources.clear(),
            done => drop(done?),
        }
    }
}

/// Sources by the handle and revision that events name.
type Sources = HashMap<(Handle, u32), Option<SourceInfo>>;

async fn authors_of(
    engine: &Engine,
    info: &StreamInfo,
    seqs: Vec<Seq>,
    sources: &mut Sources,
) -> Result<Vec<(Seq, Authors)>, Error> {
    let is_delegates = is_delegates(engine, info).await?;
    let rows = rows_at(engine, &info.id, seqs.clone()).await?;
    // A record that cannot be read is not taken for the person's.
    let unknown = || Authors { by: Author::Harness, spans: Vec::new() };
    let mut found: BTreeMap<Seq, Authors> = seqs.into_iter().map(|seq| (seq, unknown())).collect();
    for row in rows {
        let Ok(event) = decode_event(engine, &info.id, &row) else { continue };
        let Some(Fact::MessageAppended(said)) = event.fact else { continue };
        let stated = match &event.source {
            EventSource::Import { source, revision, offset, len } => {
                let from = source_of(engine, *source, *revision, sources).await?;
                raw_statement(engine, from, *offset, *len, is_delegates).await?
            }
            EventSource::Live | EventSource::Engine => None,
        };
        let mut said = with_texts(engine, said.message).await?;
        author::settle(&mut said, stated);
        found.extend(said.authors.map(|authors| (row.seq, authors)));
    }
    Ok(found.into_iter().collect())
}

/// Returns the message with its texts inline, as far as they can be read.
async fn with_texts(engine: &Engine, mut said: Message) -> Result<Message, Error> {
    let handles: Vec<Handle> =
        said.parts.iter().flat_map(|part| part.bodies()).filter_map(Body::handle).collect();
    // A damaged body is reported when it is read.
    let Ok(texts) = read_texts(engine, handles).await else { return Ok(said) };
    for body in said.parts.iter_mut().flat_map(|part| part.bodies_mut()) {
        if let Some(text) = body.handle().and_then(|handle| texts.text(handle)) {
            *body = Body::Inline(text.to_owned());
        }
    }
    Ok(said)
}

async fn source_of<'s>(
    engine: &Engine,
    handle: Handle,
    revision: u32,
    sources: &'s mut Sources,
) -> Result<Option<&'s SourceInfo>, Error> {
    let info = match sources.entry((handle, revision)) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(place) => {
            let query = Query::Resolve { tenant: engine.tenant.no, of: StreamKind::Session, handle };
            place.insert(match engine.ask(query, Answer::named).await? {
                Some(HandleTarget::Source(no, _)) => source_info(engine, no, Some(revision)).await.ok(),
                _ => None,
            })
        }
    };
    Ok(info.as_ref())
}

async fn raw_statement(
    engine: &Engine,
    source: Option<&SourceInfo>,
    offset: u64,
    len: u64,
    is_delegates: bool,
) -> Result<Option<Author>, Error> {
    let mut raw = Vec::new();
    let format = source.and_then(|info| Some((info, Format::from_name(&info.revision.format)?)));
    let Some((info, format)) = format else { return Ok(is_delegates.then_some(Author::Peer)) };
    // Bytes that cannot be read state nothing, and `doctor` reports them.
    let _ = copy_source(engine, info, offset, offset.saturating_add(len), &mut raw).await;
    Ok(stated(format, &raw, is_delegates))
}
