//! Search in events that no index has, such as those of a lane in memory. They are ranked as a brief search ranks those
//! that wait for the index.

use super::hit::SearchHit;
use super::resolve::passage;
use crate::base::error::Error;
use crate::recall::document::{Document, DocumentKind, EventPlace};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::convert::Infallible;
use wunderblock_core::event::Event;
use wunderblock_core::message::Body;
use wunderblock_index::{
    DocScope, PassageOrder, PassageSearch, Profiles, Question, SearchError, TailWriter, rank,
};
use wunderblock_store::StreamNo;

/// Returns the events that answer a question best, best first. `text` returns the redacted text of a body.
///
/// # Errors
/// Returns an error if the question has no searchable word.
pub(crate) fn search_aside<'t>(
    words: &str,
    events: &'t [Event],
    text: impl Fn(&'t Body) -> Option<Cow<'t, str>>,
    limit: usize,
) -> Result<Vec<SearchHit>, Error> {
    let question = Question::from_text(words).map_err(|error| Error::Query(error.to_string()))?;
    let document = |event: &'t Event| {
        let place = EventPlace { stream: StreamNo(0), seq: event.seq, at: event.at };
        Some((event.seq, (Document::of(place, event.fact.as_ref()?)?, event)))
    };
    let documents: BTreeMap<_, _> = events.iter().filter_map(document).collect();
    let mut writer = TailWriter::of(question.query());
    for (document, _) in documents.values() {
        let voice = document.voice();
        for one in &document.texts {
            match text(one.body) {
                Some(text) if one.is_said => writer.add_spoken(&voice, &text),
                Some(text) => writer.add_text(&text),
                None => {}
            }
        }
        writer.end_document(document.key);
    }
    let (tail, scope) = (writer.finish(), DocScope::everything());
    let order = PassageOrder::of(&[], &scope).with_tail(&tail, &scope);
    let profiles = &Profiles::FITTED;
    let (question, order) = (&question, &order);
    let search =
        PassageSearch { question, order, similarity: None, profiles, windows: false, fill: 0, limit };
    let fetch = |_, _| Ok::<&[u8], Infallible>(&[]);
    let hits = rank(&search, &[], Some(&tail), fetch, |_| Ok(true)).map_err(|error| match error {
        SearchError::Segment(error) => Error::Index(error),
        SearchError::Source(never) => match never {},
    })?;
    let hit = |hit: wunderblock_index::PassageHit| {
        let (document, event) = documents.get(&wunderblock_core::units::Seq(hit.doc.seq))?;
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
            snippet: passage(document, hit.part, &text)?,
            place: None,
            matched: hit.matched,
        })
    };
    Ok(hits.into_iter().filter_map(hit).collect())
}
