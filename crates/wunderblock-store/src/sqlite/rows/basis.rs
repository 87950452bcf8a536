//! Epochs: where content was erased, and whether what a commit was made from has been erased.

use crate::row::{SourceNo, StreamNo, TenantNo};
use crate::sqlite::rows::lineage::Lineage;
use crate::sqlite::rows::streams;
use crate::sqlite::sql::{row, run};
use crate::{Basis, Commit, Epoch, Seen, SeenStream, StoreError};
use rusqlite::{Connection, params};
use wunderblock_core::id::StreamId;
use wunderblock_core::units::{Millis, Seq};

pub(in crate::sqlite) fn epoch(db: &Connection, tenant: TenantNo) -> Result<Epoch, StoreError> {
    let found = row(db, "SELECT epoch FROM tenants WHERE tenant = ?1", params![tenant.0], |row| row.get(0))?;
    let no = found.ok_or_else(|| StoreError::Damaged(format!("the tenant {} is unknown", tenant.0)))?;
    Ok(Epoch { tenant, no })
}

/// Returns whether a position of a range lost content after an epoch.
pub(in crate::sqlite) fn lost(
    db: &Connection,
    since: Epoch,
    stream: &StreamId,
    from: Seq,
    to: Seq,
) -> Result<bool, StoreError> {
    let sql =
        "SELECT 1 FROM losses WHERE tenant = ?1 AND epoch > ?2 AND stream = ?3 AND first <= ?5 AND last >= ?4
               LIMIT 1";
    for part in Lineage::of(db, since.tenant, stream)?.down_to(from)? {
        let (from, to) = (from.max(part.from), to.min(part.to));
        let values = params![since.tenant.0, since.no, part.no.0, from.0, to.0];
        if from <= to && row(db, sql, values, |_| Ok(()))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Fails if something has happened since the snapshot of a basis that its writes must not ignore.
pub(in crate::sqlite) fn holds(db: &Connection, basis: &Basis) -> Result<(), StoreError> {
    match basis {
        Basis::Raw => Ok(()),
        Basis::Derived(epoch) => is_current(db, *epoch),
        Basis::Seen(seen) => is_all(db, seen),
    }
}

fn is_current(db: &Connection, seen: Epoch) -> Result<(), StoreError> {
    match epoch(db, seen.tenant)?.no {
        actual if actual == seen.no => Ok(()),
        actual => Err(StoreError::EpochMoved { expected: seen.no, actual }),
    }
}

/// Fails if content was added in which an erasure has not searched.
fn is_all(db: &Connection, seen: &Seen) -> Result<(), StoreError> {
    let tenant = seen.epoch.tenant;
    is_current(db, seen.epoch)?;
    let newest = "SELECT coalesce(max(stream), 0) FROM streams WHERE tenant = ?1";
    same(seen.newest.map_or(0, |StreamNo(no)| no.into()), number(db, newest, params![tenant.0])?)?;
    let segment = "SELECT coalesce(max(segment), 0) FROM index_segments WHERE tenant = ?1";
    same(seen.segment, number(db, segment, params![tenant.0])?)?;
    let links = "SELECT count(*) FROM stream_sources WHERE stream = ?1";
    for SeenStream { stream, head, links: known } in &seen.streams {
        let info =
            streams::stream(db, tenant, stream)?.ok_or_else(|| StoreError::NoStream(stream.clone()))?;
        same(head.0, info.head.0)?;
        same(*known, number(db, links, params![info.no.0])?)?;
    }
    let grown = "SELECT coalesce(max(r.len), 0) FROM sources s JOIN source_revisions r
                 ON r.source = s.source AND r.revision = s.revision WHERE s.source = ?1 AND s.revision = ?2";
    let owned = "SELECT coalesce(max(until), 0) FROM source_revisions
                 WHERE source = ?1 AND owner IS NOT NULL AND until > ?2";
    for (SourceNo(source), revision, len) in &seen.sources {
        let until =
            row(db, owned, params![source, seen.now.0], |row| row.get::<_, i64>(0))?.unwrap_or_default();
        if until > seen.now.0 {
            return Err(StoreError::Held { until: Millis(until) });
        }
        same(*len, number(db, grown, params![source, revision])?)?;
    }
    Ok(())
}

fn number(db: &Connection, sql: &str, values: impl rusqlite::Params) -> Result<u64, StoreError> {
    Ok(row(db, sql, values, |row| row.get(0))?.unwrap_or_default())
}

fn same(expected: u64, actual: u64) -> Result<(), StoreError> {
    let moved = StoreError::HeadMoved { expected: Seq(expected), actual: Seq(actual) };
    if expected == actual { Ok(()) } else { Err(moved) }
}

/// Counts an erasure. The store has noted its losses under the number that follows.
pub(in crate::sqlite) fn begin_epoch(db: &Connection, commit: &Commit) -> Result<(), StoreError> {
    for tenant in commit.erasing() {
        run(db, "UPDATE tenants SET epoch = epoch + 1 WHERE tenant = ?1", params![tenant.0])?;
    }
    Ok(())
}
