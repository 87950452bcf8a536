//! Imported sources in memory: revisions, their chunks, and their owners.

use super::read::size;
use super::rows::{LedgerTables, SourceRow, SourceTables};
use super::write::next_no;
use std::ops::Range;
use wunderblock_core::id::Handle;
use wunderblock_core::units::Millis;
use wunderblock_store::{
    Answer, Begin, Chunk, PackedChunk, Query, Reach, RevisionInfo, SourceBy, SourceInfo, SourceNo,
    StoreError, StreamNo, TenantNo, Write, Written,
};

impl SourceTables {
    /// Returns until when an import owns a revision of a source, if that time is in the future.
    pub(super) fn held(&self, source: SourceNo, now: Millis) -> Option<Millis> {
        let revisions = self.revisions.range((source, 0)..=(source, u32::MAX));
        let owners = revisions.filter_map(|(_, revision)| Some(revision.owner.as_ref()?.until));
        owners.filter(|until| *until > now).max()
    }

    pub(super) fn take(&mut self, write: Write) -> Result<Written, StoreError> {
        let Write::Source { tenant, key, handle, format, begin, owner, now, takes_over } = write else {
            return Ok(Written::Done);
        };
        let key = (tenant, key);
        let no = self.keys.get(&key).copied();
        let newest = no.and_then(|no| Some((no, self.sources.get(&no)?.newest)));
        let row = newest.and_then(|newest| self.revisions.get(&newest));
        let held = row.and_then(|row| row.owner.as_ref()).filter(|held| held.token != owner.token);
        if let Some(until) = held.map(|held| held.until).filter(|until| *until > now && !takes_over) {
            return Err(StoreError::Held { until });
        }
        match begin {
            Begin::Grow { revision, len } => {
                let there = newest.zip(row.map(|row| row.len));
                let Some((place, _)) = there.filter(|(place, there)| (place.1, *there) == (revision, len))
                else {
                    return Err(StoreError::SourceMoved);
                };
                self.revisions.change(&place, |row| {
                    row.owner = Some(owner);
                    row.whole = false;
                });
                Ok(Written::Source(place.0, revision))
            }
            Begin::New { after, .. } if newest.map_or(0, |newest| newest.1) != after => {
                Err(StoreError::SourceMoved)
            }
            Begin::New { after, handle: revision } => {
                let no = no.unwrap_or_else(|| self.new_source(key.0, key.1, handle));
                let new = RevisionInfo {
                    no: after.saturating_add(1),
                    handle: revision,
                    format,
                    shared: 0,
                    len: 0,
                    whole: false,
                    owner: Some(owner),
                    hash: None,
                    erased: Vec::new(),
                    leaf: None,
                    modified: None,
                    reader: None,
                };
                let revision = new.no;
                self.begin_revision(tenant, no, after, new);
                Ok(Written::Source(no, revision))
            }
        }
    }

    fn new_source(&mut self, tenant: TenantNo, key: String, handle: Handle) -> SourceNo {
        let no = SourceNo(next_no(self.sources.len()));
        self.sources.put(no, SourceRow { tenant, handle, key: key.clone(), newest: 0 });
        self.handles.put_new((tenant, handle), no);
        self.keys.put((tenant, key), no);
        no
    }

    fn begin_revision(&mut self, tenant: TenantNo, no: SourceNo, after: u32, row: RevisionInfo) {
        let (handle, newest) = (row.handle, row.no);
        self.sources.change(&no, |row| row.newest = newest);
        // A revision that was given up is not whole and no longer has an owner.
        self.revisions.change(&(no, after), |row| row.owner = None);
        self.revisions.put((no, newest), row);
        self.revision_handles.put_new((tenant, handle), (no, newest));
    }

    /// Returns a revision if `token` owns it.
    fn owned(&self, no: SourceNo, revision: u32, token: &str) -> Result<RevisionInfo, StoreError> {
        let owns = |row: &&RevisionInfo| row.owner.as_ref().is_some_and(|owner| owner.token == token);
        self.revisions.get(&(no, revision)).filter(owns).cloned().ok_or(StoreError::Disowned)
    }

    pub(super) fn extend(&mut self, write: Write) -> Result<Written, StoreError> {
        let Write::Extend { source, revision, owner, from, chunks, erased } = write else {
            return Ok(Written::Done);
        };
        let mut row = self.owned(source, revision, &owner.token)?;
        if row.len != from {
            return Err(StoreError::SourceMoved);
        }
        for PackedChunk { offset, len, data, checksum } in chunks {
            if offset != row.len {
                return Err(StoreError::SourceMoved);
            }
            self.chunks
                .put((source, revision, offset), Chunk { offset, len, data, checksum: Some(checksum) });
            row.len = row.len.saturating_add(len);
        }
        erased.iter().for_each(|(from, to)| note_erased(&mut row, *from, *to));
        row.owner = Some(owner);
        self.revisions.put((source, revision), row);
        Ok(Written::Done)
    }

    pub(super) fn whole(&mut self, write: Write) -> Result<Written, StoreError> {
        let Write::Whole { source, revision, token, modified, reader, leaf } = write else {
            return Ok(Written::Done);
        };
        let mut row = self.owned(source, revision, &token)?;
        row.whole = true;
        row.owner = None;
        row.modified = modified;
        row.reader = reader;
        row.leaf = leaf.or(row.leaf);
        self.revisions.put((source, revision), row);
        Ok(Written::Done)
    }

    pub(super) fn disown(&mut self, no: SourceNo, revision: u32, token: &str) -> Written {
        if self.owned(no, revision, token).is_ok() {
            self.revisions.change(&(no, revision), |row| row.owner = None);
        }
        Written::Done
    }

    /// Links a stream to a revision. Linking the stream to the same revision again makes this link the latest one.
    pub(super) fn link(&mut self, tenant: TenantNo, stream: StreamNo, source: SourceNo, revision: u32) {
        let place = (source, revision);
        if self.sources.get(&source).is_none_or(|row| row.tenant != tenant) {
            return;
        }
        let before = self.links.range((stream, 0)..=(stream, u64::MAX)).find(|(_, link)| **link == place);
        if let Some(key) = before.map(|(key, _)| *key) {
            self.links.remove(&key);
        }
        let next = self.links.range(..).map(|((_, link), _)| link + 1).max().unwrap_or_default();
        self.links.put((stream, next), place);
    }

    /// Revisions a stream was read from, the latest link last.
    pub(super) fn links_of(&self, stream: StreamNo) -> Vec<(SourceNo, u32)> {
        self.links.range((stream, 0)..=(stream, u64::MAX)).map(|(_, link)| *link).collect()
    }

    pub(super) fn info(&self, tenant: TenantNo, no: SourceNo, revision: Option<u32>) -> Option<SourceInfo> {
        let source = self.sources.get(&no).filter(|row| row.tenant == tenant)?;
        let revision = self.revisions.get(&(no, revision.unwrap_or(source.newest)))?.clone();
        Some(SourceInfo { no, handle: source.handle, key: source.key.clone(), revision })
    }

    /// A source as lists contain it: without the reader's state.
    fn listed(&self, tenant: TenantNo, no: SourceNo, revision: Option<u32>) -> Option<SourceInfo> {
        let mut info = self.info(tenant, no, revision)?;
        info.revision.reader = None;
        Some(info)
    }

    /// Chunks of a revision that overlap a range of bytes, sorted by offset.
    fn chunks_of(&self, no: SourceNo, revision: u32, range: Range<u64>, limit: usize) -> Vec<Chunk> {
        let Range { start: from, end: to } = range;
        if from >= to {
            return Vec::new();
        }
        let rows = self.chunks.range((no, revision, 0)..(no, revision, to));
        let overlapping = rows.filter(|((.., offset), row)| offset.saturating_add(row.len) > from);
        overlapping.map(|(_, chunk)| chunk.clone()).take(limit).collect()
    }
}

impl LedgerTables {
    /// Answers queries about sources and about the streams that were read from them.
    pub(super) fn of_sources(&self, reach: &Reach, query: Query) -> Answer {
        match query {
            Query::Source { tenant, by, revision } => {
                let no = match by {
                    SourceBy::Key(key) => self.sources.keys.get(&(tenant, key)).copied(),
                    SourceBy::No(no) => Some(no),
                };
                let no = no.filter(|no| self.is_source_seen(reach, *no));
                Answer::Source(no.and_then(|no| self.sources.info(tenant, no, revision)).map(Box::new))
            }
            Query::SourcesOf { tenant, stream } => {
                let links =
                    self.stream_no(tenant, &stream).map(|no| self.sources.links_of(no)).unwrap_or_default();
                let info = |(no, revision)| self.sources.listed(tenant, no, Some(revision));
                Answer::Sources(links.into_iter().filter_map(info).collect())
            }
            Query::ReadFrom { tenant, source, revision } => {
                let wanted = |link: &(SourceNo, u32)| {
                    link.0 == source && revision.is_none_or(|revision| revision == link.1)
                };
                let mut streams = self.streams_with(reach, tenant, "");
                streams.retain(|info| self.sources.links_of(info.no).iter().any(wanted));
                streams.sort_by_key(|info| info.no);
                Answer::Streams(streams)
            }
            Query::Sources { tenant, filter } => {
                let all = self.sources.sources.range(SourceNo(0)..);
                let newest = all.filter_map(|(no, _)| self.sources.info(tenant, *no, None));
                let all = newest.flat_map(|newest| {
                    let first = if filter.older { 1 } else { newest.revision.no };
                    let info = move |revision| self.sources.listed(tenant, newest.no, Some(revision));
                    (first..=newest.revision.no).filter_map(info)
                });
                let is_wanted = |info: &SourceInfo| {
                    let is_seen = self.is_source_seen(reach, info.no);
                    is_seen && info.key.starts_with(&filter.prefix) && info.revision.len >= filter.min_len
                };
                Answer::Sources(all.filter(is_wanted).collect())
            }
            Query::Chunks { source, revision, from, to, limit } => {
                Answer::Chunks(self.sources.chunks_of(source, revision, from..to, size(limit)))
            }
            // Not reached: `answer` passes only the queries above.
            _ => Answer::Source(None),
        }
    }
}

/// Records a range of erased bytes, given by its first byte and the byte after its last. An existing range that
/// starts at the same byte is extended.
pub(super) fn note_erased(revision: &mut RevisionInfo, from: u64, to: u64) {
    match revision.erased.iter_mut().find(|range| range.0 == from) {
        Some(range) => range.1 = range.1.max(to),
        None => {
            revision.erased.push((from, to.max(from)));
            revision.erased.sort_unstable();
        }
    }
}
