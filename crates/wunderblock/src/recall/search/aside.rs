//! Search in events that no index has, such as those of a lane in memory. They are ranked as a brief search ranks those
//! that wait for the index.

use super::hit::SearchHit;
use super::resolve::passage;
use crate::base::error::Error;
use crate::recall::document::{Document, DocumentKind, EventPlace};
use crate::recall::scan::{Lacking, LongBodies, Scan};
use std::collections::BTreeMap;
use std::convert::Infallible;
use wunderblock_core::event::Event;
use wunderblock_core::message::Body;
use wunderblock_core::ports::Bodies;
use wunderblock_index::{DocScope, PassageOrder, PassageSearch, Profiles, Question, SearchError, rank};
use wunderblock_redact::Redactor;
use wunderblock_store::StreamNo;

/// Events that no index has, and what is needed to search them.
pub(crate) struct Aside<'s> {
    pub(crate) events: &'s [Event],
    pub(crate) bodies: &'s dyn Bodies,
    pub(crate) redactor: &'s Redactor,
    /// Key of the tenant.
    pub(crate) key: &'s [u8; 32],
}

/// Returns the events that answer a question best, best first.
///
/// # Errors
/// Returns an error if the question has no searchable word.
pub(crate) fn search_aside<'s>(
    aside: &Aside<'s>,
    words: &str,
    limit: usize,
) -> Result<Vec<SearchHit>, Error> {
    let Aside { events, bodies, redactor, key } = *aside;
    let question = Question::from_text(words).map_err(|error| Error::Query(error.to_string()))?;
    let document = |event: &'s Event| {
        let place = EventPlace { stream: StreamNo(0), seq: event.seq, at: event.at };
        Document::of(place, event.fact.as_ref()?)
    };
    let documents: Vec<Document<'_>> = events.iter().filter_map(document).collect();
    let scan = Scan { words: question.query(), redactor, key };
    let tail = scan.documents(&documents, LongBodies::Texts(bodies), Lacking::default())?.tail;
    let text = |body: &'s Body| {
        let text = body.inline().or_else(|| bodies.text(body.handle()?))?;
        Some(redactor.redact_keyed(key, text).text)
    };
    let scope = DocScope::everything();
    let order = PassageOrder::of(&[], &scope).with_tail(&tail, &scope);
    let profiles = &Profiles::FITTED;
    let (question, order) = (&question, &order);
    let search = PassageSearch {
        question,
        order,
        similarity: None,
        profiles,
        windows: false,
        fill: 0,
        passing: None,
        limit,
    };
    let fetch = |_, _| Ok::<&[u8], Infallible>(&[]);
    let hits = rank(&search, &[], Some(&tail), fetch).map_err(|error| match error {
        SearchError::Segment(error) => Error::Index(error),
        SearchError::Source(never) => match never {},
    })?;
    let hit = |hit: wunderblock_index::PassageHit| {
        let at = |document: &Document<'_>| document.key.seq;
        let document = documents.get(documents.binary_search_by_key(&hit.doc.seq, at).ok()?)?;
        let event = events.get(events.binary_search_by_key(&hit.doc.seq, |event| event.seq.0).ok()?)?;
        let DocumentKind::Message(role) = document.kind else { return None };
        Some(SearchHit {
            session: event.stream.clone(),
            seq: event.seq,
            at: event.at,
            role,
            document: None,
            score: hit.score,
            arms: BTreeMap::new(),
            strength: hit.strength,
            snippet: passage(document, hit.part, text)?,
            place: None,
            matched: hit.matched,
        })
    };
    Ok(hits.into_iter().filter_map(hit).collect())
}
