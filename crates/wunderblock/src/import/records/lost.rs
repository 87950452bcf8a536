//! Content that was lost by erasure, as an import and a restore look it up.

use crate::import::records::name::event_id;
use std::collections::{BTreeMap, BTreeSet};
use wunderblock_core::id::EventId;
use wunderblock_store::{Erasure, Gone, codec};
use wunderblock_wire::transcript::TranscriptRecord;

/// Content that was lost by erasure, by session.
#[derive(Clone, Debug, Default)]
pub(crate) struct LostContent {
    key: [u8; 32],
    sessions: BTreeMap<String, Lost>,
}

/// Content that a session has lost by erasure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lost {
    key: [u8; 32],
    /// Whether the whole session was erased.
    pub(crate) whole: bool,
    /// Hashes of the ids of erased events.
    events: BTreeSet<String>,
    /// Hashes of the names of erased records of imported files.
    records: BTreeSet<String>,
}

impl LostContent {
    /// Groups recorded erasures by session.
    pub(crate) fn of(key: &[u8; 32], erasures: &[Erasure]) -> Self {
        let mut sessions: BTreeMap<String, Lost> = BTreeMap::new();
        for Erasure { session, what } in erasures {
            let lost = sessions.entry(hashed(key, session)).or_insert_with(|| Lost::none(key));
            lost.take(key, what);
        }
        Self { key: *key, sessions }
    }

    /// Returns whether nothing was lost.
    pub(crate) fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Returns what a session has lost.
    pub(crate) fn get(&self, session: &str) -> Option<&Lost> {
        if self.sessions.is_empty() {
            return None;
        }
        self.sessions.get(&codec::erased_name(&self.key, session))
    }
}

impl Lost {
    /// Returns what the given erasures, of one session or of all sessions, have removed.
    pub(crate) fn of(key: &[u8; 32], erasures: &[Erasure]) -> Self {
        let mut lost = Self::none(key);
        erasures.iter().for_each(|erasure| lost.take(key, &erasure.what));
        lost
    }

    fn none(key: &[u8; 32]) -> Self {
        Self { key: *key, ..Self::default() }
    }

    fn take(&mut self, key: &[u8; 32], what: &Gone) {
        match what {
            Gone::Session => self.whole = true,
            Gone::Event(id) => _ = self.events.insert(hashed(key, id)),
            Gone::Record(id) => _ = self.records.insert(hashed(key, id)),
        }
    }

    /// Adds what other erasures have removed.
    pub(crate) fn add(&mut self, other: Self) {
        if other.is_empty() {
            // It may have no key.
            return;
        }
        self.key = other.key;
        self.events.extend(other.events);
        self.records.extend(other.records);
    }

    /// Returns whether nothing was lost.
    pub(crate) fn is_empty(&self) -> bool {
        !self.whole && self.events.is_empty() && self.records.is_empty()
    }

    /// Returns whether events were erased.
    pub(crate) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Returns whether an event was erased.
    pub(crate) fn has_event(&self, id: &EventId) -> bool {
        self.has_events() && self.events.contains(&codec::erased_name(&self.key, id.as_str()))
    }

    /// Returns whether a record or one of its events was erased.
    pub(crate) fn has_record(&self, record: &TranscriptRecord, name: &str) -> bool {
        let mut ids = (0..=record.items.len()).filter_map(|number| event_id(name, number).ok());
        self.has_named(name) || self.has_events() && ids.any(|id| self.has_event(&id))
    }

    /// Returns whether a record with this name, or its first event, was erased.
    pub(crate) fn has_named(&self, name: &str) -> bool {
        if self.records.is_empty() && self.events.is_empty() {
            return false;
        }
        let name = codec::erased_name(&self.key, name);
        self.records.contains(&name) || self.events.contains(&name)
    }
}

/// Returns the erasure of an event.
pub(crate) fn gone_event(key: &[u8; 32], session: &str, id: &EventId) -> Erasure {
    let what = Gone::Event(codec::erased_name(key, id.as_str()));
    Erasure { session: codec::erased_name(key, session), what }
}

/// Returns the erasure of a record in imported files.
pub(crate) fn gone_record(key: &[u8; 32], session: &str, name: &str) -> Erasure {
    let what = Gone::Record(codec::erased_name(key, name));
    Erasure { session: codec::erased_name(key, session), what }
}

/// Returns the names under which the erasures of an id may be kept.
pub(crate) fn kept_as(key: &[u8; 32], id: String) -> [String; 2] {
    [codec::erased_name(key, &id), id]
}

/// Returns the hash of a kept name, which an earlier version did not hash.
fn hashed(key: &[u8; 32], name: &str) -> String {
    if codec::is_erased_name(name) { name.to_owned() } else { codec::erased_name(key, name) }
}
