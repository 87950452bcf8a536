//! Prepares events and appends them. This module never calls a model, and waits for nothing except the disk.

use crate::base::error::{Error, Unappendable};
use crate::base::future::BoxFuture;
use crate::base::parallel;
use crate::ledger::engine::{Engine, random, unexpected};
use crate::ledger::incoming::IntoEvents;
use crate::ledger::project::opening_scope;
use crate::ledger::reading::query_batch::QueryBatch;
use crate::ledger::recording::door;
use crate::ledger::session::Session;
use crate::limits;
use crate::limits::COUNT_AT_ONCE;
use crate::rules::token_costs::count_body;
use wunderblock_core::event::{EventSource, Fact, NewEvent, SessionForked, SessionOpened};
use wunderblock_core::id::{EventId, Handle, Scope, StreamId};
use wunderblock_core::message::{Body, Part};
use wunderblock_core::units::{Bytes, Millis, Seq};
use wunderblock_store::codec::{self, name_handle, pack_event};
use wunderblock_store::{
    Answer, Appended, Basis, BodyCount, Commit, Epoch, Opening, PackedEvent, Query, SourceNo, StoreError,
    StreamKind, Write, Written,
};

/// Generator of salts for a batch, expanded from one random seed.
pub(crate) struct Salts(blake3::OutputReader);

impl Salts {
    pub(crate) fn new() -> Result<Self, Error> {
        let seed: [u8; 32] = random()?;
        Ok(Self(blake3::Hasher::new_keyed(&seed).finalize_xof()))
    }

    pub(crate) fn next(&mut self) -> [u8; 16] {
        let mut salt = [0; 16];
        self.0.fill(&mut salt);
        salt
    }
}

/// Fills in derived data of an event: the gist of each tool call, which states what is needed to run the call again.
pub(crate) fn normalise(fact: &mut Fact) {
    let Fact::MessageAppended(said) = fact else { return };
    for part in &mut said.message.parts {
        if let Part::ToolCall { name, input: Body::Inline(input), gist, .. } = part {
            *gist = wunderblock_wire::gist(name, input).map(String::into_boxed_str);
        }
    }
}

/// Number of events that one thread prepares at a time.
const SHARE: usize = 64;

/// Prepares events for storage, in parallel if there are many.
pub(crate) fn pack_all(key: &[u8; 32], events: Vec<NewEvent>) -> Result<Vec<PackedEvent>, Error> {
    Ok(parallel::map(shares(events), |share| pack(key, share))?.into_iter().flatten().collect())
}

fn shares(events: Vec<NewEvent>) -> Vec<Vec<NewEvent>> {
    let mut shares = Vec::with_capacity(events.len() / SHARE + 1);
    let mut events = events.into_iter();
    while events.len() > 0 {
        shares.push(events.by_ref().take(SHARE).collect());
    }
    shares
}

/// Prepares events for storage.
pub(crate) fn pack(key: &[u8; 32], events: Vec<NewEvent>) -> Result<Vec<PackedEvent>, Error> {
    let mut salts = Salts::new()?;
    let pack = |mut event: NewEvent| {
        normalise(&mut event.fact);
        pack_event(key, salts.next(), event).map_err(Error::from)
    };
    events.into_iter().map(pack).collect()
}

impl Engine {
    /// Returns the handle of a session.
    pub(crate) fn stream_handle(&self, stream: &StreamId) -> Handle {
        name_handle(&self.tenant.key, "stream", stream.as_str())
    }
}

/// Opening of a stream.
#[derive(Clone, Copy)]
pub(crate) struct StreamStart<'a> {
    /// Name of the stream.
    pub(crate) stream: &'a StreamId,
    /// Time of its first event.
    pub(crate) at: Millis,
    /// File that the stream is read from, and the revision of the file.
    pub(crate) from: Option<(SourceNo, u32)>,
}

/// Returns the writes that open a session with its first event. The event keeps the scope that was stated; the scope of
/// the session is that of [`opening_scope`].
pub(crate) fn opening_writes(
    engine: &Engine,
    begins: StreamStart<'_>,
    opened: SessionOpened,
    scope: Scope,
) -> Result<Vec<Write>, Error> {
    let open = Write::Open {
        tenant: engine.tenant.no,
        kind: StreamKind::Session,
        stream: begins.stream.clone(),
        handle: engine.stream_handle(begins.stream),
        opening: Opening::New { parent: opened.parent.clone() },
        scope,
        at: begins.at,
    };
    with_first_event(engine, begins, open, Fact::SessionOpened(opened))
}

/// Returns the writes that open a session as a fork of another session.
pub(crate) fn forking_writes(
    engine: &Engine,
    begins: StreamStart<'_>,
    forked: SessionForked,
    scope: Scope,
) -> Result<Vec<Write>, Error> {
    let open = Write::Open {
        tenant: engine.tenant.no,
        kind: StreamKind::Session,
        stream: begins.stream.clone(),
        handle: engine.stream_handle(begins.stream),
        opening: Opening::Fork { parent: forked.parent.clone(), at_seq: forked.at_seq },
        scope,
        at: begins.at,
    };
    with_first_event(engine, begins, open, Fact::SessionForked(forked))
}

fn with_first_event(
    engine: &Engine,
    StreamStart { stream, at, from }: StreamStart<'_>,
    open: Write,
    fact: Fact,
) -> Result<Vec<Write>, Error> {
    let source = if from.is_some() { EventSource::Engine } else { EventSource::Live };
    let id = EventId::new(format!("open:{}", blake3::hash(stream.as_str().as_bytes()).to_hex()))?;
    let events = pack(&engine.tenant.key, vec![NewEvent { id, at, source, fact }])?;
    let append =
        Write::Append { tenant: engine.tenant.no, stream: stream.clone(), expect_head: None, events };
    let mut writes = vec![open, append];
    if let Some((source, revision)) = from {
        writes.push(Write::Link { tenant: engine.tenant.no, stream: stream.clone(), source, revision });
    }
    Ok(writes)
}

/// What the engine made an event from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MadeFrom {
    /// A caller's own words, or numbers: nothing that can be erased.
    Nothing,
    /// The positions of the session from the first through the last, as of an epoch.
    Positions(u64, Seq, Seq),
    /// Any session of the tenant, as of an epoch.
    Tenant(u64),
}

impl MadeFrom {
    /// Returns the whole session through a position as of an epoch.
    pub(crate) const fn session(epoch: u64, through: Seq) -> Self {
        Self::Positions(epoch, Seq::START, through)
    }
}

/// Appends events of the engine to a session, and opens it if it is new. Returns, in order, the position of each event
/// and whether it was a duplicate.
///
/// # Errors
/// Fails with [`StoreError::EpochMoved`] if content from which the events were made was erased in the meantime.
pub(crate) async fn append_events(
    session: &Session,
    expect_head: Option<Seq>,
    events: Vec<NewEvent>,
    made: MadeFrom,
) -> Result<Vec<Appended>, Error> {
    let (engine, stream) = (&session.engine, &session.id);
    let tenant = engine.tenant.no;
    let (no, from, to) = match made {
        MadeFrom::Positions(no, from, to) => (no, from, to),
        MadeFrom::Nothing | MadeFrom::Tenant(_) => {
            let ready = prepare_events(engine, events)?.into_iter().collect::<Result<_, _>>()?;
            let basis = match made {
                MadeFrom::Tenant(no) => Basis::Derived(Epoch { tenant, no }),
                _ => Basis::Raw,
            };
            return append_prepared(engine, stream, expect_head, basis, ready).await;
        }
    };
    let since = Epoch { tenant, no };
    let mut epoch = since;
    for _ in 0..limits::COMMIT_RETRIES {
        let ready = prepare_events(engine, events.clone())?.into_iter().collect::<Result<_, _>>()?;
        match append_prepared(engine, stream, expect_head, Basis::Derived(epoch), ready).await {
            Err(Error::Store(error @ StoreError::EpochMoved { .. })) => {
                let mut batch = QueryBatch::default();
                let now = batch.ask(Query::Epoch { tenant: engine.tenant.no }, Answer::epoch);
                let lost = batch.ask(Query::Lost { since, stream: stream.clone(), from, to }, Answer::lost);
                let mut answers = engine.ask_all(batch).await?;
                if answers.take(lost)? {
                    return Err(error.into());
                }
                epoch = answers.take(now)?;
            }
            done => return done,
        }
    }
    Err(Error::Restless)
}

/// Prepares events to be appended, in parallel if there are many. Each event has its own result.
pub(crate) fn prepare_events(
    engine: &Engine,
    events: Vec<NewEvent>,
) -> Result<Vec<Result<ReadyEvent, Error>>, Error> {
    let key = &engine.tenant.key;
    let counting = events.iter().map(text_of).sum::<Bytes>() <= COUNT_AT_ONCE;
    let work = |share: Vec<NewEvent>| {
        let mut salts = Salts::new()?;
        Ok(share.into_iter().map(|event| prepare(key, salts.next(), event, counting)).collect::<Vec<_>>())
    };
    Ok(parallel::map(shares(events), work)?.into_iter().flatten().collect())
}

/// Appends prepared events to a session, and opens it if it is new. Returns, in order, the position of each event and
/// whether it was a duplicate.
pub(crate) async fn append_prepared(
    engine: &Engine,
    stream: &StreamId,
    expect_head: Option<Seq>,
    basis: Basis,
    prepared: Vec<ReadyEvent>,
) -> Result<Vec<Appended>, Error> {
    let mut writes = Vec::new();
    let mut opened = 0;
    if expect_head.is_none() && engine.info(stream).await?.is_none() {
        let first = prepared.first();
        let at = first.map_or_else(|| engine.now(), |first| first.event.at);
        let opening = first.and_then(|first| first.opens.clone());
        let (stated, cwd) = (opening.clone().unwrap_or_default(), engine.config.cwd.as_deref());
        let (scope, corrects) = opening_scope(engine, &stated, cwd).await?;
        // The caller's own opening event is already the first of the batch and keeps its id, so only the stream
        // itself is opened.
        let is_own = opening.is_some();
        writes.append(&mut opening_writes(engine, StreamStart { stream, at, from: None }, stated, scope)?);
        if is_own {
            writes.truncate(1);
        } else {
            opened = 1;
        }
        writes.extend(corrects);
    }
    let (mut events, mut counts) = (Vec::with_capacity(prepared.len()), Vec::new());
    for mut one in prepared {
        counts.append(&mut one.counts);
        events.push(one.event);
    }
    writes.push(Write::Append { tenant: engine.tenant.no, stream: stream.clone(), expect_head, events });
    if !counts.is_empty() {
        writes.push(Write::Counts { tenant: engine.tenant.no, counts });
    }
    let written = engine.storage.commit(Commit { basis, writes }).await?;
    let mut appended = written.into_iter().filter_map(|written| match written {
        Written::Appended(appended) => Some(appended),
        _ => None,
    });
    appended.nth(opened).ok_or_else(unexpected)
}

impl Session {
    /// Appends messages or events, one or several: either all of them are appended, or none. The events are durable
    /// when this function returns. Opens the session if it is new.
    ///
    /// An event whose id already exists is a duplicate if its content is the same, and a conflict otherwise.
    ///
    /// # Errors
    /// Fails on a conflict, if the ledger cannot be written, and for events that callers may not append: kinds that
    /// only the engine writes ([`Fact::OPEN_KINDS`](wunderblock_core::event::Fact::OPEN_KINDS) lists the others), a
    /// second opening, or a source that is not live.
    pub fn append(&self, what: impl IntoEvents) -> BoxFuture<'_, Vec<Appended>> {
        append_ready(self, what.into_events(&self.engine.config.stamp()))
    }

    /// Appends the event of a JSON line. The line is an event in the format of an export, or a message in the format
    /// of a provider's API.
    ///
    /// # Errors
    /// Fails if the line is neither an event nor a message, and otherwise in the same cases as [`Session::append`].
    pub fn append_json<'a>(&'a self, line: &'a [u8]) -> BoxFuture<'a, Vec<Appended>> {
        Box::pin(async move { self.append(self.engine.config.stamp().line(line)?).await })
    }
}

fn append_ready(session: &Session, events: Result<Vec<NewEvent>, Error>) -> BoxFuture<'_, Vec<Appended>> {
    Box::pin(async move {
        let (events, own) = (events?, session.clone());
        // Preparing a large batch would block the polling thread, so a worker thread prepares it.
        let ready = if events.iter().map(text_of).sum::<Bytes>() <= COUNT_AT_ONCE {
            ReadyEvent::prepare(session, events)
        } else {
            session.engine.workers.run(move || ReadyEvent::prepare(&own, events)).await?
        };
        ReadyEvent::append(session, ready?.into_iter().collect::<Result<_, _>>()?).await
    })
}

/// Checks that an opening event is, or will be, the first event of its session.
async fn admit_openings(session: &Session, events: &[ReadyEvent]) -> Result<(), Error> {
    for event in events.iter().filter(|event| event.opens()) {
        if !is_first_event(session, event.id(), events).await? {
            let (id, why) = (event.id().clone(), Unappendable::SecondOpening);
            return Err(Error::Unappendable { id, why });
        }
    }
    Ok(())
}

async fn is_first_event(session: &Session, id: &EventId, events: &[ReadyEvent]) -> Result<bool, Error> {
    if session.engine.info(&session.id).await?.is_none() {
        return Ok(events.first().is_some_and(|first| first.id() == id));
    }
    let first = session.events(Seq::START.next(), Seq::START.next(), 1, Bytes(1 << 20)).await?;
    Ok(first.first().is_some_and(|first| first.id == *id))
}

/// Event prepared to be appended: hashed and compressed, which is most of the work.
#[derive(Clone, Debug)]
pub struct ReadyEvent {
    event: PackedEvent,
    opens: Option<SessionOpened>,
    counts: Vec<(Handle, BodyCount)>,
}

impl ReadyEvent {
    /// Prepares events to be appended, in parallel if there are many. An event that callers may not append, or that
    /// cannot be recorded, gets an error in its place.
    ///
    /// Together with [`ReadyEvent::append`], this function does the work of [`Session::append`] in two steps, so that
    /// the next events can be prepared while the previous ones are being written to disk.
    ///
    /// # Errors
    /// Fails if the operating system provides no random bytes or no thread.
    pub fn prepare(session: &Session, events: Vec<NewEvent>) -> Result<Vec<Result<Self, Error>>, Error> {
        let admitted: Vec<Result<(), Error>> = events.iter().map(door::admit).collect();
        let ready = prepare_events(&session.engine, events)?;
        Ok(admitted.into_iter().zip(ready).map(|(admitted, ready)| admitted.and(ready)).collect())
    }

    /// Appends prepared events, as [`Session::append`] does.
    ///
    /// # Errors
    /// Fails on a conflict, on a second opening, or if the ledger cannot be written.
    pub fn append<'a>(session: &'a Session, events: Vec<Self>) -> BoxFuture<'a, Vec<Appended>> {
        Box::pin(async move {
            admit_openings(session, &events).await?;
            append_prepared(&session.engine, &session.id, None, Basis::Raw, events).await
        })
    }

    /// Returns the id of the event.
    #[must_use]
    pub fn id(&self) -> &EventId {
        &self.event.id
    }

    /// Returns whether the event opens a session.
    fn opens(&self) -> bool {
        self.opens.is_some()
    }
}

fn prepare(key: &[u8; 32], salt: [u8; 16], mut event: NewEvent, counting: bool) -> Result<ReadyEvent, Error> {
    let counts = if counting { counted(key, &event) } else { Vec::new() };
    let opens = match &event.fact {
        Fact::SessionOpened(opened) => Some(opened.clone()),
        _ => None,
    };
    normalise(&mut event.fact);
    Ok(ReadyEvent { event: pack_event(key, salt, event)?, opens, counts })
}

fn text_of(event: &NewEvent) -> Bytes {
    event.fact.bodies().into_iter().map(Body::bytes).sum()
}

/// Returns the bodies of a fact that are counted: of a message, all but the data of media.
pub(crate) fn counted_bodies(fact: &Fact) -> Vec<&Body> {
    match fact {
        Fact::MessageAppended(said) => {
            let leaves = said.message.parts.iter().flat_map(Part::leaves);
            leaves.filter(|(part, _)| !part.is_data()).map(|(_, body)| body).collect()
        }
        other => other.readable_bodies(),
    }
}

/// Counts the tokens of the bodies that will be stored as blobs.
fn counted(key: &[u8; 32], event: &NewEvent) -> Vec<(Handle, BodyCount)> {
    counted_bodies(&event.fact)
        .into_iter()
        .filter_map(Body::inline)
        .filter(|text| text.len() >= codec::INLINE_MAX)
        .map(|text| (codec::handle(&codec::body_hash(key, text.as_bytes())), count_body(text)))
        .collect()
}

/// Creates an event that the engine writes at a position. The event's id is made up of its kind and position, so the
/// event cannot be recorded twice.
pub(crate) fn engine_event(session: &Session, at: Seq, fact: Fact) -> Result<NewEvent, Error> {
    let id = EventId::new(format!("{}@{at}", fact.kind()))?;
    Ok(NewEvent { id, at: session.engine.now(), source: EventSource::Engine, fact })
}

/// Returns the newest position of a session, and the number of the tenant's erasures in the same snapshot.
pub(crate) async fn standing(session: &Session) -> Result<(Seq, u64), Error> {
    let (tenant, stream) = (session.engine.tenant.no, session.id.clone());
    let mut batch = QueryBatch::default();
    let info = batch.ask(Query::Stream { tenant, of: StreamKind::Session, stream }, Answer::stream);
    let epoch = batch.ask(Query::Epoch { tenant }, Answer::epoch);
    let mut answers = session.engine.ask_all(batch).await?;
    let info = answers.take(info)?.ok_or_else(|| Error::NoSession(session.id.to_string()))?;
    Ok((info.head, answers.take(epoch)?.no))
}

/// Appends one fact of the engine after the current head, and retries if the head moves.
pub(crate) async fn append_fact(session: &Session, fact: Fact, made: MadeFrom) -> Result<Seq, Error> {
    for _ in 0..limits::BUILD_RETRIES {
        let head = session.info().await?.head;
        let event = engine_event(session, head.next(), fact.clone())?;
        match append_events(session, Some(head), vec![event], made).await {
            Ok(_) => return Ok(head.next()),
            Err(Error::Store(StoreError::HeadMoved { .. })) => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::Restless)
}
