//! The way in: events made ready and appended. Never calls a model, never waits for anything but the disk.

use crate::door;
use crate::engine::{Engine, random, unexpected};
use crate::error::{Error, Unappendable};
use crate::gauge::count_body;
use crate::incoming::IntoEvents;
use crate::limits::COUNT_AT_ONCE;
use crate::parallel;
use crate::session::Session;
use crate::store::codec::{self, name_handle, pack_event};
use crate::store::{Appended, BodyCount, Opening, PackedEvent, SourceNo, Write, Written};
use wunderblock_core::event::{EventSource, Fact, NewEvent, SessionForked, SessionOpened};
use wunderblock_core::id::{EventId, Handle, Scope, StreamId};
use wunderblock_core::message::{Body, Part};
use wunderblock_core::units::{Bytes, Millis, Seq};

/// Makes salts for a batch: one random seed, expanded.
pub(crate) struct Salts(blake3::OutputReader);

impl Salts {
    pub(crate) fn new() -> Result<Self, Error> {
        let seed: [u8; 32] = random()?;
        Ok(Self(blake3::Hasher::new_keyed(&seed).finalize_xof()))
    }

    fn next(&mut self) -> [u8; 16] {
        let mut salt = [0; 16];
        self.0.fill(&mut salt);
        salt
    }
}

/// Fills in what is derived when an event is recorded: what each tool call needs to be run again.
pub(crate) fn normalise(fact: &mut Fact) {
    let Fact::MessageAppended(said) = fact else { return };
    for part in &mut said.message.parts {
        if let Part::ToolCall { name, input: Body::Inline(input), gist, .. } = part {
            *gist = wunderblock_wire::gist(name, input).map(String::into_boxed_str);
        }
    }
}

/// Events that one thread makes ready at a time.
const SHARE: usize = 64;

/// Makes events ready to be stored; many of them on all cores.
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

/// Makes events ready to be stored.
pub(crate) fn pack(key: &[u8; 32], events: Vec<NewEvent>) -> Result<Vec<PackedEvent>, Error> {
    let mut salts = Salts::new()?;
    let pack = |mut event: NewEvent| {
        normalise(&mut event.fact);
        pack_event(key, salts.next(), event).map_err(Error::from)
    };
    events.into_iter().map(pack).collect()
}

impl Engine {
    /// The handle of a session.
    pub(crate) fn stream_handle(&self, stream: &StreamId) -> Handle {
        name_handle(&self.tenant.key, "stream", stream.as_str())
    }

    /// The write that opens a session with its first event.
    pub(crate) fn opening(
        &self,
        stream: &StreamId,
        opened: SessionOpened,
        (at, source): (Millis, Option<(SourceNo, u32)>),
    ) -> Result<Vec<Write>, Error> {
        let scope = opened.scope.clone();
        let open = Write::Open {
            tenant: self.tenant.no,
            stream: stream.clone(),
            handle: self.stream_handle(stream),
            opening: Opening::New { parent: opened.parent.clone() },
            scope,
            at,
        };
        self.with_first(open, stream, Fact::SessionOpened(opened), (at, source))
    }

    /// The write that opens a session as a fork of another.
    pub(crate) fn forking(
        &self,
        stream: &StreamId,
        forked: SessionForked,
        (at, source, scope): (Millis, Option<(SourceNo, u32)>, Scope),
    ) -> Result<Vec<Write>, Error> {
        let open = Write::Open {
            tenant: self.tenant.no,
            stream: stream.clone(),
            handle: self.stream_handle(stream),
            opening: Opening::Fork { parent: forked.parent.clone(), at_seq: forked.at_seq },
            scope,
            at,
        };
        self.with_first(open, stream, Fact::SessionForked(forked), (at, source))
    }

    fn with_first(
        &self,
        open: Write,
        stream: &StreamId,
        fact: Fact,
        (at, from): (Millis, Option<(SourceNo, u32)>),
    ) -> Result<Vec<Write>, Error> {
        let source = if from.is_some() { EventSource::Engine } else { EventSource::Live };
        let id = EventId::new(format!("open:{}", blake3::hash(stream.as_str().as_bytes()).to_hex()))?;
        let events = pack(&self.tenant.key, vec![NewEvent { id, at, source, fact }])?;
        let append =
            Write::Append { tenant: self.tenant.no, stream: stream.clone(), expect_head: None, events };
        let mut writes = vec![open, append];
        if let Some((source, revision)) = from {
            writes.push(Write::Link { tenant: self.tenant.no, stream: stream.clone(), source, revision });
        }
        Ok(writes)
    }

    /// Appends events to a session; opens it if it is new. Answers, in order, where each stands.
    pub(crate) async fn append(
        &self,
        stream: &StreamId,
        expect_head: Option<Seq>,
        events: Vec<NewEvent>,
    ) -> Result<Vec<Appended>, Error> {
        let events = self.prepare(events)?.into_iter().collect::<Result<_, _>>()?;
        self.append_prepared(stream, expect_head, events).await
    }

    /// Makes events ready to be appended, many of them on all cores.
    pub(crate) fn prepare(&self, events: Vec<NewEvent>) -> Result<Vec<Result<ReadyEvent, Error>>, Error> {
        let key = &self.tenant.key;
        let counting = events.iter().map(text_of).sum::<Bytes>() <= COUNT_AT_ONCE;
        let work = |share: Vec<NewEvent>| {
            let mut salts = Salts::new()?;
            Ok(share.into_iter().map(|event| prepare(key, salts.next(), event, counting)).collect::<Vec<_>>())
        };
        Ok(parallel::map(shares(events), work)?.into_iter().flatten().collect())
    }

    /// Appends events that are ready; opens the session if it is new. Answers, in order, where each stands.
    pub(crate) async fn append_prepared(
        &self,
        stream: &StreamId,
        expect_head: Option<Seq>,
        prepared: Vec<ReadyEvent>,
    ) -> Result<Vec<Appended>, Error> {
        let mut writes = Vec::new();
        let mut opened = 0;
        if expect_head.is_none() && self.info(stream).await?.is_none() {
            let first = prepared.first();
            let at = first.map_or_else(|| self.now(), |first| first.event.at);
            let opening = first.and_then(|first| first.opens.clone());
            // The caller's own opening event is the first event; it keeps its id.
            let is_own = opening.is_some();
            writes.append(&mut self.opening(stream, opening.unwrap_or_default(), (at, None))?);
            if is_own {
                writes.truncate(1);
            } else {
                opened = 1;
            }
        }
        let (mut events, mut counts) = (Vec::with_capacity(prepared.len()), Vec::new());
        for mut one in prepared {
            counts.append(&mut one.counts);
            events.push(one.event);
        }
        writes.push(Write::Append { tenant: self.tenant.no, stream: stream.clone(), expect_head, events });
        if !counts.is_empty() {
            writes.push(Write::Counts { tenant: self.tenant.no, counts });
        }
        let written = self.storage.commit(writes).await?;
        let mut appended = written.into_iter().filter_map(|written| match written {
            Written::Appended(appended) => Some(appended),
            _ => None,
        });
        appended.nth(opened).ok_or_else(unexpected)
    }
}

impl Session {
    /// Appends a message, an event, or several of them, all or none, durable when this returns; opens the session if it is
    /// new.
    ///
    /// An event whose id is there already is a duplicate if its content is the same, and a conflict if it is not.
    ///
    /// # Errors
    /// On a conflict, when the ledger cannot be written, and for events that callers may not append: of kinds that only
    /// the engine writes ([`Fact::OPEN_KINDS`](wunderblock_core::event::Fact::OPEN_KINDS) lists the others), a second
    /// opening, a source that is not live.
    pub fn append<E: IntoEvents>(
        &self,
        what: E,
    ) -> impl Future<Output = Result<Vec<Appended>, Error>> + Send + use<'_, E> {
        let events = what.into_events(&self.engine.config.stamp());
        async move {
            let (events, session) = (events?, self.clone());
            let ready = if events.iter().map(text_of).sum::<Bytes>() <= COUNT_AT_ONCE {
                ReadyEvent::prepare(self, events)
            } else {
                self.engine.workers.run(move || ReadyEvent::prepare(&session, events)).await?
            };
            ReadyEvent::append(self, ready?.into_iter().collect::<Result<_, _>>()?).await
        }
    }

    /// Appends what a line of JSON says: an event as an export has it, or a message in the form of a provider's API.
    ///
    /// # Errors
    /// When it says neither; otherwise as [`Session::append`].
    pub async fn append_json(&self, line: &[u8]) -> Result<Vec<Appended>, Error> {
        self.append(self.engine.config.stamp().line(line)?).await
    }

    /// Checks that an event that opens a session is, or will be, its first.
    async fn admit_openings(&self, events: &[ReadyEvent]) -> Result<(), Error> {
        for event in events.iter().filter(|event| event.opens()) {
            if !self.is_first(event.id(), events).await? {
                let (id, why) = (event.id().clone(), Unappendable::SecondOpening);
                return Err(Error::Unappendable { id, why });
            }
        }
        Ok(())
    }

    async fn is_first(&self, id: &EventId, events: &[ReadyEvent]) -> Result<bool, Error> {
        if self.engine.info(&self.id).await?.is_none() {
            return Ok(events.first().is_some_and(|first| first.id() == id));
        }
        let first = self.events(Seq::START.next(), Seq::START.next(), (1, Bytes(1 << 20))).await?;
        Ok(first.first().is_some_and(|first| first.id == *id))
    }
}

/// An event made ready to be appended: hashed and compressed, which is most of the work of it.
#[derive(Clone, Debug)]
pub struct ReadyEvent {
    event: PackedEvent,
    opens: Option<SessionOpened>,
    counts: Vec<(Handle, BodyCount)>,
}

impl ReadyEvent {
    /// Makes events ready to be appended, many of them on all cores; what callers may not append, or cannot be recorded,
    /// is an error in its place.
    ///
    /// With [`ReadyEvent::append`] it is what [`Session::append`] does, in two steps: the next events are made ready while
    /// the last ones are on the way to the disk.
    ///
    /// # Errors
    /// When the system gives no random bytes, or no thread.
    pub fn prepare(session: &Session, events: Vec<NewEvent>) -> Result<Vec<Result<Self, Error>>, Error> {
        let admitted: Vec<Result<(), Error>> = events.iter().map(door::admit).collect();
        let ready = session.engine.prepare(events)?;
        Ok(admitted.into_iter().zip(ready).map(|(admitted, ready)| admitted.and(ready)).collect())
    }

    /// Appends events that are ready, as [`Session::append`] does.
    ///
    /// # Errors
    /// On a conflict, on a second opening, or when the ledger cannot be written.
    pub async fn append(session: &Session, events: Vec<Self>) -> Result<Vec<Appended>, Error> {
        session.admit_openings(&events).await?;
        session.engine.append_prepared(&session.id, None, events).await
    }

    /// The event's id.
    #[must_use]
    pub fn id(&self) -> &EventId {
        &self.event.id
    }

    /// Whether it opens a session.
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

/// Counts of the bodies that will be blobs.
fn counted(key: &[u8; 32], event: &NewEvent) -> Vec<(Handle, BodyCount)> {
    let bodies = match &event.fact {
        Fact::MessageAppended(said) => {
            let parts = said.message.parts.iter().flat_map(Part::leaves);
            parts.filter(|(part, _)| !part.is_data()).map(|(_, body)| body).collect()
        }
        fact => fact.bodies(),
    };
    bodies
        .into_iter()
        .filter_map(Body::inline)
        .filter(|text| text.len() >= codec::INLINE_MAX)
        .map(|text| (codec::handle(&codec::body_hash(key, text.as_bytes())), count_body(text)))
        .collect()
}
