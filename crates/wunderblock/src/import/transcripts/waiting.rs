//! Events that wait to be committed, and the batch being committed.

use crate::import::records::name::nameless;
use std::sync::Mutex;
use wunderblock_core::event::{EventSource, NewEvent};
use wunderblock_store::codec::nameless_key;
use wunderblock_store::{Answering, PackedEvent, Write, Written};

/// Events of one branch that wait to be committed.
pub(super) struct Waiting {
    pub(super) session: usize,
    pub(super) branch: usize,
    pub(super) events: Vec<NewEvent>,
    /// For each record that ends with an event: the event's index in `events`, and the hash of the record's id.
    pub(super) records: Vec<(usize, i64)>,
}

impl Waiting {
    /// Assigns each record to the packed event with which the record ends. `by_content` is the key for hashing
    /// records without ids.
    pub(super) fn name_records(&self, events: &mut [PackedEvent], by_content: Option<&[u8; 32]>) {
        for (index, record) in &self.records {
            if let Some(event) = events.get_mut(*index) {
                event.records.push(*record);
            }
        }
        let Some(key) = by_content else { return };
        for (event, packed) in self.events.iter().zip(events) {
            if let EventSource::Import { offset, .. } = event.source
                && event.id.as_str() == nameless(offset)
            {
                packed.records.push(nameless_key(key, offset, &packed.content));
            }
        }
    }

    /// Splits off the events from an index onwards.
    pub(super) fn split_off(&mut self, at: usize) -> Self {
        let events = self.events.split_off(at);
        let later = self.records.iter().filter(|(index, _)| *index >= at);
        let records = later.map(|(index, record)| (index - at, *record)).collect();
        self.records.retain(|(index, _)| *index < at);
        Self { session: self.session, branch: self.branch, events, records }
    }
}

/// A batch being committed, with the data needed to send it again in parts.
pub(super) struct Sent<'e> {
    /// Answer of the store. The mutex is never contended; it only makes the future shareable between threads while an
    /// import waits.
    pub(super) answer: Mutex<Answering<'e, Vec<Written>>>,
    pub(super) first: Vec<Write>,
    pub(super) batch: Vec<Waiting>,
}
