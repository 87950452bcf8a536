//! Imported raw input: chunks with revisions.
//!
//! Revision r is the first `shared` bytes of revision r − 1 followed by its own chunks. A file that grew shares all of
//! the revision before; one that was rewritten shares what is still the same at its beginning.

use super::sql::{handle_of, handle_sql, row, rows, run, stream_id};
use crate::store::{
    Chunk, REPEATED_MIN, SourceBy, SourceInfo, SourceNo, SourceSpan, StoreError, TenantNo, Written, codec,
};
use rusqlite::{Connection, params};
use std::collections::BTreeSet;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::units::Millis;

pub(super) fn begin(
    db: &Connection,
    tenant: TenantNo,
    (key, handle, format): (&str, Handle, &str),
    shared: u64,
    at: Millis,
) -> Result<Written, StoreError> {
    run(
        db,
        "INSERT INTO sources (tenant, handle, key, format, revision, erased) VALUES (?1, ?2, ?3, ?4, 0, 0)
         ON CONFLICT (tenant, key) DO UPDATE SET format = excluded.format",
        params![tenant.0, handle_sql(handle), key, format],
    )?;
    let found = row(
        db,
        "SELECT source, revision FROM sources WHERE tenant = ?1 AND key = ?2",
        params![tenant.0, key],
        |row| Ok((row.get::<_, i64>(0)?, row.get::<_, u32>(1)?)),
    )?;
    let (source, revision) = found.ok_or_else(|| StoreError::Damaged("a source vanished".to_owned()))?;
    let next = revision + 1;
    // What an import that was broken off left of this revision is replaced by the one that begins now.
    run(db, "DELETE FROM source_chunks WHERE source = ?1 AND revision = ?2", params![source, next])?;
    run(
        db,
        "INSERT OR REPLACE INTO source_revisions (source, revision, shared, at) VALUES (?1, ?2, ?3, ?4)",
        params![source, next, shared, at.0],
    )?;
    Ok(Written::Source(SourceNo(source), next))
}

fn unfinished(db: &Connection, source: SourceNo) -> Result<u32, StoreError> {
    let sql = "SELECT max(revision) FROM source_revisions WHERE source = ?1 AND len IS NULL";
    row(db, sql, params![source.0], |row| row.get(0))?
        .flatten()
        .ok_or_else(|| StoreError::Damaged("bytes for a source that has no open revision".to_owned()))
}

pub(super) fn chunk(
    db: &Connection,
    source: SourceNo,
    (offset, len): (u64, u64),
    data: &[u8],
) -> Result<Written, StoreError> {
    let revision = unfinished(db, source)?;
    run(
        db,
        "DELETE FROM source_chunks WHERE source = ?1 AND revision = ?2 AND start = ?3",
        params![source.0, revision, offset],
    )?;
    run(
        db,
        "INSERT INTO source_chunks (source, revision, start, len, data) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![source.0, revision, offset, len, data],
    )?;
    Ok(Written::Done)
}

pub(super) fn end(
    db: &Connection,
    source: SourceNo,
    len: u64,
    hash: &[u8; 32],
) -> Result<Written, StoreError> {
    let revision = unfinished(db, source)?;
    run(
        db,
        "UPDATE source_revisions SET len = ?3, hash = ?4 WHERE source = ?1 AND revision = ?2",
        params![source.0, revision, len, hash],
    )?;
    run(db, "UPDATE sources SET revision = ?2 WHERE source = ?1", params![source.0, revision])?;
    Ok(Written::Done)
}

pub(super) fn leaf(db: &Connection, source: SourceNo, stream: &StreamId) -> Result<Written, StoreError> {
    run(db, "UPDATE sources SET leaf = ?2 WHERE source = ?1", params![source.0, stream.as_str()])?;
    Ok(Written::Done)
}

pub(super) fn info(
    db: &Connection,
    tenant: TenantNo,
    by: &SourceBy,
) -> Result<Option<SourceInfo>, StoreError> {
    let (column, value): (&str, Box<dyn rusqlite::ToSql>) = match by {
        SourceBy::Key(key) => ("key", Box::new(key.clone())),
        SourceBy::No(no) => ("source", Box::new(no.0)),
    };
    let sql = format!(
        "SELECT s.source, s.handle, s.key, s.format, s.revision, s.erased, s.leaf, r.len, r.hash FROM sources s
         LEFT JOIN source_revisions r ON r.source = s.source AND r.revision = s.revision
         WHERE s.tenant = ?1 AND s.{column} = ?2"
    );
    row(db, &sql, params![tenant.0, value], |row| {
        let leaf: Option<String> = row.get(6)?;
        Ok(SourceInfo {
            no: SourceNo(row.get(0)?),
            handle: handle_of(row.get(1)?),
            key: row.get(2)?,
            format: row.get(3)?,
            revision: row.get(4)?,
            erased: row.get(5)?,
            leaf: leaf.map(stream_id).transpose()?,
            len: row.get::<_, Option<u64>>(7)?.unwrap_or_default(),
            hash: row.get::<_, Option<[u8; 32]>>(8)?.unwrap_or_default(),
        })
    })
}

/// Which bytes of a revision each revision holds: `(revision, from, to)`, the newest first.
fn spans(db: &Connection, source: SourceNo, newest: Option<u32>) -> Result<Vec<(u32, u64, u64)>, StoreError> {
    // The newest complete revision, or a given one: an import that was broken off may have left records of it.
    let sql = "SELECT revision, shared, coalesce(len, 9223372036854775807) FROM source_revisions
               WHERE source = ?1 AND (?2 IS NULL AND len IS NOT NULL OR revision <= ?2) ORDER BY revision DESC";
    let revisions = rows(db, sql, params![source.0, newest], |row| {
        Ok((row.get::<_, u32>(0)?, row.get::<_, u64>(1)?, row.get::<_, u64>(2)?))
    })?;
    let mut end = u64::MAX;
    let mut spans = Vec::new();
    for (revision, shared, len) in revisions {
        let to = end.min(len);
        if shared < to {
            spans.push((revision, shared, to));
        }
        end = end.min(shared);
        if end == 0 {
            break;
        }
    }
    Ok(spans)
}

pub(super) fn chunks(
    db: &Connection,
    source: SourceNo,
    (from, to): (u64, u64),
    limit: u64,
) -> Result<Vec<Chunk>, StoreError> {
    let mut found = Vec::new();
    for (revision, begin, end) in spans(db, source, None)?.into_iter().rev() {
        let (low, high) = (begin.max(from), end.min(to));
        let left = limit.saturating_sub(found.len() as u64);
        if low >= high || left == 0 {
            continue;
        }
        let sql = "SELECT start, len, data FROM source_chunks
                   WHERE source = ?1 AND revision = ?2 AND start < ?3 AND start + len > ?4 ORDER BY start LIMIT ?5";
        let values = params![source.0, revision, high, low, left];
        found.extend(rows(db, sql, values, |row| {
            let (start, len): (u64, u64) = (row.get(0)?, row.get(1)?);
            Ok(Chunk { offset: start, len: len.min(end.saturating_sub(start)), data: row.get(2)? })
        })?);
    }
    Ok(found)
}

/// Overwrites a span with spaces, as the revision it names has it, and the same bytes where they stand again in other
/// revisions. Answers how many bytes.
pub(super) fn overwrite(db: &Connection, tenant: TenantNo, span: &SourceSpan) -> Result<u64, StoreError> {
    let sql = "SELECT source FROM sources WHERE tenant = ?1 AND handle = ?2";
    let found = row(db, sql, params![tenant.0, handle_sql(span.source)], |row| row.get::<_, i64>(0))?;
    let Some(source) = found else { return Ok(0) };
    let range = (span.offset, span.offset.saturating_add(span.len));
    let mut places = BTreeSet::from_iter(holders(db, source, span.revision, range)?);
    if (REPEATED_MIN..u64::MAX).contains(&span.len) {
        let sql = "SELECT revision, shared FROM source_revisions WHERE source = ?1 AND revision <> ?2";
        let others = rows(db, sql, params![source, span.revision], |row| {
            Ok((row.get::<_, u32>(0)?, row.get::<_, u64>(1)?))
        })?;
        if !others.is_empty() {
            let mut record = Vec::new();
            for (revision, from, to) in &places {
                read_own(db, (source, *revision), (*from, *to), &mut record)?;
            }
            for other in others {
                repeated(db, source, other, (&record, &mut places))?;
            }
        }
    }
    let mut erased = 0;
    for (revision, from, to) in places {
        erased += blank(db, (source, revision), (from, to))?;
    }
    if erased > 0 {
        run(db, "UPDATE sources SET erased = 1 WHERE source = ?1", params![source])?;
    }
    Ok(erased)
}

/// Which revisions hold which bytes of a range of one revision, in order.
fn holders(
    db: &Connection,
    source: i64,
    revision: u32,
    (from, to): (u64, u64),
) -> Result<Vec<(u32, u64, u64)>, StoreError> {
    let spans = spans(db, SourceNo(source), Some(revision))?.into_iter().rev();
    let parts = spans.map(|(revision, begin, end)| (revision, from.max(begin), to.min(end)));
    Ok(parts.filter(|(_, from, to)| from < to).collect())
}

/// Adds the bytes of a range that one revision holds itself.
fn read_own(
    db: &Connection,
    (source, revision): (i64, u32),
    (from, to): (u64, u64),
    out: &mut Vec<u8>,
) -> Result<(), StoreError> {
    let sql = "SELECT start, data FROM source_chunks
               WHERE source = ?1 AND revision = ?2 AND start < ?4 AND start + len > ?3 ORDER BY start";
    let chunks = rows(db, sql, params![source, revision, from, to.min(i64::MAX as u64)], |row| {
        Ok((row.get::<_, u64>(0)?, row.get::<_, Vec<u8>>(1)?))
    })?;
    for (start, data) in chunks {
        let bytes = unpacked(&data)?;
        let place =
            |at: u64| usize::try_from(at.saturating_sub(start)).unwrap_or(usize::MAX).min(bytes.len());
        out.extend_from_slice(bytes.get(place(from)..place(to)).unwrap_or_default());
    }
    Ok(())
}

/// Finds where another revision has the bytes of a record in what it does not share.
fn repeated(
    db: &Connection,
    source: i64,
    (revision, shared): (u32, u64),
    (record, places): (&[u8], &mut BTreeSet<(u32, u64, u64)>),
) -> Result<(), StoreError> {
    let len = record.len();
    if (len as u64) < REPEATED_MIN {
        return Ok(());
    }
    let finder = memchr::memmem::Finder::new(record);
    // The record may begin in what is shared, and reach over the end of a chunk.
    let mut begin = shared.saturating_sub(len as u64 - 1);
    let mut window = Vec::new();
    for (holder, from, to) in holders(db, source, revision, (begin, shared))? {
        read_own(db, (source, holder), (from, to), &mut window)?;
    }
    let sql = "SELECT start FROM source_chunks WHERE source = ?1 AND revision = ?2 ORDER BY start";
    for start in rows(db, sql, params![source, revision], |row| row.get::<_, u64>(0))? {
        let sql = "SELECT data FROM source_chunks WHERE source = ?1 AND revision = ?2 AND start = ?3";
        let data = row(db, sql, params![source, revision, start], |row| row.get::<_, Vec<u8>>(0))?;
        window.extend(unpacked(&data.unwrap_or_default())?);
        let mut from = 0;
        while let Some(at) = window.get(from..).and_then(|rest| finder.find(rest)) {
            let first = begin + (from + at) as u64;
            places.extend(holders(db, source, revision, (first, first + len as u64))?);
            from += at + len;
        }
        let done = from.max(window.len().saturating_sub(len - 1)).min(window.len());
        begin += done as u64;
        window.drain(..done);
    }
    Ok(())
}

fn unpacked(data: &[u8]) -> Result<Vec<u8>, StoreError> {
    codec::unpack(data).map_err(|error| StoreError::Damaged(error.to_string()))
}

/// Fills bytes of the chunks of one revision with spaces.
fn blank(db: &Connection, (source, revision): (i64, u32), (from, to): (u64, u64)) -> Result<u64, StoreError> {
    let touched = rows(
        db,
        "SELECT chunk, start, data FROM source_chunks
         WHERE source = ?1 AND revision = ?2 AND start < ?4 AND start + len > ?3",
        params![source, revision, from, to.min(i64::MAX as u64)],
        |row| Ok((row.get::<_, i64>(0)?, row.get::<_, u64>(1)?, row.get::<_, Vec<u8>>(2)?)),
    )?;
    let mut erased = 0;
    for (chunk, start, data) in touched {
        let mut bytes = unpacked(&data)?;
        let place =
            |at: u64| usize::try_from(at.saturating_sub(start)).unwrap_or(usize::MAX).min(bytes.len());
        let (first, last) = (place(from), place(to));
        if let Some(span) = bytes.get_mut(first..last) {
            span.fill(b' ');
            erased += span.len() as u64;
        }
        run(db, "UPDATE source_chunks SET data = ?2 WHERE chunk = ?1", params![chunk, codec::pack(&bytes)])?;
    }
    Ok(erased)
}
