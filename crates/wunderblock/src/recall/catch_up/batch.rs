//! A batch of background work: its input, and the results of the threads.

use super::embedding::Embedding;
use super::pack::packed_words;
use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::reading::stored::{decode_event, read_page};
use crate::ledger::recording::record::counted_bodies;
use crate::ledger::session::PageLimit;
use crate::recall::document::{Document, DocumentText, EventPlace, PartCounter};
use crate::rules::embedder::Embedder;
use crate::rules::token_costs::count_body;
use crate::rules::tokens::Vocabulary;
use std::collections::HashMap;
use wunderblock_core::event::Fact;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::message::Body;
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};
use wunderblock_index::{PassageKey, SegmentBuilder};
use wunderblock_redact::Redactor;
use wunderblock_store::codec::{Unpacker, utf8};
use wunderblock_store::{
    Answer, BodyCount, DerivedTable, Frontiers, PackedBlob, PackedSegment, Query, SegmentReach, StreamInfo,
    StreamNo,
};

/// Derived tables that have segments.
const SEGMENTED: [DerivedTable; 2] = [DerivedTable::Words, DerivedTable::Vectors];

/// An event whose fact is decoded, unless it is erased.
struct DecodedEvent {
    seq: Seq,
    at: Millis,
    fact: Option<Fact>,
}

/// Events of consecutive positions of one stream.
struct EventRun {
    id: StreamId,
    no: StreamNo,
    frontiers: Frontiers,
    events: Vec<DecodedEvent>,
}

/// Events that are processed together. These events become one segment of the index.
pub(super) struct Batch {
    runs: Vec<EventRun>,
    events: u64,
    text: Bytes,
    room: PageLimit,
}

impl Batch {
    /// Creates an empty batch with a maximum number of events and bytes of text.
    pub(super) fn new(room: PageLimit) -> Self {
        Self { runs: Vec::new(), events: 0, text: Bytes::ZERO, room }
    }

    pub(super) fn is_full(&self) -> bool {
        self.events >= self.room.events || self.text >= self.room.text
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events == 0
    }
}

/// Batch with the bodies that it needs, which are still compressed.
pub(super) struct Load {
    batch: Batch,
    packed: HashMap<Handle, PackedBlob>,
}

/// Result of a batch.
#[derive(Default)]
pub(super) struct Done {
    pub(super) events: u64,
    pub(super) counts: Vec<(Handle, BodyCount)>,
    pub(super) tallies: Vec<(StreamId, Vec<(Seq, Tokens)>)>,
    /// Segment of each derived table that has segments, and how far it reaches.
    pub(super) segments: Vec<(DerivedTable, Option<PackedSegment>, Vec<SegmentReach>)>,
}

/// Reads events of a stream into a batch, as many as it has room for. Returns the position of the last event read.
pub(super) async fn read_batch(
    engine: &Engine,
    batch: &mut Batch,
    info: &StreamInfo,
    from: Seq,
) -> Result<Option<Seq>, Error> {
    let room = batch.room;
    let (events, text) = (room.events.saturating_sub(batch.events), room.text.saturating_sub(batch.text));
    let rows = read_page(engine, info, from, events, text).await?;
    let mut events = Vec::with_capacity(rows.len());
    for row in &rows {
        let fact = decode_event(engine, &info.id, row)?.fact;
        batch.text += fact.iter().flat_map(Fact::bodies).map(Body::bytes).sum::<Bytes>();
        events.push(DecodedEvent { seq: row.seq, at: row.at, fact });
    }
    batch.events += events.len() as u64;
    let last = events.last().map(|event| event.seq);
    match batch.runs.last_mut().filter(|run| run.no == info.no) {
        Some(run) => run.events.append(&mut events),
        None => {
            let mut frontiers = info.frontiers;
            // Earlier batches are stored before this one, so everything before `from` is indexed by then.
            for table in SEGMENTED {
                frontiers.set(table, info.reach(table).max(from.prev()));
            }
            batch.runs.push(EventRun { id: info.id.clone(), no: info.no, frontiers, events });
        }
    }
    Ok(last)
}

/// Reads the bodies of a batch.
pub(super) async fn load_bodies(engine: &Engine, batch: Batch) -> Result<Load, Error> {
    let facts = batch.runs.iter().flat_map(|run| &run.events).filter_map(|event| event.fact.as_ref());
    let mut handles: Vec<Handle> = facts.flat_map(counted_bodies).filter_map(Body::handle).collect();
    handles.sort_unstable();
    handles.dedup();
    let query = Query::Blobs { tenant: engine.tenant.no, handles };
    let blobs = engine.ask(query, Answer::blobs).await?;
    let packed = blobs.into_iter().flatten().map(|blob| (blob.handle, blob)).collect();
    Ok(Load { batch, packed })
}

/// State of a thread that processes a batch.
struct Worker<'l> {
    packed: HashMap<Handle, PackedBlob>,
    unpacker: Unpacker,
    redactor: &'l Redactor,
    key: &'l [u8; 32],
    counts: HashMap<Handle, BodyCount>,
    words: SegmentBuilder,
    vectors: Embedding<'l>,
}

/// What is made of an event.
#[derive(Clone, Copy, Default)]
struct Wanted {
    counts: bool,
    words: bool,
    vectors: bool,
}

impl Load {
    /// Continues derived tables with the events that they do not cover. `by` makes the vectors; `None` is the table.
    pub(super) fn work(
        self,
        redactor: &Redactor,
        key: &[u8; 32],
        tables: &[DerivedTable],
        by: Option<&Embedder>,
    ) -> Result<Done, Error> {
        let (packed, unpacker) = (self.packed, Unpacker::default());
        let (counts, words, vectors) = (HashMap::new(), SegmentBuilder::new(), Embedding::begin(by)?);
        let mut worker = Worker { packed, unpacker, redactor, key, counts, words, vectors };
        let mut done = Done { events: self.batch.events, ..Done::default() };
        let mut reaches = SEGMENTED.map(|_| Vec::new());
        for run in self.batch.runs {
            let mut tokens = Vec::new();
            let mut own = SEGMENTED.map(|table| {
                let after = run.frontiers.of(table);
                SegmentReach { stream: run.no, after, through: after }
            });
            for DecodedEvent { seq, at, fact } in run.events {
                let is_wanted = |table| tables.contains(&table) && seq > run.frontiers.of(table);
                let wanted = Wanted {
                    counts: is_wanted(DerivedTable::Counts),
                    words: is_wanted(DerivedTable::Words),
                    vectors: is_wanted(DerivedTable::Vectors),
                };
                let sum = match &fact {
                    Some(fact) => worker.event(EventPlace { stream: run.no, seq, at }, fact, wanted)?,
                    None => Tokens::ZERO,
                };
                if wanted.counts {
                    tokens.push((seq, sum));
                }
                for (reach, _) in own.iter_mut().zip(SEGMENTED).filter(|(_, table)| is_wanted(*table)) {
                    reach.through = seq;
                }
            }
            if !tokens.is_empty() {
                done.tallies.push((run.id, tokens));
            }
            for (reaches, own) in reaches.iter_mut().zip(own).filter(|(_, own)| own.through > own.after) {
                reaches.push(own);
            }
        }
        let Worker { counts, words, vectors, .. } = worker;
        done.counts = counts.into_iter().collect();
        // The counts are sorted, so that neighbouring rows of the ledger are written together.
        done.counts.sort_unstable_by_key(|(handle, _)| *handle);
        let [of_words, of_vectors] = reaches;
        if !of_words.is_empty() {
            let segment = (!words.is_empty()).then(|| packed_words(words.finish()?)).transpose()?;
            done.segments.push((DerivedTable::Words, segment, of_words));
        }
        if !of_vectors.is_empty() {
            done.segments.push((DerivedTable::Vectors, Some(vectors.finish(&of_vectors)?), of_vectors));
        }
        Ok(done)
    }
}

impl Worker<'_> {
    /// Adds the document that an event is to the index, and counts the event's bodies. Returns the event's tokens.
    ///
    /// Of a fact that is not a message, only the bodies on their own are counted: they are not part of the session's
    /// token sums.
    fn event(&mut self, place: EventPlace, fact: &Fact, wanted: Wanted) -> Result<Tokens, Error> {
        let is_message = matches!(fact, Fact::MessageAppended(_));
        let document = Some(fact).filter(|_| wanted.words || wanted.vectors);
        let document = document.and_then(|fact| Document::of(place, fact));
        let (mut tokens, mut parts) = (Tokens::ZERO, PartCounter::default());
        for body in counted_bodies(fact) {
            let searched = document.as_ref().and_then(|document| Some((document, document.text(body)?)));
            let is_counted = wanted.counts && (is_message || body.handle().is_some());
            if searched.is_none() && !is_counted {
                continue;
            }
            let text = match body {
                Body::Inline(text) => text.as_ref(),
                Body::Blob { blob, .. } => match self.packed.get(blob) {
                    Some(blob) => utf8(self.unpacker.body(self.key, blob)?)?,
                    None => continue,
                },
            };
            if is_counted {
                let own = match body {
                    Body::Inline(text) => Vocabulary::O200k.count(text),
                    Body::Blob { blob, .. } => {
                        self.counts.entry(*blob).or_insert_with(|| count_body(text)).o200k
                    }
                };
                tokens += if is_message { Tokens(u64::from(own)) } else { Tokens::ZERO };
            }
            let Some((document, DocumentText { is_said, .. })) = searched else { continue };
            if !is_said {
                parts.skip();
                if wanted.words {
                    self.words.add_text(&self.redactor.redact_keyed(self.key, text).text)?;
                }
                continue;
            }
            let (voice, redacted) = (document.voice(), self.redactor.redact_keyed(self.key, text).text);
            if wanted.words {
                self.words.add_spoken(&voice, &redacted)?;
            }
            for (part, passage) in parts.passages(&voice, &redacted).filter(|_| wanted.vectors) {
                self.vectors.add(PassageKey { doc: document.key, part }, passage.text)?;
            }
        }
        if let Some(document) = document.filter(|_| wanted.words) {
            self.words.end_document(document.key)?;
        }
        Ok(tokens)
    }
}
