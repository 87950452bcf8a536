//! What a search finds.

use crate::ledger::engine::Engine;
use crate::ledger::kept_bytes::BytePlace;
use crate::ledger::reading::address::Address;
use serde::Serialize;
use std::collections::BTreeMap;
use wunderblock_core::id::StreamId;
use wunderblock_core::message::Role;
use wunderblock_core::units::{Millis, Seq};
use wunderblock_index::{Arm, DocKey, HitStrength};

/// Event that matches a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SearchHit {
    /// Session that contains the event.
    pub session: StreamId,
    /// Position of the event.
    pub seq: Seq,
    /// Time of the event.
    pub at: Millis,
    /// Role of the message. Not serialised.
    #[serde(skip)]
    pub role: Role,
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
        self.place.map_or_else(|| self.address(engine).to_string(), |place| place.to_string())
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

/// Reason why a search ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchCut {
    /// The deadline passed while texts that are not indexed were scanned.
    #[error("the search was given up before all texts that are not in the index were scanned")]
    Scanning,
    /// The deadline passed, or too many messages contain the words but not the phrases, or do not pass the filter.
    #[error(
        "the search was given up after the {0} best messages that contain the words; most of them do not pass the \
         filter, or do not contain the phrase"
    )]
    Candidates(u64),
}
