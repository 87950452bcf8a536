//! Turns hits into what a caller sees: the event, its session, and a part of its text.

use super::hit::{DocumentPlace, RankedHit, SearchHit};
use super::kept_scan::KeptScan;
use super::snippet::{redacted, snippet};
use super::task::Task;
use crate::base::error::Error;
use crate::ledger::engine::{Engine, unexpected};
use crate::ledger::reading::stored::{decode_event, read_texts};
use crate::recall::document::{Document, DocumentKind, EventPlace, PartCounter};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use wunderblock_core::message::{Body, Role};
use wunderblock_core::ports::Bodies;
use wunderblock_core::stub::head;
use wunderblock_core::units::Seq;
use wunderblock_index::{DocKey, Phrase};
use wunderblock_store::{Answer, EventFilter, Query, StoredEvent, StreamInfo, StreamKind, StreamNo};

/// Events at places, and their streams.
pub(super) struct Rows {
    pub(super) streams: HashMap<StreamNo, StreamInfo>,
    pub(super) rows: HashMap<(u32, u64), StoredEvent>,
}

/// Reads the events at places.
pub(super) async fn read_rows(
    engine: &Engine,
    places: impl Iterator<Item = (StreamNo, Seq)>,
) -> Result<Rows, Error> {
    let mut by_stream: BTreeMap<StreamNo, Vec<Seq>> = BTreeMap::new();
    for (stream, seq) in places {
        by_stream.entry(stream).or_default().push(seq);
    }
    let tenant = engine.tenant.no;
    let query = Query::StreamsByNo { tenant, streams: by_stream.keys().copied().collect() };
    let streams = engine.ask(query, Answer::streams).await?;
    let streams: HashMap<StreamNo, StreamInfo> = streams.into_iter().map(|info| (info.no, info)).collect();
    let at = |(no, seqs)| {
        let (stream, filter) = (streams.get(&no)?.id.clone(), EventFilter::default());
        Some(Query::At { tenant, stream, seqs, filter })
    };
    let mut rows = HashMap::new();
    for answer in engine.storage.query(by_stream.into_iter().filter_map(at).collect()).await? {
        let found = answer.events().ok_or_else(unexpected)?;
        rows.extend(found.into_iter().map(|row| ((row.stream.0, row.seq.0), row)));
    }
    Ok(Rows { streams, rows })
}

/// Resolves hits to documents, and drops those that belong to an earlier version, or whose texts do not contain the phrases
/// of the query.
pub(super) async fn resolve(
    task: &Task<'_>,
    hits: Vec<RankedHit>,
    kept: &KeptScan,
) -> Result<Vec<(DocKey, SearchHit)>, Error> {
    let engine = task.engine;
    let places = hits.iter().map(|hit| (StreamNo(hit.doc.stream), Seq(hit.doc.seq)));
    let Rows { streams, rows } = read_rows(engine, places).await?;
    let facts =
        rows.values().filter_map(|row| decode_event(engine, &streams.get(&row.stream)?.id, row).ok()?.fact);
    let handles: Vec<_> = facts
        .flat_map(|fact| fact.bodies().into_iter().filter_map(|body| body.handle()).collect::<Vec<_>>())
        .collect();
    let texts = read_texts(engine, handles).await?;
    let phrases: Vec<(&Phrase, bool)> = task.words().phrases().collect();
    let is_in = |(number, phrase): (usize, &Phrase), key, spoken: &[Cow<'_, str>]| {
        spoken.iter().any(|text| phrase.is_in(text)) || kept.has_phrase(key, number)
    };
    let mut found = Vec::with_capacity(hits.len());
    for hit in hits {
        let (Some(row), Some(info)) =
            (rows.get(&(hit.doc.stream, hit.doc.seq)), streams.get(&StreamNo(hit.doc.stream)))
        else {
            continue;
        };
        if info.kind == StreamKind::Document && row.seq < info.said {
            continue;
        }
        let event = decode_event(engine, &info.id, row)?;
        let place = EventPlace { stream: row.stream, seq: row.seq, at: row.at };
        let document = event.fact.as_ref().and_then(|fact| Document::of(place, fact));
        let Some(document) = document else { continue };
        let spoken: Vec<&str> = document.texts.iter().filter_map(|text| texts.of(text.body)).collect();
        if !phrases.is_empty() {
            let spoken: Vec<_> = spoken.iter().map(|text| redacted(engine, text)).collect();
            let mut each = phrases.iter().enumerate();
            if !each.all(|(number, (phrase, wanted))| is_in((number, phrase), hit.doc, &spoken) == *wanted) {
                continue;
            }
        }
        let text = |body: &Body| texts.of(body).map(|text| redacted(engine, text).into_owned());
        let (role, place) = match document.kind {
            DocumentKind::Message(role) => (role, None),
            DocumentKind::Section => (Role::System, DocumentPlace::of(engine, &event, text)),
        };
        let spoken_text = |body| Some(redacted(engine, texts.of(body)?));
        let passage = hit.part.and_then(|part| passage(&document, part, spoken_text));
        let found_hit = SearchHit {
            session: info.id.clone(),
            seq: event.seq,
            at: event.at,
            role,
            document: place,
            score: hit.score,
            strength: hit.strength,
            arms: hit.arms.iter().map(|(arm, part)| (arm.name(), *part)).collect(),
            snippet: passage.unwrap_or_else(|| snippet(engine, &spoken, &hit.matched)),
            place: None,
            matched: hit.matched,
        };
        found.push((hit.doc, found_hit));
    }
    Ok(found)
}

/// Maximum number of bytes of a passage that are shown. A passage has at most 96 words, but a word may be long.
const PASSAGE_BYTES: usize = 1_200;

/// Returns a passage of a document on one line. `None` if the row is one of whole texts, or of the headings of a section.
/// The rows are counted as the index counts them. `text_of` returns the redacted text of a body.
pub(super) fn passage<'f>(
    document: &Document<'f>,
    part: u32,
    text_of: impl Fn(&'f Body) -> Option<Cow<'f, str>>,
) -> Option<String> {
    let mut parts = PartCounter::default();
    // The headings of a section are shown beside its text.
    let shown = if document.kind == DocumentKind::Section { 1 } else { document.texts.len() };
    for text in document.texts.iter().take(shown) {
        if !text.is_said {
            parts.skip();
            continue;
        }
        let Some(own) = text_of(text.body) else { continue };
        let found = parts.passages(&document.voice(), &own).find(|(number, _)| *number == part);
        if let Some((_, passage)) = found {
            let text: String = passage.text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            return Some(head(&line, PASSAGE_BYTES).to_owned());
        }
    }
    None
}
