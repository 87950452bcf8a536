//! Search in documents that are not indexed yet. They are scanned and ranked like the indexed ones.

use super::ground::Ground;
use super::options::Task;
use super::snippet::redacted;
use crate::base::error::Error;
use crate::base::parallel;
use crate::ledger::engine::Engine;
use crate::ledger::reading::stored::{decode_event, read_page};
use crate::limits::{CATCH_UP_BYTES, CATCH_UP_EVENTS};
use crate::recall::document::{Document, DocumentText, EventPlace, PartCounter, is_document};
use std::collections::HashMap;
use wunderblock_core::event::Fact;
use wunderblock_core::id::Handle;
use wunderblock_core::message::Body;
use wunderblock_embed::{Table, Vector};
use wunderblock_index::{PassageKey, Tail, TailWriter};
use wunderblock_store::codec::{Unpacker, utf8};
use wunderblock_store::{Answer, DerivedTable, PackedBlob, Query, StoredEvent, StreamInfo};

/// Number of documents that one thread scans at a time.
const SHARE: usize = 64;

/// Documents that were scanned for a query.
pub(super) struct Waiting {
    /// Those that contain a word of the query.
    pub(super) tail: Tail,
    /// Similarity of each of their passages to the question, and of those that are indexed and have no vectors yet.
    pub(super) similar: Vec<(PassageKey, u16)>,
    /// Number of documents.
    pub(super) scanned: u64,
    /// Whether the deadline has passed before all of them were scanned.
    pub(super) late: bool,
}

/// Scans the documents that are not indexed yet.
pub(super) async fn scan(task: &Task<'_>, ground: &Ground) -> Result<Waiting, Error> {
    let (engine, deadline) = (task.engine, &task.options.deadline);
    let (mut tails, mut similar, mut scanned, mut late) = (Vec::new(), Vec::new(), 0, false);
    let compares = ground.compares(task);
    for info in &ground.behind {
        let (words, vectors) = (info.reach(DerivedTable::Words), info.reach(DerivedTable::Vectors));
        let mut from = (if compares { words.min(vectors) } else { words }).next();
        while from <= info.head {
            late = late || deadline.is_over();
            if late {
                break;
            }
            let _turn = deadline.turn().await;
            let rows = read_page(engine, info, from, CATCH_UP_EVENTS, CATCH_UP_BYTES).await?;
            let Some(last) = rows.last().map(|row| row.seq) else { break };
            from = last.next();
            let facts = facts_of(engine, info, &rows)?;
            let documents: Vec<Document<'_>> =
                facts.iter().filter_map(|(place, fact)| Document::of(*place, fact)).collect();
            scanned += documents.iter().filter(|document| document.key.seq > words.0).count() as u64;
            let texts = documents.iter().flat_map(|document| &document.texts);
            let handles = texts.filter_map(|text| text.body.handle()).collect();
            let blobs = engine.ask(Query::Blobs { tenant: engine.tenant.no, handles }, Answer::blobs).await?;
            let packed = blobs.into_iter().flatten().map(|blob| (blob.handle, blob)).collect();
            let asked = task.meaning.as_ref().filter(|_| compares);
            let share = Share { task, asked, words: words.0, vectors: vectors.0, packed: &packed };
            let parts = parallel::map(documents.chunks(SHARE).collect(), |documents| share.scan(documents))?;
            for (tail, mut part) in parts {
                tails.push(tail);
                similar.append(&mut part);
            }
        }
    }
    let tail = Tail::join(task.words(), tails).map_err(|error| Error::Query(error.to_string()))?;
    Ok(Waiting { tail, similar, scanned, late })
}

/// A fact with its place.
type PlacedFact = (EventPlace, Fact);

/// Decodes the documents among some events, on all cores.
fn facts_of(engine: &Engine, info: &StreamInfo, rows: &[StoredEvent]) -> Result<Vec<PlacedFact>, Error> {
    let facts = parallel::map(rows.chunks(SHARE).collect(), |share: &[StoredEvent]| {
        let mut facts = Vec::with_capacity(share.len());
        for row in share.iter().filter(|row| is_document(&row.kind)) {
            let place = EventPlace { stream: info.no, seq: row.seq, at: row.at };
            facts.extend(decode_event(engine, &info.id, row)?.fact.map(|fact| (place, fact)));
        }
        Ok(facts)
    })?;
    Ok(facts.into_iter().flatten().collect())
}

/// How documents are scanned, whose long bodies are packed.
struct Share<'a> {
    task: &'a Task<'a>,
    /// Meaning of the question, if it is compared.
    asked: Option<&'a Vector>,
    /// Last position that is indexed, and last one with vectors.
    words: u64,
    vectors: u64,
    packed: &'a HashMap<Handle, PackedBlob>,
}

impl Share<'_> {
    /// Scans the redacted texts of documents.
    fn scan(&self, documents: &[Document<'_>]) -> Result<(Tail, Vec<(PassageKey, u16)>), Error> {
        let (engine, mut unpacker) = (self.task.engine, Unpacker::default());
        let (mut writer, mut similar) = (TailWriter::of(self.task.words()), Vec::new());
        for document in documents {
            let (voice, doc, mut parts) = (document.voice(), document.key, PartCounter::default());
            let (indexes, asked) = (doc.seq > self.words, self.asked.filter(|_| doc.seq > self.vectors));
            for DocumentText { body, is_said } in &document.texts {
                if !is_said && !indexes {
                    parts.skip();
                    continue;
                }
                let text = match body {
                    Body::Inline(text) => redacted(engine, text),
                    Body::Blob { blob, .. } => match self.packed.get(blob) {
                        // The next body is unpacked to the same memory.
                        Some(blob) => redacted(engine, utf8(unpacker.body(&engine.tenant.key, blob)?)?),
                        None => continue,
                    },
                };
                if !is_said {
                    parts.skip();
                    writer.add_text(&text);
                    continue;
                }
                if indexes {
                    writer.add_spoken(&voice, &text);
                }
                let Some(asked) = asked else { continue };
                for (part, passage) in parts.passages(&voice, &text) {
                    let vector = Table::embedded().vector(passage.text);
                    similar.extend(vector.map(|own| (PassageKey { doc, part }, asked.similarity(&own))));
                }
            }
            if indexes {
                writer.end_document(doc);
            }
        }
        Ok((writer.finish(), similar))
    }
}
