//! What commits were made from, compared with the ledger in memory.

use super::rows::{LedgerTables, within};
use wunderblock_core::id::StreamId;
use wunderblock_core::units::Seq;
use wunderblock_store::{Basis, Epoch, Seen, SeenStream, StoreError, StreamNo, TenantNo};

impl LedgerTables {
    pub(super) fn epoch(&self, tenant: TenantNo) -> Epoch {
        Epoch { tenant, no: self.epochs.get(&tenant).copied().unwrap_or_default() }
    }

    /// Counts an erasure of a tenant's content.
    pub(super) fn begin_epoch(&mut self, tenant: TenantNo) {
        let next = self.epoch(tenant).no + 1;
        self.epochs.put(tenant, next);
    }

    /// Returns whether a position of a range lost content after an epoch.
    pub(super) fn lost(
        &self,
        since: Epoch,
        stream: &StreamId,
        from: Seq,
        to: Seq,
    ) -> Result<bool, StoreError> {
        let lineage = self.lineage(self.must_find(since.tenant, stream)?);
        let parts: Vec<_> = lineage.iter().filter_map(|part| within(part, from, to)).collect();
        let later = (since.tenant, since.no + 1, StreamNo(0), Seq(0))
            ..=(since.tenant, u64::MAX, StreamNo(u32::MAX), Seq(u64::MAX));
        let is_inside = |no: StreamNo, seq: Seq| {
            parts.iter().any(|part| part.no == no && part.from <= seq && seq <= part.to)
        };
        Ok(self.losses.range(later).any(|((.., stream, seq), ())| is_inside(*stream, *seq)))
    }

    /// Fails if something has happened since the snapshot of a basis that its writes must not ignore.
    pub(super) fn holds(&self, basis: &Basis) -> Result<(), StoreError> {
        match basis {
            Basis::Raw => Ok(()),
            Basis::Derived(epoch) => self.is_current(*epoch),
            Basis::Seen(seen) => self.is_all(seen),
        }
    }

    fn is_current(&self, epoch: Epoch) -> Result<(), StoreError> {
        let (expected, actual) = (epoch.no, self.epoch(epoch.tenant).no);
        if expected == actual { Ok(()) } else { Err(StoreError::EpochMoved { expected, actual }) }
    }

    fn is_all(&self, seen: &Seen) -> Result<(), StoreError> {
        let tenant = seen.epoch.tenant;
        self.is_current(seen.epoch)?;
        let streams = self.streams.values().filter(|row| row.tenant == tenant);
        let number = |no: Option<StreamNo>| no.map_or(0, |no| no.0.into());
        same(number(seen.newest), number(streams.map(|row| row.info.no).max()))?;
        let segments = self.segments.range((tenant, 0)..=(tenant, u64::MAX));
        same(seen.segment, segments.map(|((_, no), _)| *no).max().unwrap_or_default())?;
        for SeenStream { stream, head, links } in &seen.streams {
            let no = self.must_find(tenant, stream)?;
            same(head.0, self.streams.get(&no).map_or(0, |row| row.info.head.0))?;
            same(*links, self.sources.links_of(no).len() as u64)?;
        }
        for (source, revision, len) in &seen.sources {
            if let Some(until) = self.sources.held(*source, seen.now) {
                return Err(StoreError::Held { until });
            }
            let newest = self.sources.sources.get(source).filter(|row| row.newest == *revision);
            let there = newest.and_then(|_| self.sources.revisions.get(&(*source, *revision)));
            same(*len, there.map_or(0, |row| row.len))?;
        }
        Ok(())
    }
}

fn same(expected: u64, actual: u64) -> Result<(), StoreError> {
    let moved = StoreError::HeadMoved { expected: Seq(expected), actual: Seq(actual) };
    if expected == actual { Ok(()) } else { Err(moved) }
}
