//! Search in documents that are not indexed yet. They are scanned and ranked like the indexed ones.

use super::ground::Ground;
use super::options::Task;
use super::snippet::redacted;
use crate::base::error::Error;
use crate::base::parallel;
use crate::ledger::engine::Engine;
use crate::ledger::reading::stored::{decode_event, read_page};
use crate::limits::{CATCH_UP_BYTES, CATCH_UP_EVENTS};
use crate::recall::document::{Document, DocumentText, EventPlace, is_document};
use std::collections::HashMap;
use wunderblock_core::event::Fact;
use wunderblock_core::id::Handle;
use wunderblock_core::message::Body;
use wunderblock_index::{ParsedQuery as Words, Tail, TailWriter};
use wunderblock_store::codec::{Unpacker, utf8};
use wunderblock_store::{Answer, DerivedTable, PackedBlob, Query, StoredEvent, StreamInfo};

/// Number of documents that one thread scans at a time.
const SHARE: usize = 64;

/// Documents that were scanned for a query.
pub(super) struct Waiting {
    /// Those that contain a word of the query.
    pub(super) tail: Tail,
    /// Number of documents.
    pub(super) scanned: u64,
    /// Whether the deadline has passed before all of them were scanned.
    pub(super) late: bool,
}

/// Scans the documents that are not indexed yet.
pub(super) async fn scan(task: &Task<'_>, ground: &Ground) -> Result<Waiting, Error> {
    let (engine, words, deadline) = (task.engine, task.words(), &task.options.deadline);
    let (mut tails, mut scanned, mut late) = (Vec::new(), 0, false);
    for info in &ground.behind {
        let mut from = info.reach(DerivedTable::Words).next();
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
            scanned += documents.len() as u64;
            let texts = documents.iter().flat_map(|document| &document.texts);
            let handles = texts.filter_map(|text| text.body.handle()).collect();
            let blobs = engine.ask(Query::Blobs { tenant: engine.tenant.no, handles }, Answer::blobs).await?;
            let packed = blobs.into_iter().flatten().map(|blob| (blob.handle, blob)).collect();
            tails.extend(parallel::map(documents.chunks(SHARE).collect(), |share| {
                scan_share(engine, words, share, &packed)
            })?);
        }
    }
    let tail = Tail::join(words, tails).map_err(|error| Error::Query(error.to_string()))?;
    Ok(Waiting { tail, scanned, late })
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

/// Scans the redacted texts of documents whose long bodies are packed.
fn scan_share(
    engine: &Engine,
    words: &Words,
    share: &[Document<'_>],
    packed: &HashMap<Handle, PackedBlob>,
) -> Result<Tail, Error> {
    let mut unpacker = Unpacker::default();
    let mut writer = TailWriter::of(words);
    for document in share {
        let voice = document.voice();
        for DocumentText { body, is_said } in &document.texts {
            let text = match body {
                Body::Inline(text) => redacted(engine, text),
                Body::Blob { blob, .. } => match packed.get(blob) {
                    // The next body is unpacked to the same memory.
                    Some(blob) => redacted(engine, utf8(unpacker.body(&engine.tenant.key, blob)?)?),
                    None => continue,
                },
            };
            match is_said {
                true => writer.add_spoken(&voice, &text),
                false => writer.add_text(&text),
            }
        }
        writer.end_document(document.key);
    }
    Ok(writer.finish())
}
