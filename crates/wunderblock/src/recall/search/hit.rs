//! What a search finds.

use crate::ledger::engine::Engine;
use crate::ledger::kept_bytes::BytePlace;
use crate::ledger::reading::address::Address;
use serde::Serialize;
use std::collections::BTreeMap;
use wunderblock_core::event::{Event, EventSource, Fact};
use wunderblock_core::id::StreamId;
use wunderblock_core::message::{Body, Role};
use wunderblock_core::units::{Millis, Seq};
use wunderblock_index::{Arm, DocKey, HitStrength};
use wunderblock_store::codec::revision_handle;

/// Event that matches a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SearchHit {
    /// Session that contains the event.
    pub session: StreamId,
    /// Position of the event.
    pub seq: Seq,
    /// Time of the event.
    pub at: Millis,
    /// Role of the message; [`Role::System`] for a section of a document. Not serialised.
    #[serde(skip)]
    pub role: Role,
    /// Place in a document, if the event is a section of one; `session` is then the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<DocumentPlace>,
    /// Relevance: the sum over the arms. Zero if hits are sorted newest first.
    pub score: i64,
    /// Part of the score that each arm gave, by the name of the arm. Empty if hits are sorted newest first.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub arms: BTreeMap<&'static str, i64>,
    /// How well the message answers the query. Zero if hits are sorted newest first. Not serialised.
    #[serde(skip)]
    pub strength: HitStrength,
    /// Words of the query that the message contains. There may be none: then the messages around it contain them.
    pub matched: Vec<Box<str>>,
    /// Redacted text on one line: the passage that answers best, or in a tool's output what surrounds the first match.
    pub snippet: String,
    /// Place of the line with the most words of the query, if the text is kept as bytes: the output of a command, for
    /// which the message stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<BytePlace>,
}

impl SearchHit {
    /// Returns whether the event itself has words of the question, or parts of them, and not only its neighbours.
    #[must_use]
    pub fn has_words(&self) -> bool {
        !self.matched.is_empty() || self.strength.covered > 0
    }

    /// Returns the address of the hit, for [`crate::Recall::read`] and [`crate::Recall::expand`].
    #[must_use]
    pub fn address(&self, engine: &Engine) -> Address {
        Address::of_event(engine, &self.session, self.seq)
    }

    /// Returns what [`crate::Recall::read`] accepts as the place of the hit: the message, or bytes.
    #[must_use]
    pub fn readable(&self, engine: &Engine) -> String {
        match &self.document {
            Some(document) => document.address.clone(),
            None => self.place.map_or_else(|| self.address(engine).to_string(), |place| place.to_string()),
        }
    }
}

/// Place in a document that a person added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DocumentPlace {
    /// Path of the file.
    pub path: String,
    /// Headings above the text, outermost first, joined by ` › `. Redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// First and last line in the file, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u64, u64)>,
    /// Number of the page, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// What [`crate::Recall::read`] accepts as the place: lines of the original, or the text by its handle.
    pub address: String,
    /// The address with a short handle, for people. Not serialised.
    #[serde(skip)]
    pub short: String,
}

impl DocumentPlace {
    /// Returns the place of a section; `None` for another event. `text` returns the redacted text of a body.
    pub(crate) fn of(engine: &Engine, event: &Event, text: impl Fn(&Body) -> Option<String>) -> Option<Self> {
        let Some(Fact::DocumentSection(section)) = &event.fact else { return None };
        let EventSource::Import { source, revision, .. } = event.source else { return None };
        let (handle, lines) = match section.lines {
            Some((from, to)) => {
                let revision = revision_handle(&engine.tenant.key, source, revision);
                (revision, format!("#L{from}-{to}"))
            }
            None => (section.text.handle()?, String::new()),
        };
        Some(Self {
            path: section.path.to_string(),
            heading: section.heading.as_ref().and_then(text),
            lines: section.lines,
            page: section.page,
            address: format!("{handle}{lines}"),
            short: format!("{}{lines}", handle.short()),
        })
    }

    /// Returns the path with the lines or the page: `guide.md:10-40`, `manual.pdf, page 3`.
    #[must_use]
    pub fn name(&self) -> String {
        match (self.lines, self.page) {
            (Some((from, to)), _) => format!("{}:{from}-{to}", self.path),
            (None, Some(page)) => format!("{}, page {page}", self.path),
            (None, None) => self.path.clone(),
        }
    }
}

/// A document that matches.
pub(super) struct RankedHit {
    pub(super) doc: DocKey,
    /// Number of its best passage, if passages were ranked.
    pub(super) part: Option<u32>,
    pub(super) score: i64,
    pub(super) strength: HitStrength,
    pub(super) matched: Vec<Box<str>>,
    /// Part of the score that each arm gave, most important first.
    pub(super) arms: Vec<(Arm, i64)>,
}

impl RankedHit {
    /// Returns whether the document itself has words of the question, or parts of them.
    pub(super) fn has_words(&self) -> bool {
        // The inverse frequency of a word that is in most documents is zero.
        !self.matched.is_empty() || self.strength.covered > 0
    }
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchResult {
    /// Hits in the requested order.
    pub hits: Vec<SearchHit>,
    /// Number of messages that were scanned because they are not indexed yet.
    pub scanned: u64,
    /// Reason why hits may be missing.
    pub cut: Option<SearchCut>,
}

/// Reason why a search ended early, or compared less.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchCut {
    /// More messages wait for the index than a brief search scans.
    #[error("too many messages are not in the index yet")]
    NotIndexed,
    /// The deadline passed while texts that are not indexed were scanned.
    #[error("the search was given up before all texts that are not in the index were scanned")]
    Scanning,
    /// The deadline passed, or too many messages contain the words but not the phrases.
    #[error(
        "the search was given up after the {0} best messages that contain the words; most of them do not contain the \
         phrase"
    )]
    Candidates(u64),
    /// Too many messages wait for their vectors, so words alone were compared.
    #[error(
        "words alone were compared: too many messages wait for what tells their meaning, which is made in the background"
    )]
    Meaning,
    /// Vectors of this model were not compared, because no vector of the question could be made with it.
    #[error(
        "the meaning of some texts was not compared: their vectors are of the model `{model}`, and {why}"
    )]
    Embedder {
        /// Name of the model.
        model: Box<str>,
        /// Reason why there is no vector of the question.
        why: Box<str>,
    },
}
