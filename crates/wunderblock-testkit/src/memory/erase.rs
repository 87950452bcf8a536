//! Erasure in memory: events, bodies, bytes of revisions, and the list of erasures.

use super::rows::{LedgerTables, MarkKey, SourceTables, within};
use super::sources::note_erased;
use std::collections::{BTreeMap, BTreeSet};
use wunderblock_core::id::{Handle, Scope, StreamId};
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_store::{
    Chunk, Erasure, Gone, LostEvent, SourceNo, SourceSpan, StoreError, StoredEvent, StreamNo, TenantNo,
    Written, codec,
};

impl LedgerTables {
    /// Records erasures of sessions.
    pub(super) fn note_erasures(&mut self, tenant: TenantNo, erasures: Vec<Erasure>) {
        for Erasure { session, what } in erasures {
            self.erasures.put((tenant, session, what), ());
        }
    }

    pub(super) fn erase(
        &mut self,
        tenant: TenantNo,
        stream: &StreamId,
        events: Vec<LostEvent>,
        spans: &[SourceSpan],
    ) -> Result<Written, StoreError> {
        // Without positions, the stream is not used, so an unknown stream is not an error.
        let lineage =
            if events.is_empty() { Vec::new() } else { self.lineage(self.must_find(tenant, stream)?) };
        let (mut count, mut blobs) = (0, 0);
        let mut changed: BTreeSet<StreamNo> = BTreeSet::new();
        for lost in events {
            let seq = lost.seq;
            let Some(part) = lineage.iter().find_map(|span| within(span, seq, seq)) else { continue };
            let key = (part.no, seq);
            self.forget_records(tenant, key.0, key.1);
            let Some(mut row) = self.events.get(&key).filter(|row| row.event.payload.is_some()).cloned()
            else {
                continue;
            };
            changed.insert(key.0);
            self.strip(tenant, &mut row.event, lost);
            (row.facets.tool, row.facets.path) = (None, None);
            for handle in std::mem::take(&mut row.blobs) {
                self.refs.remove(&(tenant, handle, key.0, seq));
                blobs += u64::from(self.drop_unheld(tenant, handle));
            }
            self.forget_facets(key.0, key.1, &row.event.kind);
            self.events.put(key, row);
            self.losses.put((tenant, self.epoch(tenant).no + 1, key.0, seq), ());
            count += 1;
        }
        changed.into_iter().for_each(|stream| self.forget_model(stream));
        let source_bytes = self.sources.overwrite_all(tenant, spans)?;
        Ok(Written::Erased { events: count, blobs, source_bytes: Bytes(source_bytes) })
    }

    /// Removes the content of an event except for its rest, and hashes its id.
    fn strip(&mut self, tenant: TenantNo, event: &mut StoredEvent, lost: LostEvent) {
        let stream = event.stream;
        self.event_ids.remove(&(stream, event.id.clone()));
        event.id = codec::erased_id(&self.key_of(tenant), &event.id);
        self.event_ids.put((stream, event.id.clone()), event.seq);
        if let Some(lane) = event.lane.take_if(|_| lost.rest.is_none()) {
            let is_its = |key: &MarkKey| matches!(key, MarkKey::OfLane(_, of) if *of == lane);
            let start = (stream, MarkKey::System, Seq::START);
            let marks = self.marked.range(start..).map(|(key, ())| key).take_while(|key| key.0 == stream);
            let keys = marks.filter(|(_, key, seq)| *seq == event.seq && is_its(key));
            for key in keys.cloned().collect::<Vec<_>>() {
                self.marked.remove(&key);
            }
        }
        event.origin.take_if(|_| lost.rest.is_none());
        event.authors = None;
        let origin = event.origin.as_deref();
        event.checksum = lost
            .rest
            .as_ref()
            .map(|rest| codec::record_checksum(&rest.payload, origin, &event.id, event.at, &event.kind));
        event.proof =
            lost.rest.as_ref().map(|rest| (rest.salt, codec::commitment(&rest.salt, &rest.content)));
        event.payload = lost.rest.map(|rest| rest.payload);
    }

    /// Sets the model of a stream to that of its latest reply that is not erased.
    fn forget_model(&mut self, stream: StreamNo) {
        let own = self.events.range((stream, Seq::START)..=(stream, Seq(u64::MAX)));
        let mut models =
            own.rev().filter_map(|(_, row)| codec::model_of(&row.event.kind, row.event.payload.as_deref()?));
        let model = models.next();
        drop(models);
        self.streams.change(&stream, |row| row.info.model = model.filter(|_| row.info.model.is_some()));
    }

    /// Removes what an erased event said about its whole session.
    fn forget_facets(&mut self, stream: StreamNo, seq: Seq, kind: &str) {
        match kind {
            "session.opened" => {
                self.streams.change(&stream, |row| {
                    (row.info.scope, row.info.branch) = (Scope::default(), None);
                });
            }
            "session.described" | "document.indexed" | "document.removed" => {
                self.streams.change(&stream, |row| (row.info.title, row.info.tags) = (None, Vec::new()));
            }
            "usage.measured" => {
                let own = self.usage.range((stream, Box::from(""))..).take_while(|(key, _)| key.0 == stream);
                let key = own.into_iter().find(|(_, row)| row.seq == seq).map(|(key, _)| key.clone());
                key.iter().for_each(|key| {
                    self.usage.remove(key);
                });
            }
            _ => {}
        }
    }

    /// Removes the content keys under which records without ids are found at a position.
    fn forget_records(&mut self, tenant: TenantNo, stream: StreamNo, seq: Seq) {
        let all = (tenant, i64::MIN, StreamNo(0))..=(tenant, i64::MAX, StreamNo(u32::MAX));
        let gone = self
            .records
            .range(all)
            .filter(|((_, record, of), at)| codec::is_nameless(*record) && (*of, **at) == (stream, seq));
        let gone: Vec<_> = gone.map(|(key, _)| *key).collect();
        gone.iter().for_each(|key| {
            self.records.remove(key);
        });
    }

    /// Erasures of sessions, in the given order, or of all sessions if none is given.
    pub(super) fn erasures(&self, tenant: TenantNo, mut sessions: Vec<String>) -> Vec<Erasure> {
        if sessions.is_empty() {
            let rows = self.erasures.range((tenant, String::new(), Gone::Session)..);
            let own = rows.take_while(|((owner, ..), ())| *owner == tenant);
            sessions = own.map(|((_, session, _), ())| session.clone()).collect();
            sessions.dedup();
        }
        sessions.into_iter().flat_map(|session| self.erasures_of(tenant, session)).collect()
    }

    /// Erasures of events and records with given ids.
    pub(super) fn erased(&self, tenant: TenantNo, names: &[String]) -> Vec<Erasure> {
        let of = |name: &String| {
            let rows = self.erasures.range((tenant, String::new(), Gone::Session)..);
            let own = rows.take_while(|((owner, ..), ())| *owner == tenant);
            let named = own
                .filter(|((.., what), ())| matches!(what, Gone::Event(id) | Gone::Record(id) if id == name));
            named
                .map(|((_, session, what), ())| Erasure { session: session.clone(), what: what.clone() })
                .collect::<Vec<_>>()
        };
        names.iter().flat_map(of).collect()
    }

    /// Erasures of a session, sorted, with the erasure of the session itself first.
    fn erasures_of(&self, tenant: TenantNo, session: String) -> Vec<Erasure> {
        let rows = self.erasures.range((tenant, session.clone(), Gone::Session)..);
        let own = rows.take_while(|((owner, name, _), ())| *owner == tenant && *name == session);
        own.map(|((.., what), ())| Erasure { session: session.clone(), what: what.clone() }).collect()
    }

    /// Removes a body if no event contains it any more. Returns whether the body was removed.
    fn drop_unheld(&mut self, tenant: TenantNo, handle: Handle) -> bool {
        let first = (tenant, handle, StreamNo(0), Seq(0));
        let held =
            self.refs.range(first..).next().is_some_and(|(key, ())| (key.0, key.1) == (tenant, handle));
        if held || !self.blobs.remove(&(tenant, handle)) {
            return false;
        }
        self.counts.remove(&(tenant, handle));
        true
    }
}

impl SourceTables {
    /// Overwrites spans with spaces, each in its own revision. Returns the number of overwritten bytes.
    pub(super) fn overwrite_all(&mut self, tenant: TenantNo, all: &[SourceSpan]) -> Result<u64, StoreError> {
        let mut by_revision: BTreeMap<(SourceNo, u32), Vec<(u64, u64)>> = BTreeMap::new();
        for span in all {
            let Some(no) = self.handles.get(&(tenant, span.source)) else { continue };
            let range = (span.offset, span.offset.saturating_add(span.len));
            by_revision.entry((*no, span.revision)).or_default().push(range);
        }
        let mut erased = 0;
        for (place, mut ranges) in by_revision {
            let Some(len) = self.revisions.get(&place).map(|row| row.len) else { continue };
            ranges.iter_mut().for_each(|range| range.1 = range.1.min(len));
            ranges.retain(|(from, to)| from < to);
            for range in &ranges {
                erased += self.blank(place.0, place.1, range.0, range.1)?;
            }
            self.revisions.change(&place, |row| {
                ranges.iter().for_each(|(from, to)| note_erased(row, *from, *to));
            });
            // The saved reader states of the revision and of later ones may contain some of the erased bytes.
            let readers = self.revisions.range(place..=(place.0, u32::MAX));
            let readers: Vec<_> = readers.map(|(key, _)| *key).collect();
            readers.iter().for_each(|key| self.revisions.change(key, |row| row.reader = None));
        }
        Ok(erased)
    }

    fn blank(&mut self, no: SourceNo, revision: u32, from: u64, to: u64) -> Result<u64, StoreError> {
        let rows = self.chunks.range((no, revision, 0)..(no, revision, to));
        let overlaps = |offset: u64, len: u64| offset.saturating_add(len) > from;
        let keys: Vec<_> =
            rows.filter(|((.., offset), row)| overlaps(*offset, row.len)).map(|(key, _)| *key).collect();
        let mut erased = 0;
        for key in keys {
            let Some(row) = self.chunks.get(&key) else { continue };
            let mut plain =
                codec::unpack(&row.data).map_err(|error| StoreError::Damaged(error.to_string()))?;
            let last = plain.len();
            let place = |at: u64| usize::try_from(at.saturating_sub(key.2)).unwrap_or(usize::MAX).min(last);
            if let Some(gone) = plain.get_mut(place(from)..place(to)) {
                gone.fill(b' ');
                erased += gone.len() as u64;
            }
            let packed = codec::pack_chunk(key.2, &plain);
            let (data, checksum) = (packed.data, Some(packed.checksum));
            self.chunks.put(key, Chunk { offset: key.2, len: row.len, data, checksum });
        }
        Ok(erased)
    }
}
