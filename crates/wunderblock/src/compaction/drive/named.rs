//! Looks up what the newest typed turn names, with the round trips that a build makes anyway.
//!
//! ```text
//! first trip    the turn's text, the session's stretches, the segments of the index
//! second trip   blocks of the index, handles                            ─► places
//! show trip     events at the places and around them, with their bodies
//! ```

use super::load::TURNS;
use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::reading::query_batch::{AnswerKey, Answers, QueryBatch};
use crate::ledger::reading::stored::decode_event;
use crate::ledger::session::Session;
use crate::ledger::texts::Texts;
use crate::recall::places::WordPlaces;
use crate::request::named::names::NameKind;
use crate::request::named::{NamedEvents, NamedPlaces};
use wunderblock_core::author::Author;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::{Handle, HandlePrefix, StreamId};
use wunderblock_core::message::{Part, Role};
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_store::{
    Answer, DerivedTable, EventFilter, PackedBlob, Query, ReadOrder, SegmentInfo, Selected, StoredEvent,
    StreamInfo, StreamKind, StreamNo, Stretch, codec,
};

/// Maximum length of the turns that are searched for names.
const TURN_BYTES: Bytes = Bytes(256 << 10);
/// Maximum number of newest events that are searched because they are not indexed.
const UNINDEXED: u64 = 1_024;
/// Maximum number of newest events that are read whole because they are not indexed.
const NEWEST: u64 = 32;
/// Maximum number of places of each name among events that are not indexed.
const EACH: usize = 12;
/// Maximum number of events that are read for all names.
const EVENTS: usize = 640;
/// Maximum total length of the texts that are read for all names.
const TEXTS: Bytes = Bytes(4 << 20);
/// Maximum number of events that are looked up for a handle.
const HOLDERS: u64 = 64;

/// Body of an answer with blobs.
type Blobs = Vec<Option<PackedBlob>>;

/// Queries of the first round trip.
pub(super) struct NamedTurn {
    stretches: AnswerKey<Vec<Stretch>>,
    segments: AnswerKey<Vec<SegmentInfo>>,
    bodies: AnswerKey<Blobs>,
}

impl NamedTurn {
    pub(super) fn ask(engine: &Engine, stream: &StreamId, to: Seq, batch: &mut QueryBatch) -> Self {
        let (tenant, stream) = (engine.tenant.no, stream.clone());
        let events = Selected::UserTurns { to, limit: TURNS };
        let turns = Query::BodiesOf { tenant, stream: stream.clone(), events, bytes: TURN_BYTES };
        Self {
            stretches: batch.ask(Query::Lineage { tenant, stream }, Answer::lineage),
            segments: batch.ask(Query::Segments { tenant, table: DerivedTable::Words }, Answer::segments),
            bodies: batch.ask(turns, Answer::blobs),
        }
    }

    /// Returns the newest typed turn, with the search for its names, if it names anything. `turns` are the user's turns,
    /// newest first.
    pub(super) fn search(
        self,
        engine: &Engine,
        answers: &mut Answers,
        (info, to): (&StreamInfo, Seq),
        turns: &[Event],
    ) -> Result<(NamedPlaces, Option<NamedSearch>), Error> {
        let texts = unpacked(engine, answers.take(self.bodies)?)?;
        let typed = turns.iter().find_map(|event| match &event.fact {
            Some(Fact::MessageAppended(said)) => Some((event.seq, &said.message))
                .filter(|(_, said)| matches!(said.author(), Author::Person | Author::Peer)),
            _ => None,
        });
        let Some((turn, said)) = typed else { return Ok((NamedPlaces::default(), None)) };
        let named = NamedPlaces::of_turn(turn, said, &texts);
        if named.names.is_empty() {
            return Ok((named, None));
        }
        let mut stretches = answers.take(self.stretches)?;
        for stretch in &mut stretches {
            stretch.to = stretch.to.min(to);
        }
        let words = named.names.iter().map(|(name, _)| name.narrowing());
        let words = WordPlaces::of(engine, answers.take(self.segments)?, &stretches, words)?;
        let waiting = (info.reach(DerivedTable::Words).next(), info.head.min(to));
        let search =
            NamedSearch { stream: info.id.clone(), named: named.clone(), words, waiting, keys: None };
        Ok((named, Some(search)))
    }
}

/// Search for the places of names, with the queries of the second round trip.
pub(super) struct NamedSearch {
    stream: StreamId,
    named: NamedPlaces,
    words: WordPlaces,
    /// First and last position that the index does not have yet.
    waiting: (Seq, Seq),
    keys: Option<SearchKeys>,
}

/// Keys of the queries of the second round trip.
struct SearchKeys {
    blocks: AnswerKey<Vec<Option<Vec<u8>>>>,
    /// Newest events that are not indexed, and older ones that refer to a file that is named.
    waiting: Vec<AnswerKey<Vec<StoredEvent>>>,
    /// What the handles mean, by the numbers of the names.
    handles: Vec<(usize, AnswerKey<Vec<Handle>>)>,
}

impl NamedSearch {
    pub(super) fn ask(&mut self, engine: &Engine, batch: &mut QueryBatch) {
        let blocks = batch.ask(self.words.query(engine), Answer::blocks);
        let (from, to) = self.waiting;
        let newest = |limit: u64, filter: EventFilter| Query::Events {
            tenant: engine.tenant.no,
            stream: self.stream.clone(),
            from,
            to,
            order: ReadOrder::Descending,
            limit,
            text: Bytes(i64::MAX.unsigned_abs()),
            counts: false,
            filter,
        };
        let (mut waiting, mut handles) = (Vec::new(), Vec::new());
        if from <= to {
            waiting.push(batch.ask(newest(UNINDEXED, EventFilter::default()), Answer::events));
        }
        for (place, (name, _)) in self.named.names.iter().enumerate() {
            let prefix = || name.text.split('#').next().and_then(|handle| handle.parse().ok());
            match name.kind {
                NameKind::Path if from.0 + UNINDEXED <= to.0 => {
                    let (role, path) = (Some(Role::Assistant), Some(name.base().into()));
                    let filter = EventFilter { role, path, ..EventFilter::default() };
                    waiting.push(batch.ask(newest(EACH as u64, filter), Answer::events));
                }
                NameKind::Handle => {
                    let Some(HandlePrefix { first, last }) = prefix() else { continue };
                    let (tenant, of) = (engine.tenant.no, StreamKind::Session);
                    let meant = Query::Handles { tenant, of, first, last, limit: 2 };
                    handles.push((place, batch.ask(meant, Answer::handles)));
                }
                _ => {}
            }
        }
        self.keys = Some(SearchKeys { blocks, waiting, handles });
    }

    /// Returns the names with their places.
    pub(super) fn places(mut self, engine: &Engine, answers: &mut Answers) -> Result<NamedPlaces, Error> {
        let Some(keys) = self.keys.take() else { return Ok(self.named) };
        let found = self.words.find(answers.take(keys.blocks)?);
        let (from, to) = self.waiting;
        self.named.is_partly = found.is_none() || from.0 + UNINDEXED <= to.0;
        let newest = (from.0.max(to.0.saturating_sub(NEWEST))..=to.0).rev().map(Seq);
        let mut places: Vec<Seq> = found.unwrap_or_default().into_iter().flatten().chain(newest).collect();
        let mut rows = Vec::new();
        for key in keys.waiting {
            rows.extend(answers.take(key)?);
        }
        let mut left = vec![EACH; self.named.names.len()];
        for row in rows.iter().filter(|row| row.kind == "message.appended") {
            let event = decode_event(engine, &self.stream, row)?;
            for ((name, _), left) in self.named.names.iter().zip(&mut left).filter(|(_, left)| **left > 0) {
                if mentions(&event, name.narrowing()) {
                    *left -= 1;
                    places.push(row.seq);
                }
            }
        }
        for (place, key) in keys.handles {
            let found = answers.take(key)?;
            let Some((name, meant)) = self.named.names.get_mut(place) else { continue };
            // A position of the session itself is read like any other place.
            match found.as_slice() {
                [one] if *one == engine.stream_handle(&self.stream) => {
                    let seq = name.text.split(['#', '-']).nth(1).and_then(|seq| seq.parse().ok());
                    places.extend(seq.map(Seq));
                }
                [one] => meant.push(*one),
                _ => {}
            }
        }
        places.retain(|seq| *seq != self.named.turn);
        self.named.places = places;
        Ok(self.named)
    }
}

/// Returns whether a call, or a short text, of an event has a word.
fn mentions(event: &Event, word: &str) -> bool {
    let Some(Fact::MessageAppended(said)) = &event.fact else { return false };
    said.message.parts.iter().any(|part| {
        let is_about = matches!(part, Part::ToolCall { gist: Some(gist), .. } if gist.contains(word));
        is_about || part.bodies().iter().any(|body| body.inline().is_some_and(|text| text.contains(word)))
    })
}

/// Keys of what is read for names with the texts that a request shows.
pub(super) struct NamedKeys {
    rows: AnswerKey<Vec<StoredEvent>>,
    bodies: AnswerKey<Blobs>,
    stretches: AnswerKey<Vec<Stretch>>,
    held: Vec<(Handle, AnswerKey<Vec<(StreamNo, Seq)>>)>,
    handles: AnswerKey<Blobs>,
}

impl NamedKeys {
    /// Asks for the events at the places of names; for nothing if there are no names.
    pub(super) fn ask(session: &Session, named: &NamedPlaces, batch: &mut QueryBatch) -> Option<Self> {
        let (tenant, stream) = (session.engine.tenant.no, || session.id.clone());
        let mut seqs = named.around();
        if named.names.is_empty() {
            return None;
        }
        seqs.truncate(EVENTS);
        let (filter, events) = (EventFilter::default(), Selected::At(seqs.clone()));
        let handles: Vec<Handle> = named.names.iter().flat_map(|(_, handles)| handles).copied().collect();
        let holders = |handle| Query::Holders { tenant, of: StreamKind::Session, handle, limit: HOLDERS };
        Some(Self {
            rows: batch.ask(Query::At { tenant, stream: stream(), seqs, filter }, Answer::events),
            bodies: batch
                .ask(Query::BodiesOf { tenant, stream: stream(), events, bytes: TEXTS }, Answer::blobs),
            stretches: batch.ask(Query::Lineage { tenant, stream: stream() }, Answer::lineage),
            held: handles
                .iter()
                .map(|handle| (*handle, batch.ask(holders(*handle), Answer::holders)))
                .collect(),
            handles: batch.ask(Query::Blobs { tenant, handles }, Answer::blobs),
        })
    }

    /// Returns what was read. Adds the texts to `texts`.
    pub(super) fn read(
        self,
        session: &Session,
        answers: &mut Answers,
        texts: &mut Texts,
    ) -> Result<NamedEvents, Error> {
        let mut found = NamedEvents::default();
        for row in answers.take(self.rows)? {
            found.counts.extend(row.counts.iter().copied());
            found.events.insert(row.seq, decode_event(&session.engine, &session.id, &row)?);
        }
        texts.extend(unpacked(&session.engine, answers.take(self.bodies)?)?);
        texts.extend(unpacked(&session.engine, answers.take(self.handles)?)?);
        let stretches = answers.take(self.stretches)?;
        for (handle, key) in self.held {
            let own = |(no, seq): &(StreamNo, Seq)| {
                stretches
                    .iter()
                    .any(|stretch| stretch.no == *no && stretch.from <= *seq && *seq <= stretch.to)
            };
            let holders = answers.take(key)?;
            found.held.extend(holders.iter().filter(|place| own(place)).map(|(_, seq)| (handle, *seq)));
        }
        found.held.sort_unstable_by_key(|(_, seq)| *seq);
        Ok(found)
    }
}

fn unpacked(engine: &Engine, blobs: Blobs) -> Result<Texts, Error> {
    let mut texts = Texts::default();
    for blob in blobs.into_iter().flatten() {
        texts.insert(blob.handle, codec::unpack_body(&engine.tenant.key, &blob)?);
    }
    Ok(texts)
}
