//! Scans documents that are not indexed for the terms of a query, in the way in which the index reads them.

use crate::base::error::Error;
use crate::base::parallel;
use crate::ledger::engine::Engine;
use crate::ledger::reading::stored::decode_event;
use crate::recall::document::{Document, DocumentText, EventPlace, PartCounter, is_document};
use std::collections::HashMap;
use wunderblock_core::event::Fact;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::message::Body;
use wunderblock_core::ports::Bodies;
use wunderblock_embed::{Table, Vector};
use wunderblock_index::{ParsedQuery as Words, PassageKey, Tail, TailWriter};
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

/// What is not known of the documents of a scan.
#[derive(Clone, Copy, Default)]
pub(crate) struct Lacking<'s> {
    /// Last position whose terms are known.
    pub(crate) indexed: u64,
    /// Meaning of the question, if it is compared, and the last position whose vectors are known.
    pub(crate) meaning: Option<(&'s Vector, u64)>,
}

/// Result of a scan.
pub(crate) struct Scanned {
    pub(crate) tail: Tail,
    /// Similarity to the question of passages without vectors.
    pub(crate) similar: Vec<(PassageKey, u16)>,
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
    pub(crate) fn documents(
        self,
        documents: &[Document<'_>],
        bodies: LongBodies<'_>,
        lacking: Lacking<'_>,
    ) -> Result<Scanned, Error> {
        let shares = documents.chunks(SHARE).collect();
        let scan = |share: &[Document<'_>]| self.share(share, bodies, lacking);
        let (mut tails, mut similar) = (Vec::new(), Vec::new());
        for one in parallel::map(shares, scan)? {
            tails.push(one.tail);
            similar.extend(one.similar);
        }
        Ok(Scanned { tail: self.join(tails)?, similar })
    }

    /// Joins scans of documents, oldest first.
    pub(crate) fn join(self, tails: Vec<Tail>) -> Result<Tail, Error> {
        Tail::join(self.words, tails).map_err(|error| Error::Query(error.to_string()))
    }

    fn share(
        self,
        share: &[Document<'_>],
        bodies: LongBodies<'_>,
        lacking: Lacking<'_>,
    ) -> Result<Scanned, Error> {
        let mut unpacker = Unpacker::default();
        let (mut writer, mut similar) = (TailWriter::of(self.words), Vec::new());
        for document in share {
            let (voice, doc, mut parts) = (document.voice(), document.key, PartCounter::default());
            let is_counted = doc.seq > lacking.indexed;
            let question =
                lacking.meaning.filter(|(_, known)| doc.seq > *known).map(|(question, _)| question);
            for DocumentText { body, is_said } in &document.texts {
                if !is_said {
                    parts.skip();
                }
                if !is_counted && (!is_said || question.is_none()) {
                    continue;
                }
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
                match (is_counted, is_said) {
                    (true, true) => writer.add_spoken(&voice, &text),
                    (true, false) => writer.add_text(&text),
                    (false, _) => {}
                }
                let Some(question) = question.filter(|_| *is_said) else { continue };
                for (part, passage) in parts.passages(&voice, &text) {
                    let vector = Table::embedded().vector(passage.text);
                    similar.extend(vector.map(|own| (PassageKey { doc, part }, question.similarity(&own))));
                }
            }
            if is_counted {
                writer.end_document(doc);
            }
        }
        Ok(Scanned { tail: writer.finish(), similar })
    }
}
