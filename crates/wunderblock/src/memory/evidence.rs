//! Evidence: the words of a claim, looked up where the caller says that they are.

use super::new::{NewEvidence, NewMemory};
use super::value::digest;
use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::reading::stored::{decode_event, rows_at, with_whole_texts};
use std::collections::{BTreeMap, HashMap};
use wunderblock_core::author::Author;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::StreamId;
use wunderblock_core::memory::Evidence;
use wunderblock_core::message::{Body, Message, Part, Role};
use wunderblock_core::units::Seq;
use wunderblock_store::StoreError;

/// Maximum length of a quotation in bytes, and maximum number of them for a claim.
const MAX_QUOTE: usize = 4 << 10;
const MAX_PLACES: usize = 32;

/// Events that claims rest on, with their texts.
pub(super) struct Witnesses(HashMap<(StreamId, Seq), Event>);

impl Witnesses {
    /// Reads the events that items rest on. What is out of reach is not there.
    pub(super) async fn of(engine: &Engine, items: &[NewMemory]) -> Result<Self, Error> {
        let mut places: BTreeMap<&StreamId, Vec<Seq>> = BTreeMap::new();
        for evidence in items.iter().flat_map(|item| item.evidence.iter().take(MAX_PLACES)) {
            places.entry(&evidence.stream).or_default().push(evidence.seq);
        }
        let mut found = HashMap::new();
        for (stream, mut seqs) in places {
            seqs.sort_unstable();
            seqs.dedup();
            let rows = match rows_at(engine, stream, seqs).await {
                Err(Error::Store(StoreError::NoStream(_)) | Error::NoSession(_)) => continue,
                rows => rows?,
            };
            let events: Result<Vec<Event>, _> =
                rows.iter().map(|row| decode_event(engine, stream, row)).collect();
            for event in with_whole_texts(engine, events?).await? {
                found.insert((stream.clone(), event.seq), event);
            }
        }
        Ok(Self(found))
    }

    /// Returns the evidence of an item, or why it has none.
    pub(super) fn check(&self, engine: &Engine, stated: &[NewEvidence]) -> Result<Vec<Evidence>, String> {
        if stated.len() > MAX_PLACES {
            return Err(format!("it names {} places; the maximum is {MAX_PLACES}", stated.len()));
        }
        stated.iter().map(|one| self.check_one(engine, one)).collect()
    }

    fn check_one(&self, engine: &Engine, stated: &NewEvidence) -> Result<Evidence, String> {
        let NewEvidence { stream, seq, quote } = stated;
        let place = format!("position {seq} of `{stream}`");
        if quote.trim().is_empty() || quote.len() > MAX_QUOTE {
            return Err(format!("its evidence at {place} must quote 1 to {MAX_QUOTE} bytes"));
        }
        let event =
            self.0.get(&(stream.clone(), *seq)).ok_or_else(|| format!("there is no message at {place}"))?;
        let Some(Fact::MessageAppended(said)) = &event.fact else {
            return Err(format!("there is no message at {place}"));
        };
        let speaker =
            speaker(&said.message, quote).ok_or_else(|| format!("its words do not occur at {place}"))?;
        Ok(Evidence {
            stream: stream.clone(),
            seq: *seq,
            event: event.id.clone(),
            digest: digest(engine, "quote", quote).ok_or("its evidence has no word")?,
            quote: Body::Inline(quote.clone()),
            speaker,
        })
    }
}

/// Returns who wrote words of a message; `None` if they do not occur in it.
fn speaker(message: &Message, quote: &str) -> Option<Author> {
    for (place, part) in message.parts.iter().enumerate() {
        for (leaf, body) in part.leaves() {
            let Some(at) = body.inline().filter(|_| !leaf.is_data()).and_then(|text| text.find(quote)) else {
                continue;
            };
            let (from, to) = (at as u64, (at + quote.len()) as u64);
            return Some(match message.role {
                Role::Assistant if matches!(part, Part::Text { .. }) => Author::Model,
                Role::Assistant => Author::Tool,
                Role::Tool => Author::Tool,
                Role::System => Author::Harness,
                Role::User => {
                    let authors = message.authors.as_ref();
                    let span = authors.and_then(|authors| {
                        let covers = |span: &&wunderblock_core::author::AuthorSpan| {
                            span.part == place && span.from.0 < to && from < span.to.0
                        };
                        authors.spans.iter().find(covers).map(|span| span.by)
                    });
                    span.or(authors.map(|authors| authors.by)).unwrap_or(Author::Person)
                }
            });
        }
    }
    None
}
