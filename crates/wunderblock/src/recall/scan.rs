//! Scans documents that are not indexed for the terms of a query, in the way in which the index reads them.

use crate::base::error::Error;
use crate::base::parallel;
use crate::ledger::engine::Engine;
use crate::ledger::reading::stored::decode_event;
use crate::recall::document::{Document, DocumentText, EventPlace, is_document};
use std::collections::HashMap;
use wunderblock_core::event::Fact;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::message::Body;
use wunderblock_core::ports::Bodies;
use wunderblock_index::{ParsedQuery as Words, Tail, TailWriter};
use wunderblock_redact::Redactor;
use wunderblock_store::codec::{Unpacker, utf8};
use wunderblock_store::{PackedBlob, StoredEvent};

/// Number of documents that one thread scans at a time.
const SHARE: usize = 64;

/// A fact with its place.
pub(crate) type PlacedFact = (EventPlace, Fact);

/// Long bodies of the documents of a scan.
#[derive(Clone, Copy)]
pub(crate) enum LongBodies<'b> {
    Packed(&'b HashMap<Handle, PackedBlob>),
    Texts(&'b dyn Bodies),
}

/// What a scan makes of texts: terms of redacted texts are counted.
#[derive(Clone, Copy)]
pub(crate) struct Scan<'s> {
    pub(crate) words: &'s Words,
    pub(crate) redactor: &'s Redactor,
    /// Key of the tenant.
    pub(crate) key: &'s [u8; 32],
}

/// Decodes the documents among some events of a session, on all cores.
pub(crate) fn facts_of(
    engine: &Engine,
    stream: &StreamId,
    rows: &[StoredEvent],
) -> Result<Vec<PlacedFact>, Error> {
    let facts = parallel::map(rows.chunks(SHARE).collect(), |share: &[StoredEvent]| {
        let mut facts = Vec::with_capacity(share.len());
        for row in share.iter().filter(|row| is_document(&row.kind)) {
            let place = EventPlace { stream: row.stream, seq: row.seq, at: row.at };
            facts.extend(decode_event(engine, stream, row)?.fact.map(|fact| (place, fact)));
        }
        Ok(facts)
    })?;
    Ok(facts.into_iter().flatten().collect())
}

impl Scan<'_> {
    /// Scans documents, oldest first, on all cores.
    pub(crate) fn documents(self, documents: &[Document<'_>], bodies: LongBodies<'_>) -> Result<Tail, Error> {
        let shares = documents.chunks(SHARE).collect();
        self.join(parallel::map(shares, |share: &[Document<'_>]| self.share(share, bodies))?)
    }

    /// Joins scans of documents, oldest first.
    pub(crate) fn join(self, tails: Vec<Tail>) -> Result<Tail, Error> {
        Tail::join(self.words, tails).map_err(|error| Error::Query(error.to_string()))
    }

    fn share(self, share: &[Document<'_>], bodies: LongBodies<'_>) -> Result<Tail, Error> {
        let mut unpacker = Unpacker::default();
        let mut writer = TailWriter::of(self.words);
        for document in share {
            let voice = document.voice();
            for DocumentText { body, is_said } in &document.texts {
                let text = match (body, bodies) {
                    (Body::Inline(text), _) => Some(&**text),
                    (Body::Blob { blob, .. }, LongBodies::Texts(texts)) => texts.text(*blob),
                    (Body::Blob { blob, .. }, LongBodies::Packed(packed)) => match packed.get(blob) {
                        // The next body is unpacked to the same memory.
                        Some(blob) => Some(utf8(unpacker.body(self.key, blob)?)?),
                        None => None,
                    },
                };
                let Some(text) = text else { continue };
                let text = self.redactor.redact_keyed(self.key, text).text;
                match is_said {
                    true => writer.add_spoken(&voice, &text),
                    false => writer.add_text(&text),
                }
            }
            writer.end_document(document.key);
        }
        Ok(writer.finish())
    }
}
