//! Erasing content permanently.

use crate::row::{Erasure, Gone, SourceNo, StreamNo, Stretch, TenantNo};
use crate::sqlite::failure::failure;
use crate::sqlite::rows::lineage::Lineage;
use crate::sqlite::rows::source::{Revision, note_erased, spans};
use crate::sqlite::sql::{handle_sql, row, rows, run};
use crate::write::{LostEvent, SourceSpan, Written};
use crate::{StoreError, codec};
use rusqlite::{Connection, Row, params};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use wunderblock_core::id::{EventId, Handle, StreamId};
use wunderblock_core::units::{Bytes, Millis, Seq};

/// Everything that one erasure removes.
pub(in crate::sqlite) struct Erasing<'a> {
    /// Events of a stream.
    pub(in crate::sqlite) events: &'a [LostEvent],
    /// Byte ranges of imported files.
    pub(in crate::sqlite) spans: &'a [SourceSpan],
    /// Coordinates that keep the erased content from being imported again.
    pub(in crate::sqlite) erasures: &'a [Erasure],
}

pub(in crate::sqlite) fn erase(
    db: &Connection,
    tenant: TenantNo,
    stream: &StreamId,
    erasing: &Erasing<'_>,
) -> Result<Written, StoreError> {
    let Erasing { events, spans, erasures } = *erasing;
    let stretches = match events.iter().map(|event| event.seq).min() {
        Some(lowest) => Lineage::of(db, tenant, stream)?.down_to(lowest)?,
        None => Vec::new(),
    };
    let (mut count, mut blobs) = (0, 0);
    let mut lost: BTreeMap<StreamNo, BTreeSet<Seq>> = BTreeMap::new();
    forget_records(db, tenant, &stretches, events)?;
    let key = tenant_key(db, tenant)?;
    for event in events {
        let holder = stretches.iter().find(|stretch| stretch.from <= event.seq && event.seq <= stretch.to);
        let Some(holder) = holder else { continue };
        if strip(db, &key, tenant, holder.no, event)? {
            lost.entry(holder.no).or_default().insert(event.seq);
            count += 1;
        }
        blobs += unref(db, tenant, holder.no.0, event.seq.0)?;
        forget_facets(db, tenant, holder.no.0, event.seq.0)?;
    }
    for stream in lost.keys() {
        forget_model(db, tenant, *stream)?;
    }
    note_losses(db, tenant, lost)?;
    let source_bytes = overwrite_all(db, tenant, spans)?;
    for Erasure { session, what } in erasures {
        let (kind, name) = match what {
            Gone::Session => (0, ""),
            Gone::Event(id) => (1, id.as_str()),
            Gone::Record(id) => (2, id.as_str()),
        };
        let sql = "INSERT OR IGNORE INTO erasures (tenant, session, kind, name) VALUES (?1, ?2, ?3, ?4)";
        run(db, sql, params![tenant.0, session, kind, name])?;
    }
    Ok(Written::Erased { events: count, blobs, source_bytes: Bytes(source_bytes) })
}

fn tenant_key(db: &Connection, tenant: TenantNo) -> Result<[u8; 32], StoreError> {
    row(db, "SELECT key FROM tenants WHERE tenant = ?1", params![tenant.0], |row| row.get(0))?
        .ok_or_else(|| StoreError::Damaged(format!("there is no tenant {}", tenant.0)))
}

/// Removes the content of an event except for its rest, and hashes its id. Returns whether the event had content.
fn strip(
    db: &Connection,
    key: &[u8; 32],
    tenant: TenantNo,
    stream: StreamNo,
    LostEvent { seq, rest }: &LostEvent,
) -> Result<bool, StoreError> {
    let sql = "SELECT id, at, kind, origin FROM events
               WHERE tenant = ?1 AND stream = ?2 AND seq = ?3 AND payload IS NOT NULL";
    let read = |row: &Row<'_>| {
        Ok((
            row.get::<_, String>(0)?,
            row.get(1)?,
            row.get::<_, String>(2)?,
            row.get::<_, Option<Vec<u8>>>(3)?,
        ))
    };
    let Some((id, at, kind, origin)) = row(db, sql, params![tenant.0, stream.0, seq.0], read)? else {
        return Ok(false);
    };
    let id = EventId::new(id).map_err(|error| StoreError::Damaged(error.to_string()))?;
    let id = codec::erased_id(key, &id);
    let origin = origin.filter(|_| rest.is_some());
    let checksum = rest
        .as_ref()
        .map(|rest| codec::record_checksum(&rest.payload, origin.as_deref(), &id, Millis(at), &kind));
    run(
        db,
        "UPDATE events SET id = ?4, payload = ?5, salt = ?6, proof = coalesce(?7, proof), covers = ?8, origin = ?9,
             checksum = ?10, version = ?11, lane = CASE WHEN ?5 IS NULL THEN NULL ELSE lane END, tool = NULL, path = NULL, author = NULL, spans = NULL
         WHERE tenant = ?1 AND stream = ?2 AND seq = ?3",
        params![
            tenant.0,
            stream.0,
            seq.0,
            id.as_str(),
            rest.as_ref().map(|rest| &rest.payload),
            rest.as_ref().map(|rest| rest.salt),
            rest.as_ref().map(|rest| codec::commitment(&rest.salt, &rest.content)),
            codec::COVERS,
            origin,
            checksum,
            codec::VERSION
        ],
    )?;
    Ok(true)
}

/// Sets the model of a stream to that of its latest reply that is not erased.
fn forget_model(db: &Connection, tenant: TenantNo, stream: StreamNo) -> Result<(), StoreError> {
    let sql = "SELECT 1 FROM streams WHERE stream = ?1 AND model IS NOT NULL";
    if row(db, sql, params![stream.0], |_| Ok(()))?.is_none() {
        return Ok(());
    }
    let sql = "SELECT kind, payload FROM events WHERE tenant = ?1 AND stream = ?2 AND payload IS NOT NULL
               ORDER BY seq DESC";
    let model = db
        .prepare_cached(sql)
        .and_then(|mut statement| {
            let mut rows = statement.query(params![tenant.0, stream.0])?;
            while let Some(row) = rows.next()? {
                let model = codec::model_of(row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_blob()?);
                if model.is_some() {
                    return Ok(model);
                }
            }
            Ok(None)
        })
        .map_err(|error| failure(&error))?;
    run(db, "UPDATE streams SET model = ?2 WHERE stream = ?1", params![stream.0, model])?;
    Ok(())
}

/// Notes where content was lost, under the number of the epoch that begins with this erasure.
fn note_losses(
    db: &Connection,
    tenant: TenantNo,
    lost: BTreeMap<StreamNo, BTreeSet<Seq>>,
) -> Result<(), StoreError> {
    let epoch = crate::sqlite::rows::basis::epoch(db, tenant)?.no + 1;
    let sql =
        "INSERT OR REPLACE INTO losses (tenant, epoch, stream, first, last) VALUES (?1, ?2, ?3, ?4, ?5)";
    for (stream, seqs) in lost {
        let mut runs: Vec<(Seq, Seq)> = Vec::new();
        for seq in seqs {
            match runs.last_mut().filter(|(_, last)| last.next() == seq) {
                Some((_, last)) => *last = seq,
                None => runs.push((seq, seq)),
            }
        }
        for (first, last) in runs {
            run(db, sql, params![tenant.0, epoch, stream.0, first.0, last.0])?;
        }
    }
    Ok(())
}

/// Removes what an erased event said about its whole session: its scope and branch, its usage, or a title and tags.
fn forget_facets(db: &Connection, tenant: TenantNo, stream: u32, seq: u64) -> Result<(), StoreError> {
    let sql = "SELECT kind FROM events WHERE tenant = ?1 AND stream = ?2 AND seq = ?3";
    let kind: Option<String> = row(db, sql, params![tenant.0, stream, seq], |row| row.get(0))?;
    match kind.as_deref() {
        Some("session.opened") => {
            let sql =
                "UPDATE streams SET user = NULL, project = NULL, folder = NULL, agent = NULL, session = NULL,
                           run = NULL, branch = NULL WHERE stream = ?1";
            run(db, sql, params![stream])?;
        }
        Some("session.described" | "document.indexed" | "document.removed") => {
            run(db, "UPDATE streams SET title = NULL, tags = NULL WHERE stream = ?1", params![stream])?;
        }
        Some("usage.measured") => {
            let sql = "DELETE FROM usage WHERE tenant = ?1 AND stream = ?2 AND seq = ?3";
            run(db, sql, params![tenant.0, stream, seq])?;
        }
        _ => {}
    }
    Ok(())
}

/// Deletes the content hashes of records without ids at erased positions. Only hashes of content are odd.
fn forget_records(
    db: &Connection,
    tenant: TenantNo,
    stretches: &[Stretch],
    events: &[LostEvent],
) -> Result<(), StoreError> {
    for part in stretches {
        let seqs = events.iter().map(|event| event.seq);
        let own = seqs.filter(|seq| part.from <= *seq && *seq <= part.to);
        let own: BTreeSet<u64> = own.map(|seq| seq.0).collect();
        let (Some(first), Some(last)) = (own.first(), own.last()) else { continue };
        let sql = "SELECT record, seq FROM records
                   WHERE tenant = ?1 AND stream = ?2 AND record & 1 = 1 AND seq BETWEEN ?3 AND ?4";
        let values = params![tenant.0, part.no.0, first, last];
        for (record, seq) in rows(db, sql, values, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, u64>(1)?)))?
        {
            if own.contains(&seq) {
                let sql = "DELETE FROM records WHERE tenant = ?1 AND record = ?2 AND stream = ?3";
                run(db, sql, params![tenant.0, record, part.no.0])?;
            }
        }
    }
    Ok(())
}

fn erasure_row(row: &Row<'_>) -> rusqlite::Result<Erasure> {
    let what = match row.get(1)? {
        0 => Gone::Session,
        1 => Gone::Event(row.get(2)?),
        _ => Gone::Record(row.get(2)?),
    };
    Ok(Erasure { session: row.get(0)?, what })
}

/// Returns the erasures of events and records with given ids.
pub(in crate::sqlite) fn erased(
    db: &Connection,
    tenant: TenantNo,
    names: &[String],
) -> Result<Vec<Erasure>, StoreError> {
    let sql = "SELECT session, kind, name FROM erasures WHERE tenant = ?1 AND name = ?2 AND kind > 0
               ORDER BY session, kind";
    let mut found = Vec::new();
    for name in names {
        found.extend(rows(db, sql, params![tenant.0, name], erasure_row)?);
    }
    Ok(found)
}

pub(in crate::sqlite) fn erasures(
    db: &Connection,
    tenant: TenantNo,
    sessions: &[String],
) -> Result<Vec<Erasure>, StoreError> {
    let read = erasure_row;
    if sessions.is_empty() {
        let sql = "SELECT session, kind, name FROM erasures WHERE tenant = ?1 ORDER BY session, kind, name";
        return rows(db, sql, params![tenant.0], read);
    }
    let sql =
        "SELECT session, kind, name FROM erasures WHERE tenant = ?1 AND session = ?2 ORDER BY kind, name";
    let mut found = Vec::new();
    for session in sessions {
        found.extend(rows(db, sql, params![tenant.0, session], read)?);
    }
    Ok(found)
}

/// Removes an event's references to bodies, and the bodies without other references. Returns the number of bodies
/// removed.
fn unref(db: &Connection, tenant: TenantNo, stream: u32, seq: u64) -> Result<u64, StoreError> {
    let held = rows(
        db,
        "SELECT blob FROM refs WHERE tenant = ?1 AND stream = ?2 AND seq = ?3",
        params![tenant.0, stream, seq],
        |row| row.get::<_, i64>(0),
    )?;
    let mut removed = 0;
    for blob in held {
        run(
            db,
            "DELETE FROM refs WHERE tenant = ?1 AND blob = ?2 AND stream = ?3 AND seq = ?4",
            params![tenant.0, blob, stream, seq],
        )?;
        let sql = "SELECT 1 FROM refs WHERE tenant = ?1 AND blob = ?2 LIMIT 1";
        if row(db, sql, params![tenant.0, blob], |_| Ok(()))?.is_none() {
            run(db, "DELETE FROM counts WHERE blob = ?1", params![blob])?;
            run(db, "DELETE FROM blobs WHERE blob = ?1", params![blob])?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Overwrites spans with spaces, each span within its own revision, and writes each chunk only once. Returns the
/// number of bytes overwritten.
fn overwrite_all(db: &Connection, tenant: TenantNo, all: &[SourceSpan]) -> Result<u64, StoreError> {
    let mut by_revision: BTreeMap<(Handle, u32), Vec<(u64, u64)>> = BTreeMap::new();
    for span in all {
        let range = (span.offset, span.offset.saturating_add(span.len));
        by_revision.entry((span.source, span.revision)).or_default().push(range);
    }
    let mut erased = 0;
    for ((handle, revision), mut ranges) in by_revision {
        let sql = "SELECT s.source, r.len FROM sources s JOIN source_revisions r ON r.source = s.source
                   WHERE s.tenant = ?1 AND s.handle = ?2 AND r.revision = ?3";
        let found = row(db, sql, params![tenant.0, handle_sql(handle), revision], |row| {
            Ok((SourceNo(row.get(0)?), row.get::<_, u64>(1)?))
        })?;
        let Some((source, len)) = found else { continue };
        let written = Revision { source, no: revision };
        ranges.iter_mut().for_each(|range| range.1 = range.1.min(len));
        ranges.retain(|(from, to)| from < to);
        ranges.sort_unstable();
        for (holder, begin, end) in spans(db, written)? {
            erased += blank(db, Revision { source, no: holder }, begin..end, &ranges)?;
        }
        for (from, to) in ranges {
            note_erased(db, written, from..to)?;
        }
        // The hash could confirm a guess of the erased bytes, and the reader's state could contain some of them.
        // Later revisions of format 1 may share the bytes, so their hashes and reader states are dropped, too.
        run(
            db,
            "UPDATE source_revisions SET hash = NULL, reader = NULL WHERE source = ?1 AND revision >= ?2",
            params![source.0, revision],
        )?;
    }
    Ok(erased)
}

/// Fills ranges with spaces in the chunks that one revision stores within `held`. Returns the number of bytes
/// overwritten.
fn blank(
    db: &Connection,
    revision: Revision,
    held: Range<u64>,
    ranges: &[(u64, u64)],
) -> Result<u64, StoreError> {
    let inside = || ranges.iter().map(|(from, to)| ((*from).max(held.start), (*to).min(held.end)));
    let Some(first) = inside().filter(|(from, to)| from < to).map(|(from, _)| from).min() else {
        return Ok(0);
    };
    let sql = "SELECT chunk, start, len FROM source_chunks
               WHERE source = ?1 AND revision = ?2 AND start < ?4 AND start + len > ?3";
    let chunks = rows(
        db,
        sql,
        params![revision.source.0, revision.no, first, held.end.min(i64::MAX as u64)],
        |row| Ok((row.get::<_, i64>(0)?, row.get::<_, u64>(1)?, row.get::<_, u64>(2)?)),
    )?;
    let mut erased = 0;
    for (chunk, start, len) in chunks {
        let touched: Vec<_> =
            inside().filter(|(from, to)| from < to && *from < start + len && *to > start).collect();
        if touched.is_empty() {
            continue;
        }
        let data = row(db, "SELECT data FROM source_chunks WHERE chunk = ?1", params![chunk], |row| {
            row.get::<_, Vec<u8>>(0)
        })?;
        let data = data.unwrap_or_default();
        let mut bytes = codec::unpack(&data).map_err(|error| StoreError::Damaged(error.to_string()))?;
        let last = bytes.len();
        let place = |at: u64| usize::try_from(at.saturating_sub(start)).unwrap_or(usize::MAX).min(last);
        for (from, to) in touched {
            if let Some(span) = bytes.get_mut(place(from)..place(to)) {
                span.fill(b' ');
                erased += span.len() as u64;
            }
        }
        let packed = codec::pack_chunk(start, &bytes);
        let sql = "UPDATE source_chunks SET data = ?2, checksum = ?3 WHERE chunk = ?1";
        run(db, sql, params![chunk, packed.data, packed.checksum])?;
    }
    Ok(erased)
}
