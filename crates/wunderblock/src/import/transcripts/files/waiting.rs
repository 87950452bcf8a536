//! Events that wait to be committed, and the batch being committed.

use crate::import::records::name::nameless;
use std::sync::Mutex;
use wunderblock_core::event::{EventSource, NewEvent};
use wunderblock_store::codec::nameless_key;
use wunderblock_store::{Answering, PackedEvent, Write, Written};

/// Events of one branch that wait to be committed.
pub(in crate::import::transcripts) struct Waiting {
    pub(in crate::import::transcripts) session: usize,
    pub(in crate::import::transcripts) branch: usize,
    pub(in crate::import::transcripts) events: Vec<NewEvent>,
    /// For each record that ends with an event: the event's index in `events`, and the hash of the record's id.
    pub(in crate::import::transcripts) records: Vec<(usize, i64)>,
}

impl Waiting {
    /// Assigns each record to the packed event with which the record ends. `by_content` is the key for hashing
    /// records without ids.
    pub(in crate::import::transcripts) fn name_records(
        &self,
        events: &mut [PackedEvent],
        by_content: Option<&[u8; 32]>,
    ) {
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
    pub(in crate::import::transcripts) fn split_off(&mut self, at: usize) -> Self {
        let events = self.events.split_off(at);
        let later = self.records.iter().filter(|(index, _)| *index >= at);
        let records = later.map(|(index, record)| (index - at, *record)).collect();
        self.records.retain(|(index, _)| *index < at);
        Self { session: self.session, branch: self.branch, events, records }
    }
}

/// A batch being committed, with the data needed to send it again in parts.
pub(in crate::import::transcripts) struct Sent<'e> {
    /// Answer of the store. The mutex is never contended; it only makes the future shareable between threads while an
    /// import waits.
    pub(in crate::import::transcripts) answer: Mutex<Answering<'e, Vec<Written>>>,
    pub(in crate::import::transcripts) first: Vec<Write>,
    pub(in crate::import::transcripts) batch: Vec<Waiting>,
}
