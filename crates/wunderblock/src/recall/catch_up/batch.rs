//! A batch of background work: its input, and the results of the threads.

use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::stored::{decode_event, read_page};
use crate::rules::token_costs::count_body;
use crate::rules::tokens::Vocabulary;
use std::collections::HashMap;
use wunderblock_core::event::Fact;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::message::{Body, Message, Part};
use wunderblock_core::units::{Bytes, Seq, Tokens};
use wunderblock_index::{DocKey, SegmentBuilder};
use wunderblock_redact::Redactor;
use wunderblock_store::codec::{Unpacker, utf8};
use wunderblock_store::{
    Answer, BodyCount, PackedBlob, PackedSegment, Query, SegmentReach, StreamInfo, StreamNo,
};

/// Events of consecutive positions of one stream.
struct EventRun {
    id: StreamId,
    no: StreamNo,
    counted: Seq,
    indexed: Seq,
    events: Vec<(Seq, Option<Fact>)>,
}

/// Events that are processed together. These events become one segment of the index.
pub(super) struct Batch {
    runs: Vec<EventRun>,
    events: u64,
    text: Bytes,
    room: (u64, Bytes),
}

impl Batch {
    /// Creates an empty batch with a maximum number of events and bytes of text.
    pub(super) fn new(room: (u64, Bytes)) -> Self {
        Self { runs: Vec::new(), events: 0, text: Bytes::ZERO, room }
    }

    pub(super) fn is_full(&self) -> bool {
        self.events >= self.room.0 || self.text >= self.room.1
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
    pub(super) segment: Option<PackedSegment>,
    pub(super) indexed: Vec<SegmentReach>,
}

/// Reads events of a stream into a batch, as many as it has room for. Returns the position of the last event read.
pub(super) async fn read_batch(
    engine: &Engine,
    batch: &mut Batch,
    info: &StreamInfo,
    from: Seq,
) -> Result<Option<Seq>, Error> {
    let room = (batch.room.0.saturating_sub(batch.events), batch.room.1.saturating_sub(batch.text));
    let rows = read_page(engine, info, from, room).await?;
    let mut events = Vec::with_capacity(rows.len());
    for row in &rows {
        let fact = decode_event(engine, &info.id, row)?.fact;
        batch.text += fact.iter().flat_map(Fact::bodies).map(Body::bytes).sum::<Bytes>();
        events.push((row.seq, fact));
    }
    batch.events += events.len() as u64;
    let last = events.last().map(|(seq, _)| *seq);
    match batch.runs.last_mut().filter(|run| run.no == info.no) {
        Some(run) => run.events.append(&mut events),
        None => batch.runs.push(EventRun {
            id: info.id.clone(),
            no: info.no,
            counted: info.counted,
            // Earlier batches are stored before this one, so everything before `from` is indexed by then.
            indexed: info.indexed.max(from.prev()),
            events,
        }),
    }
    Ok(last)
}

/// Reads the bodies of a batch.
pub(super) async fn load_bodies(engine: &Engine, batch: Batch) -> Result<Load, Error> {
    let facts = batch.runs.iter().flat_map(|run| &run.events).filter_map(|(_, fact)| fact.as_ref());
    let mut handles: Vec<Handle> = facts.flat_map(Fact::bodies).filter_map(Body::handle).collect();
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
    builder: SegmentBuilder,
}

impl Load {
    /// Counts and indexes the events that need it, or only indexes them if `counting` is false.
    pub(super) fn work(self, redactor: &Redactor, key: &[u8; 32], counting: bool) -> Result<Done, Error> {
        let (packed, unpacker) = (self.packed, Unpacker::default());
        let (counts, builder) = (HashMap::new(), SegmentBuilder::new());
        let mut worker = Worker { packed, unpacker, redactor, key, counts, builder };
        let mut done = Done { events: self.batch.events, ..Done::default() };
        for run in self.batch.runs {
            let mut tokens = Vec::new();
            let mut reach = SegmentReach { stream: run.no, after: run.indexed, through: run.indexed };
            for (seq, fact) in run.events {
                let (counting, indexing) = (counting && seq > run.counted, seq > run.indexed);
                let own = match &fact {
                    Some(Fact::MessageAppended(said)) => {
                        let own = worker.message(&said.message, counting, indexing)?;
                        if indexing {
                            let document = DocKey { stream: run.no.0, seq: seq.0 };
                            worker.builder.end_document(document)?;
                        }
                        own
                    }
                    Some(fact) if counting => worker.other(fact)?,
                    _ => Tokens::ZERO,
                };
                if counting {
                    tokens.push((seq, own));
                }
                if indexing {
                    reach.through = seq;
                }
            }
            if !tokens.is_empty() {
                done.tallies.push((run.id, tokens));
            }
            if reach.through > reach.after {
                done.indexed.push(reach);
            }
        }
        done.counts = worker.counts.into_iter().collect();
        // The counts are sorted, so that neighbouring rows of the ledger are written together.
        done.counts.sort_unstable_by_key(|(handle, _)| *handle);
        if !worker.builder.is_empty() {
            done.segment = Some(super::join::packed(worker.builder.finish()?)?);
        }
        Ok(done)
    }
}

impl Worker<'_> {
    /// Counts and indexes a message. Returns its tokens.
    fn message(&mut self, message: &Message, counting: bool, indexing: bool) -> Result<Tokens, Error> {
        let mut tokens = Tokens::ZERO;
        for (part, body) in message.parts.iter().flat_map(Part::leaves).filter(|(part, _)| !part.is_data()) {
            let is_searched = indexing && is_searched(part);
            if !is_searched && !counting {
                continue;
            }
            let text = match body {
                Body::Inline(text) => text.as_ref(),
                Body::Blob { blob, .. } => match self.packed.get(blob) {
                    Some(blob) => utf8(self.unpacker.body(self.key, blob)?)?,
                    None => continue,
                },
            };
            if counting {
                tokens += match body {
                    Body::Inline(text) => Tokens(u64::from(Vocabulary::O200k.count(text))),
                    Body::Blob { blob, .. } => {
                        let count = self.counts.entry(*blob).or_insert_with(|| count_body(text));
                        Tokens(u64::from(count.o200k))
                    }
                };
            }
            if is_searched {
                let redacted = self.redactor.redact_keyed(self.key, text).text;
                self.builder.add_text(&redacted)?;
            }
        }
        Ok(tokens)
    }

    /// Counts the bodies of a fact that is not a message. These bodies are not searched, and are not part of the
    /// session's token sums.
    fn other(&mut self, fact: &Fact) -> Result<Tokens, Error> {
        for handle in fact.bodies().into_iter().filter_map(Body::handle) {
            if let Some(blob) = self.packed.get(&handle)
                && !self.counts.contains_key(&handle)
            {
                let count = count_body(utf8(self.unpacker.body(self.key, blob)?)?);
                self.counts.insert(handle, count);
            }
        }
        Ok(Tokens::ZERO)
    }
}

/// Returns whether a part is searched. Media is not searched, because it holds no words.
pub(crate) fn is_searched(part: &Part) -> bool {
    !matches!(part, Part::Media { .. })
}
