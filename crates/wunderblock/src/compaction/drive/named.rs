//! Looks up what the newest typed turn names, with the round trips that a build makes anyway.
//!
//! ```text
//! first trip    the turn's text, the session's stretches, the segments of the index
//! second trip   blocks of the index, what it does not have yet, handles  ─► places
//! show trip     events at the places and around them, with their bodies
//! ```

use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::reading::lineage::{AskedStreams, ask_behind, take_streams};
use crate::ledger::reading::query_batch::{AnswerKey, Answers, QueryBatch};
use crate::ledger::reading::stored::decode_event;
use crate::ledger::session::Session;
use crate::ledger::texts::Texts;
use crate::recall::document::{Document, DocumentText};
use crate::recall::places::WordPlaces;
use crate::recall::scan::{Lacking, LongBodies, Scan, facts_of};
use crate::request::named::{NamedEvents, NamedPlaces, TEXTS, TURN_BYTES, TURNS};
use std::collections::{BTreeSet, HashMap};
use wunderblock_core::event::Event;
use wunderblock_core::id::{Handle, HandlePrefix, StreamId};
use wunderblock_core::units::Seq;
use wunderblock_store::{
    Answer, DerivedTable, EventFilter, PackedBlob, Query, SegmentInfo, Selected, StoredEvent, StreamInfo,
    StreamKind, StreamNo, Stretch, codec,
};

/// Maximum number of newest events that are scanned because they are not indexed.
const UNINDEXED: usize = 1_024;
/// Maximum number of events that are looked up for a handle.
const HOLDERS: u64 = 64;

/// Body of an answer with blobs.
type Blobs = Vec<Option<PackedBlob>>;
/// Places of events that hold a body.
type Holders = Vec<(StreamNo, Seq)>;

/// Queries of the first round trip.
pub(super) struct NamedTurn {
    /// Last position of the view.
    to: Seq,
    stretches: AnswerKey<Vec<Stretch>>,
    segments: AnswerKey<Vec<SegmentInfo>>,
    behind: AskedStreams,
    bodies: AnswerKey<Blobs>,
}

impl NamedTurn {
    pub(super) fn ask(engine: &Engine, stream: &StreamId, to: Seq, batch: &mut QueryBatch) -> Self {
        let (tenant, stream) = (engine.tenant.no, stream.clone());
        let events = Selected::UserTurns { to, limit: TURNS };
        let turns = Query::BodiesOf { tenant, stream: stream.clone(), events, bytes: TURN_BYTES };
        Self {
            to,
            stretches: batch.ask(Query::Lineage { tenant, stream }, Answer::lineage),
            segments: batch.ask(Query::Segments { tenant, table: DerivedTable::Words }, Answer::segments),
            behind: ask_behind(batch, tenant, &[StreamKind::Session], &[DerivedTable::Words]),
            bodies: batch.ask(turns, Answer::blobs),
        }
    }

    /// Returns the newest typed turn, with the search for its names, if it names anything. `turns` are the user's turns,
    /// newest first.
    pub(super) fn search(
        self,
        engine: &Engine,
        answers: &mut Answers,
        info: &StreamInfo,
        turns: &[Event],
    ) -> Result<(NamedPlaces, Option<NamedSearch>), Error> {
        let texts = unpacked(engine, answers.take(self.bodies)?)?;
        let Some(named) = NamedPlaces::of_newest(turns, |_| texts) else {
            return Ok((NamedPlaces::default(), None));
        };
        if named.names.is_empty() {
            return Ok((named, None));
        }
        let mut stretches = answers.take(self.stretches)?;
        for stretch in &mut stretches {
            stretch.to = stretch.to.min(self.to);
        }
        let words = WordPlaces::of(named.narrowing());
        let words = words.indexed(engine, answers.take(self.segments)?, &stretches)?;
        let mut behind = take_streams(answers, self.behind)?;
        behind.push(info.clone());
        let mut waiting = BTreeSet::new();
        for stretch in &stretches {
            let Some(info) = behind.iter().find(|info| info.no == stretch.no) else { continue };
            let from = stretch.from.max(info.reach(DerivedTable::Words).next());
            // One more tells that there are more.
            waiting.extend((from.0..=stretch.to.0).rev().take(UNINDEXED + 1).map(Seq));
        }
        let waiting: Vec<Seq> = waiting.into_iter().rev().take(UNINDEXED + 1).collect();
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
    /// Positions that the index does not have yet, newest first.
    waiting: Vec<Seq>,
    keys: Option<SearchKeys>,
}

/// Keys of the queries of the second round trip.
struct SearchKeys {
    blocks: AnswerKey<Vec<Option<Vec<u8>>>>,
    /// Newest events that are not indexed.
    waiting: AnswerKey<Vec<StoredEvent>>,
    bodies: AnswerKey<Blobs>,
    /// What the handles mean, by the numbers of the names.
    handles: Vec<(usize, AnswerKey<Vec<Handle>>)>,
}

impl NamedSearch {
    pub(super) fn ask(&mut self, engine: &Engine, batch: &mut QueryBatch) {
        let (tenant, of, stream) = (engine.tenant.no, StreamKind::Session, || self.stream.clone());
        self.named.is_partly = self.waiting.len() > UNINDEXED;
        self.waiting.truncate(UNINDEXED);
        let seqs = || self.waiting.clone();
        let rows = Query::At { tenant, stream: stream(), seqs: seqs(), filter: EventFilter::default() };
        let bodies = Query::BodiesOf { tenant, stream: stream(), events: Selected::At(seqs()), bytes: TEXTS };
        let mut handles = Vec::new();
        for (place, (name, _)) in self.named.names.iter().enumerate() {
            if let Some(HandlePrefix { first, last }) = name.handle() {
                let meant = Query::Handles { tenant, of, first, last, limit: 2 };
                handles.push((place, batch.ask(meant, Answer::handles)));
            }
        }
        self.keys = Some(SearchKeys {
            blocks: batch.ask(self.words.query(engine), Answer::blocks),
            waiting: batch.ask(rows, Answer::events),
            bodies: batch.ask(bodies, Answer::blobs),
            handles,
        });
    }

    /// Returns the names with their places.
    pub(super) fn places(mut self, engine: &Engine, answers: &mut Answers) -> Result<NamedPlaces, Error> {
        let Some(keys) = self.keys.take() else { return Ok(self.named) };
        let mut rows = answers.take(keys.waiting)?;
        rows.sort_unstable_by_key(|row| row.seq);
        let facts = facts_of(engine, &self.stream, &rows)?;
        let documents: Vec<Document<'_>> =
            facts.iter().filter_map(|(place, fact)| Document::of(*place, fact)).collect();
        let packed = answers.take(keys.bodies)?.into_iter().flatten();
        let packed: HashMap<Handle, PackedBlob> = packed.map(|blob| (blob.handle, blob)).collect();
        let (redactor, key) = (&engine.config.redactor, &engine.tenant.key);
        let scan = Scan { words: &self.words.terms, redactor, key };
        let tail = scan.documents(&documents, LongBodies::Packed(&packed), Lacking::default())?.tail;
        let mut texts = documents.iter().flat_map(|document| &document.texts);
        let is_missing =
            |text: &DocumentText<'_>| text.body.handle().is_some_and(|handle| !packed.contains_key(&handle));
        let found = self.words.find(&answers.take(keys.blocks)?, &tail);
        self.named.is_partly |= found.is_none() || texts.any(is_missing);
        self.named.places = found.unwrap_or_default();
        let own = engine.stream_handle(&self.stream);
        for (place, key) in keys.handles {
            if let [one] = answers.take(key)?.as_slice() {
                self.named.means(place, *one, own);
            }
        }
        Ok(self.named)
    }
}

/// Keys of what is read for names with the texts that a request shows.
pub(super) struct NamedKeys {
    rows: AnswerKey<Vec<StoredEvent>>,
    bodies: AnswerKey<Blobs>,
    stretches: AnswerKey<Vec<Stretch>>,
    held: Vec<(Handle, AnswerKey<Holders>)>,
    handles: AnswerKey<Blobs>,
}

impl NamedKeys {
    /// Asks for the events at the places of names; for nothing if there are no names.
    pub(super) fn ask(session: &Session, named: &NamedPlaces, batch: &mut QueryBatch) -> Option<Self> {
        let (tenant, stream) = (session.engine.tenant.no, || session.id.clone());
        let seqs = named.around();
        if named.names.is_empty() {
            return None;
        }
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
