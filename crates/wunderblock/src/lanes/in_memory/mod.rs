//! A lane held in memory, without a ledger: for a proxy that stores nothing, a sub-agent for one task, or a test.
//!
//! The same builds drive this lane and the lanes of a ledger, so its requests are identical to theirs, byte for byte.
//! Content that the lane leaves out can be read by handle while the lane exists, but nothing outlives the lane. The
//! lane has no index, so a build's query finds nothing.

pub(crate) mod lane;
mod named;
mod unasked;

use crate::base::error::Error;
use crate::base::parallel::Workers;
use crate::lanes::context::Built;
use crate::lanes::turn::turn;
use crate::ledger::engine::{Config, random};
use crate::ledger::incoming::IntoEvents;
use crate::ledger::reading::stored::read_texts;
use crate::ledger::recording::door::admit;
use crate::ledger::recording::record::normalise;
use crate::ledger::session::Session;
use crate::request::build::Build;
use crate::request::desk::{Desk, House};
use crate::request::input::options::ContextOptions;
use crate::rules::token_costs::Counts;
use crate::rules::tokens::Vocabulary;
use lane::Lane;
use std::collections::HashMap;
use std::sync::Arc;
use wunderblock_core::event::{Event, EventSource, Fact, NewEvent, SessionOpened};
use wunderblock_core::id::{EventId, HandlePrefix, LaneId, StreamId};
use wunderblock_core::message::{Body, Part};
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};
use wunderblock_store::{Appended, StoreError, TallyRow, codec};

/// A lane held in memory.
#[derive(Clone)]
pub struct MemoryLane {
    config: Config,
    stream: StreamId,
    key: [u8; 32],
    lane: Lane,
    counts: Arc<Counts>,
    workers: Arc<Workers>,
    /// Position and content hash of each event, by the caller's id.
    ids: HashMap<EventId, (Seq, [u8; 32])>,
}

impl std::fmt::Debug for MemoryLane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryLane").field("stream", &self.stream).finish_non_exhaustive()
    }
}

/// Copies a session with one of its lanes into memory. Changes to the copy do not affect the session.
///
/// # Errors
/// Fails if the session does not exist or cannot be read.
pub(crate) async fn lane_in_memory(session: &Session, lane: LaneId) -> Result<MemoryLane, Error> {
    let (config, stream, key) =
        (session.engine.config.clone(), session.id.clone(), session.engine.tenant.key);
    let mut memory = MemoryLane::with(config, stream, key, lane);
    let head = session.info().await?.head;
    let mut pages = session.pages(Seq::START, head);
    while let Some(events) = pages.next().await? {
        let bodies = events.iter().filter_map(|event| event.fact.as_ref()).flat_map(Fact::bodies);
        let texts = read_texts(&session.engine, bodies.filter_map(Body::handle).collect::<Vec<_>>()).await?;
        for (handle, text) in texts.iter() {
            memory.lane.learn(handle, text);
        }
        events.into_iter().for_each(|event| memory.hear(event));
    }
    Ok(memory)
}

impl MemoryLane {
    /// Creates an empty main lane of a session.
    ///
    /// # Errors
    /// Fails if the operating system provides no random bytes for the lane's handles.
    pub fn new(config: Config, stream: StreamId) -> Result<Self, Error> {
        Ok(Self::with(config, stream, random()?, LaneId::main()))
    }

    fn with(config: Config, stream: StreamId, key: [u8; 32], lane: LaneId) -> Self {
        let lane = Lane::new(lane, Arc::default());
        let (counts, workers) = (Arc::default(), Arc::default());
        Self { config, stream, key, lane, counts, workers, ids: HashMap::new() }
    }

    /// Returns the events, oldest first. Bodies of [`codec::INLINE_MAX`] bytes or more are handles.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.lane.events
    }

    /// Returns the text of a handle that a request names, in full or by its first digits. `None` if no text or more
    /// than one text matches.
    #[must_use]
    pub fn read(&self, named: impl Into<HandlePrefix>) -> Option<&str> {
        self.lane.named(named.into()).map(|text| &**text)
    }

    /// Appends messages or events, one or several: either all of them are appended, or none. An event whose id
    /// already exists is a duplicate if its content is the same.
    ///
    /// # Errors
    /// Fails on a conflict, and for events that callers may not append; see [`Session::append`].
    pub fn append(&mut self, what: impl IntoEvents) -> Result<Vec<Appended>, Error> {
        let events = what.into_events(&self.config.stamp())?;
        let mut ready = Vec::with_capacity(events.len());
        let mut ids: HashMap<EventId, (Seq, [u8; 32])> = HashMap::new();
        for event in events {
            admit(&event)?;
            let content = codec::content_hash(&event.fact)?;
            let seq = Seq(self.lane.head().0 + 1 + ids.len() as u64);
            let before = self.ids.get(&event.id).or_else(|| ids.get(&event.id));
            if let Some((seq, _)) = before.filter(|(_, before)| *before != content) {
                return Err(Error::Store(StoreError::Conflict { seq: *seq, id: event.id }));
            }
            ids.insert(event.id.clone(), (seq, content));
            ready.push((event, content));
        }
        if self.events().is_empty()
            && let Some((first, _)) = ready.first().filter(|(first, _)| !is_opening(&first.fact))
        {
            let opening = self.opening(first.at)?;
            self.take(opening, None);
        }
        Ok(ready.into_iter().map(|(event, content)| self.take(event, Some(content))).collect())
    }

    fn opening(&self, at: Millis) -> Result<NewEvent, Error> {
        let name = blake3::hash(self.stream.as_str().as_bytes()).to_hex();
        let fact = Fact::SessionOpened(SessionOpened::default());
        Ok(NewEvent { id: EventId::new(format!("open:{name}"))?, at, source: EventSource::Live, fact })
    }

    /// Adds an event that passed the checks, unless it is a duplicate.
    fn take(&mut self, event: NewEvent, content: Option<[u8; 32]>) -> Appended {
        if let Some((seq, _)) = self.ids.get(&event.id) {
            return Appended::known(*seq, false);
        }
        let NewEvent { id, at, source, mut fact } = event;
        normalise(&mut fact);
        codec::settle(&mut fact);
        let lane = &mut self.lane;
        codec::move_out(&self.key, &mut fact, &mut |hash, text| lane.learn(codec::handle(&hash), text));
        let seq = lane.head().next();
        if let Some(content) = content {
            self.ids.insert(id.clone(), (seq, content));
        }
        let (tenant, stream) = (self.config.tenant.clone(), self.stream.clone());
        self.hear(Event { tenant, stream, seq, id, at, source, fact: Some(fact), erased: None });
        Appended::written(seq)
    }

    fn hear(&mut self, event: Event) {
        self.lane.hear(event);
        self.tally();
    }

    /// Adds the running sums of events that have none yet.
    fn tally(&mut self) {
        let from = self.lane.tallies.len();
        let mut sum = self.lane.tallies.last().copied();
        let mut more = Vec::new();
        for event in self.events().iter().skip(from) {
            let before = sum.unwrap_or(TallyRow { tokens: Some(Tokens::ZERO), ..TallyRow::default() });
            let (messages, text, tokens) = match &event.fact {
                Some(Fact::MessageAppended(said)) => {
                    let leaves = said.message.parts.iter().flat_map(Part::leaves);
                    let counted = leaves.filter(|(part, _)| !part.is_data());
                    (
                        1,
                        said.message.parts.iter().map(text_of).sum(),
                        counted.map(|(_, body)| self.count(body)).sum(),
                    )
                }
                _ => (0, Bytes::ZERO, Tokens::ZERO),
            };
            let row = TallyRow {
                messages: before.messages + messages,
                text: before.text + text,
                tokens: before.tokens.map(|before| before + tokens),
            };
            sum = Some(row);
            more.push(row);
        }
        self.lane.tallies.append(&mut more);
    }

    fn count(&self, body: &Body) -> Tokens {
        let known = body.handle().and_then(|handle| self.counts.of(handle)).map(|count| count.o200k);
        let count = || {
            let text = body.inline().or_else(|| self.read(body.handle()?));
            text.map_or(0, |text| Vocabulary::O200k.count(text))
        };
        Tokens(u64::from(known.unwrap_or_else(count)))
    }

    /// Builds the lane's next request and records it. If the options' compactor finds that the lane is due, the lane
    /// is compacted first, and the compaction is also recorded. Blocks while a summariser or a hook works.
    ///
    /// # Errors
    /// Returns [`Error::OverBudget`] if even the smallest request does not fit; also fails if the options name
    /// another lane.
    pub fn context(&mut self, options: impl Into<ContextOptions>) -> Result<Built, Error> {
        self.build(options.into(), false)
    }

    /// Builds the request that [`MemoryLane::context`] would build, on a copy of the lane, and records nothing. No
    /// model is called and no hook runs.
    ///
    /// # Errors
    /// See [`MemoryLane::context`].
    pub fn explain(&self, options: impl Into<ContextOptions>) -> Result<Built, Error> {
        let mut built = self.clone().build(options.into(), true)?;
        built.recorded = None;
        if let Some(done) = &mut built.compacted {
            done.unrecord();
        }
        Ok(built)
    }

    fn build(&mut self, options: ContextOptions, aside: bool) -> Result<Built, Error> {
        let lane = self.lane.snapshot.lane().clone();
        if options.lane.as_ref().is_some_and(|other| *other != lane) {
            return Err(Error::Config(format!(
                "the options name another lane: this memory holds only lane `{lane}`"
            )));
        }
        let options = ContextOptions { lane: Some(lane), ..options };
        let house = House {
            config: self.config.clone(),
            stream: self.stream.clone(),
            key: self.key,
            counts: Arc::clone(&self.counts),
            workers: Arc::clone(&self.workers),
            aside,
        };
        let (own, asked) = (house.clone(), options.clone());
        let build = Build::new(async move |ask| turn(&Desk { house: own, ask }, &asked).await);
        let turn = self.lane.run(&house, build);
        self.tally();
        Built::of(turn??, &options)
    }
}

fn is_opening(fact: &Fact) -> bool {
    matches!(fact, Fact::SessionOpened(_))
}

fn text_of(part: &Part) -> Bytes {
    part.bodies().into_iter().map(Body::bytes).sum()
}
