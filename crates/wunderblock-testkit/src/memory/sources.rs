//! Imported sources in memory: revisions, chunks, and erasing.

use super::rows::{ChunkRow, RevisionRow, SourceRow, State};
use super::write::next_no;
use std::collections::BTreeSet;
use wunderblock::store::REPEATED_MIN;
use wunderblock::store::codec;
use wunderblock::store::{Chunk, SourceInfo, SourceNo, SourceSpan, StoreError, TenantNo, Written};
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::units::{Bytes, Seq};

impl State {
    pub(super) fn begin_revision(
        &mut self,
        key: (TenantNo, String),
        handle: Handle,
        format: String,
        shared: u64,
    ) -> Written {
        let no = self.source_keys.get(&key).copied().unwrap_or_else(|| self.new_source(key, handle));
        let Some(mut row) = self.sources.get(&no).cloned() else { return Written::Done };
        if row.newest > row.complete {
            // It was begun and never ended: nobody may count on its bytes.
            self.chunks.clear((no, row.newest, 0)..=(no, row.newest, u64::MAX));
        }
        let before = self.revisions.get(&(no, row.complete)).map_or(0, |revision| revision.len);
        row.newest = row.complete.saturating_add(1);
        row.format = format;
        let revision = RevisionRow { shared: shared.min(before), len: 0, hash: [0; 32] };
        self.revisions.put((no, row.newest), revision);
        let newest = row.newest;
        self.sources.put(no, row);
        Written::Source(no, newest)
    }

    fn new_source(&mut self, key: (TenantNo, String), handle: Handle) -> SourceNo {
        let no = SourceNo(next_no(self.sources.len()));
        let row = SourceRow {
            tenant: key.0,
            handle,
            key: key.1.clone(),
            format: String::new(),
            newest: 0,
            complete: 0,
            erased: false,
            leaf: None,
        };
        self.sources.put(no, row);
        if self.source_handles.get(&(key.0, handle)).is_none() {
            self.source_handles.put((key.0, handle), no);
        }
        self.source_keys.put(key, no);
        no
    }

    fn source_row(&self, no: SourceNo) -> Result<SourceRow, StoreError> {
        let row = self.sources.get(&no).cloned();
        row.ok_or_else(|| StoreError::Damaged(format!("there is no source {}", no.0)))
    }

    pub(super) fn chunk(
        &mut self,
        source: SourceNo,
        offset: u64,
        len: u64,
        data: Vec<u8>,
    ) -> Result<Written, StoreError> {
        let revision = self.source_row(source)?.unfinished()?;
        self.chunks.put((source, revision, offset), ChunkRow { len, data });
        Ok(Written::Done)
    }

    pub(super) fn end_revision(
        &mut self,
        source: SourceNo,
        len: u64,
        hash: [u8; 32],
    ) -> Result<Written, StoreError> {
        let mut row = self.source_row(source)?;
        row.complete = row.unfinished()?;
        self.revisions.change(&(source, row.complete), |revision| {
            revision.len = len;
            revision.hash = hash;
        });
        self.sources.put(source, row);
        Ok(Written::Done)
    }

    pub(super) fn leaf(&mut self, source: SourceNo, stream: StreamId) -> Result<Written, StoreError> {
        let mut row = self.source_row(source)?;
        row.leaf = Some(stream);
        self.sources.put(source, row);
        Ok(Written::Done)
    }

    pub(super) fn source_info(&self, tenant: TenantNo, no: SourceNo) -> Option<SourceInfo> {
        let row = self.sources.get(&no).filter(|row| row.tenant == tenant)?;
        let complete = self.revisions.get(&(no, row.complete));
        Some(SourceInfo {
            no,
            handle: row.handle,
            key: row.key.clone(),
            format: row.format.clone(),
            revision: row.complete,
            len: complete.map_or(0, |revision| revision.len),
            hash: complete.map_or([0; 32], |revision| revision.hash),
            erased: row.erased,
            leaf: row.leaf.clone(),
        })
    }

    /// Chunks of the newest complete revision that overlap a range, by offset; each older one as far as the newer share it.
    pub(super) fn source_chunks(&self, no: SourceNo, (from, to): (u64, u64), limit: usize) -> Vec<Chunk> {
        if from >= to {
            return Vec::new();
        }
        let mut chunks = Vec::new();
        let mut end = u64::MAX;
        for revision in (1..=self.sources.get(&no).map_or(0, |row| row.complete)).rev() {
            let Some(RevisionRow { shared, len, .. }) = self.revisions.get(&(no, revision)) else { break };
            end = end.min(*len);
            let to = to.min(end);
            // The last chunk that begins at or before the range may reach into it.
            let first = (no, revision, 0)..=(no, revision, from);
            let first = self.chunks.range(first).next_back().map_or(from, |((_, _, offset), _)| *offset);
            if first < to {
                let rows = self.chunks.range((no, revision, first)..(no, revision, to));
                chunks.extend(rows.filter_map(|((_, _, offset), row)| {
                    let len = row.len.min(end.saturating_sub(*offset));
                    let overlaps = len > 0 && offset.saturating_add(len) > from;
                    overlaps.then_some((*offset, len, &row.data))
                }));
            }
            end = end.min(*shared);
        }
        chunks.sort_by_key(|(offset, ..)| *offset);
        let cloned = |(offset, len, data): (u64, u64, &Vec<u8>)| Chunk { offset, len, data: data.clone() };
        chunks.into_iter().take(limit).map(cloned).collect()
    }

    pub(super) fn erase(
        &mut self,
        tenant: TenantNo,
        stream: &StreamId,
        seqs: Vec<Seq>,
        spans: &[SourceSpan],
    ) -> Result<Written, StoreError> {
        let lineage = self.lineage(self.must_find(tenant, stream)?);
        let (mut events, mut blobs) = (0, 0);
        for seq in BTreeSet::from_iter(seqs) {
            let part = lineage.iter().find_map(|span| span.within(seq, seq));
            let Some(key) = part.map(|part| (part.no, seq)) else { continue };
            let Some(mut row) = self.events.get(&key).filter(|row| row.payload.is_some()).cloned() else {
                continue;
            };
            row.payload = None;
            row.salt = None;
            row.origin = None;
            for handle in std::mem::take(&mut row.blobs) {
                self.refs.remove(&(tenant, handle, key.0, seq));
                blobs += u64::from(self.drop_unheld(tenant, handle));
            }
            self.events.put(key, row);
            events += 1;
        }
        let mut source_bytes = Bytes::ZERO;
        for span in spans {
            if let Some(no) = self.source_handles.get(&(tenant, span.source)).copied() {
                source_bytes += self.overwrite(no, span)?;
            }
        }
        Ok(Written::Erased { events, blobs, source_bytes })
    }

    /// Removes a body that no event holds any more, and says whether it did.
    fn drop_unheld(&mut self, tenant: TenantNo, handle: Handle) -> bool {
        let first = (tenant, handle, wunderblock::store::StreamNo(0), Seq(0));
        let held =
            self.refs.range(first..).next().is_some_and(|(key, ())| (key.0, key.1) == (tenant, handle));
        if held || !self.blobs.remove(&(tenant, handle)) {
            return false;
        }
        self.counts.remove(&(tenant, handle));
        true
    }

    /// Which revision holds which bytes of a revision: `(revision, from, to)`, the newest first.
    fn holders(&self, no: SourceNo, newest: u32) -> Vec<(u32, u64, u64)> {
        let mut holders = Vec::new();
        let complete = self.sources.get(&no).map_or(0, |row| row.complete);
        let mut end = u64::MAX;
        for revision in (1..=newest).rev() {
            let Some(RevisionRow { shared, len, .. }) = self.revisions.get(&(no, revision)) else { continue };
            // Of a revision that never ended, whatever has come belongs to it.
            let len = if revision > complete { u64::MAX } else { *len };
            holders.push((revision, *shared, end.min(len)));
            end = end.min(*shared);
        }
        holders.retain(|(_, from, to)| from < to);
        holders
    }

    /// Puts spaces over bytes as a revision has them, and over the same bytes where other revisions have them again.
    /// Says how many.
    fn overwrite(&mut self, no: SourceNo, span: &SourceSpan) -> Result<Bytes, StoreError> {
        let mut places: BTreeSet<(u32, u64, u64)> = BTreeSet::new();
        let range = |from: u64, len: u64| (from, from.saturating_add(len));
        self.note_holders(no, span.revision, range(span.offset, span.len), &mut places);
        let (from, to) = range(span.offset, span.len);
        let own = self.content(no, span.revision)?;
        let record: Vec<u8> =
            own.into_iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, byte)| byte).collect();
        if record.len() as u64 >= REPEATED_MIN && span.len < u64::MAX {
            let newest = self.sources.get(&no).map_or(0, |row| row.newest);
            for revision in (1..=newest).filter(|revision| *revision != span.revision) {
                let shared = self.revisions.get(&(no, revision)).map_or(0, |row| row.shared);
                let mut content = self.content(no, revision)?;
                content.retain(|(at, _)| at.saturating_add(record.len() as u64) > shared);
                let plain: Vec<u8> = content.iter().map(|(_, byte)| *byte).collect();
                let mut at = 0;
                while let Some(found) = find(plain.get(at..).unwrap_or_default(), &record) {
                    let first = content.get(at + found).map_or(0, |(offset, _)| *offset);
                    self.note_holders(no, revision, range(first, record.len() as u64), &mut places);
                    at += found + record.len();
                }
            }
        }
        let mut bytes = Bytes::ZERO;
        for (revision, from, to) in places {
            bytes += self.blank((no, revision), from, to)?;
        }
        if bytes > Bytes::ZERO {
            self.sources.change(&no, |row| row.erased = true);
        }
        Ok(bytes)
    }

    /// Notes which revisions hold which bytes of a range of one revision.
    fn note_holders(
        &self,
        no: SourceNo,
        revision: u32,
        (from, to): (u64, u64),
        places: &mut BTreeSet<(u32, u64, u64)>,
    ) {
        let holders = self.holders(no, revision).into_iter();
        let parts = holders.map(|(revision, begin, end)| (revision, from.max(begin), to.min(end)));
        places.extend(parts.filter(|(_, from, to)| from < to));
    }

    /// The bytes a revision has, with their offsets.
    fn content(&self, no: SourceNo, revision: u32) -> Result<Vec<(u64, u8)>, StoreError> {
        let mut content = Vec::new();
        for (holder, from, to) in self.holders(no, revision).into_iter().rev() {
            let own = self.own_bytes(no, holder)?;
            content.extend(own.into_iter().filter(|(at, _)| (from..to).contains(at)));
        }
        Ok(content)
    }

    /// The bytes a revision holds itself, with their offsets.
    fn own_bytes(&self, no: SourceNo, revision: u32) -> Result<Vec<(u64, u8)>, StoreError> {
        let mut bytes = Vec::new();
        for ((_, _, offset), row) in self.chunks.range((no, revision, 0)..=(no, revision, u64::MAX)) {
            bytes.extend((*offset..).zip(unpack(&row.data)?));
        }
        Ok(bytes)
    }

    fn blank(&mut self, (no, revision): (SourceNo, u32), from: u64, to: u64) -> Result<Bytes, StoreError> {
        let rows = self.chunks.range((no, revision, 0)..(no, revision, to));
        let overlaps = |offset: u64, len: u64| offset.saturating_add(len) > from;
        let keys: Vec<_> =
            rows.filter(|((_, _, offset), row)| overlaps(*offset, row.len)).map(|(key, _)| *key).collect();
        let mut bytes = 0;
        for key in keys {
            let Some(row) = self.chunks.get(&key) else { continue };
            let (mut plain, len) = (unpack(&row.data)?, row.len);
            let place =
                |at: u64| usize::try_from(at.saturating_sub(key.2)).unwrap_or(usize::MAX).min(plain.len());
            let (start, end) = (place(from), place(to));
            if let Some(gone) = plain.get_mut(start..end) {
                gone.fill(b' ');
                bytes += gone.len() as u64;
            }
            self.chunks.put(key, ChunkRow { len, data: codec::pack(&plain) });
        }
        Ok(Bytes(bytes))
    }
}

fn unpack(data: &[u8]) -> Result<Vec<u8>, StoreError> {
    codec::unpack(data).map_err(|error| StoreError::Damaged(error.to_string()))
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}
