//! Imported files: revisions of sources, their chunks, and their owners.
//!
//! A revision holds the bytes of a path between two rewrites; a file that only grows keeps its revision. A revision
//! has one owner while it is written. Every commit keeps bytes, events and the reader's state consistent, so that the
//! next importer can continue after the last commit. Revisions of format 1 may share their first bytes with the
//! previous revision.

use crate::query::SourceBy;
use crate::row::{Chunk, Owner, RevisionInfo, SourceFilter, SourceInfo, SourceNo, TenantNo};
use crate::sqlite::conditions::Visible;
use crate::sqlite::sql::{handle_of, handle_sql, put, row, rows, run, stream_id};
use crate::write::{Begin, PackedChunk, Written};
use crate::{Reach, StoreError, codec};
use rusqlite::{Connection, Row, params};
use std::ops::Range;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::units::Millis;

/// Name and attributes of a source that a caller wants to write.
pub(in crate::sqlite) struct SourceName<'n> {
    pub(in crate::sqlite) tenant: TenantNo,
    pub(in crate::sqlite) key: &'n str,
    pub(in crate::sqlite) handle: Handle,
    pub(in crate::sqlite) format: &'n str,
}

/// Identifies a revision of a source.
#[derive(Clone, Copy)]
pub(in crate::sqlite) struct Revision {
    pub(in crate::sqlite) source: SourceNo,
    pub(in crate::sqlite) no: u32,
}

/// A caller that wants to write a source.
pub(in crate::sqlite) struct Taker<'a> {
    pub(in crate::sqlite) owner: &'a Owner,
    pub(in crate::sqlite) now: Millis,
    /// Whether the caller knows that the current owner is dead.
    pub(in crate::sqlite) takes_over: bool,
}

/// Bytes to append to a revision.
pub(in crate::sqlite) struct Growth<'a> {
    /// Length of the revision before the append, in bytes.
    pub(in crate::sqlite) from: u64,
    pub(in crate::sqlite) chunks: &'a [PackedChunk],
    /// Blanked ranges: the first byte, and one past the last.
    pub(in crate::sqlite) erased: &'a [(u64, u64)],
}

/// Facts about a revision that was read to its end.
pub(in crate::sqlite) struct WholeRevision<'a> {
    pub(in crate::sqlite) modified: Option<i64>,
    pub(in crate::sqlite) reader: Option<&'a [u8]>,
    pub(in crate::sqlite) leaf: Option<&'a StreamId>,
}

pub(in crate::sqlite) fn take(
    db: &Connection,
    named: &SourceName<'_>,
    begin: Begin,
    taker: &Taker<'_>,
) -> Result<Written, StoreError> {
    let Taker { owner, now, takes_over } = *taker;
    let sql = "SELECT s.source, s.revision, r.len, r.owner, r.until FROM sources s
               JOIN source_revisions r ON r.source = s.source AND r.revision = s.revision
               WHERE s.tenant = ?1 AND s.key = ?2";
    let newest = row(db, sql, params![named.tenant.0, named.key], |row| {
        let held: Option<String> = row.get(3)?;
        let until: Option<i64> = row.get(4)?;
        Ok((row.get::<_, i64>(0)?, row.get::<_, u32>(1)?, row.get::<_, u64>(2)?, held, until))
    })?;
    if let Some((.., Some(held), until)) = &newest
        && *held != owner.token
        && until.is_some_and(|until| until > now.0)
        && !takes_over
    {
        return Err(StoreError::Held { until: Millis(until.unwrap_or_default()) });
    }
    match begin {
        Begin::Grow { revision, len } => {
            let Some((source, ..)) = newest.filter(|newest| (newest.1, newest.2) == (revision, len)) else {
                return Err(StoreError::SourceMoved);
            };
            put(
                db,
                "UPDATE source_revisions SET owner = ?3, until = ?4, whole = 0 WHERE source = ?1 AND revision = ?2",
                params![source, revision, owner.token, owner.until.0],
            )?;
            Ok(Written::Source(SourceNo(source), revision))
        }
        Begin::New { after, handle } => {
            if newest.as_ref().map_or(0, |newest| newest.1) != after {
                return Err(StoreError::SourceMoved);
            }
            let source = begin_revision(db, named, after, handle, owner)?;
            Ok(Written::Source(SourceNo(source), after + 1))
        }
    }
}

fn begin_revision(
    db: &Connection,
    named: &SourceName<'_>,
    after: u32,
    handle: Handle,
    owner: &Owner,
) -> Result<i64, StoreError> {
    put(
        db,
        "INSERT INTO sources (tenant, handle, key, revision) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (tenant, key) DO UPDATE SET revision = excluded.revision",
        params![named.tenant.0, handle_sql(named.handle), named.key, after + 1],
    )?;
    let sql = "SELECT source FROM sources WHERE tenant = ?1 AND key = ?2";
    let source = row(db, sql, params![named.tenant.0, named.key], |row| row.get::<_, i64>(0))?;
    let source =
        source.ok_or_else(|| StoreError::Damaged("a source that was just written is missing".to_owned()))?;
    // An abandoned revision stays incomplete and loses its owner.
    run(
        db,
        "UPDATE source_revisions SET owner = NULL, until = NULL WHERE source = ?1 AND revision = ?2",
        params![source, after],
    )?;
    put(
        db,
        "INSERT INTO source_revisions (source, revision, handle, format, shared, len, whole, owner, until)
         VALUES (?1, ?2, ?3, ?4, 0, 0, 0, ?5, ?6)",
        params![source, after + 1, handle_sql(handle), named.format, owner.token, owner.until.0],
    )?;
    Ok(source)
}

/// Returns the length of a revision, or an error unless `token` owns it.
fn owned(db: &Connection, revision: Revision, token: &str) -> Result<u64, StoreError> {
    let sql = "SELECT len, owner FROM source_revisions WHERE source = ?1 AND revision = ?2";
    let found = row(db, sql, params![revision.source.0, revision.no], |row| {
        Ok((row.get::<_, u64>(0)?, row.get::<_, Option<String>>(1)?))
    })?;
    match found {
        Some((len, Some(owner))) if owner == token => Ok(len),
        _ => Err(StoreError::Disowned),
    }
}

pub(in crate::sqlite) fn extend(
    db: &Connection,
    revision: Revision,
    owner: &Owner,
    growth: &Growth<'_>,
) -> Result<Written, StoreError> {
    if owned(db, revision, &owner.token)? != growth.from {
        return Err(StoreError::SourceMoved);
    }
    let mut len = growth.from;
    for chunk in growth.chunks {
        if chunk.offset != len {
            return Err(StoreError::SourceMoved);
        }
        put_chunk(db, revision, chunk)?;
        len += chunk.len;
    }
    for (from, to) in growth.erased {
        note_erased(db, revision, *from..*to)?;
    }
    put(
        db,
        "UPDATE source_revisions SET len = ?3, until = ?4 WHERE source = ?1 AND revision = ?2",
        params![revision.source.0, revision.no, len, owner.until.0],
    )?;
    Ok(Written::Done)
}

fn put_chunk(db: &Connection, revision: Revision, chunk: &PackedChunk) -> Result<(), StoreError> {
    put(
        db,
        "INSERT INTO source_chunks (source, revision, start, len, checksum, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![revision.source.0, revision.no, chunk.offset, chunk.len, chunk.checksum, chunk.data],
    )
}

pub(in crate::sqlite) fn note_erased(
    db: &Connection,
    revision: Revision,
    range: Range<u64>,
) -> Result<(), StoreError> {
    put(
        db,
        "INSERT INTO source_erased (source, revision, start, len) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (source, revision, start) DO UPDATE SET len = max(len, excluded.len)",
        params![revision.source.0, revision.no, range.start, range.end.saturating_sub(range.start)],
    )
}

pub(in crate::sqlite) fn whole(
    db: &Connection,
    revision: Revision,
    token: &str,
    whole: &WholeRevision<'_>,
) -> Result<Written, StoreError> {
    owned(db, revision, token)?;
    put(
        db,
        "UPDATE source_revisions SET whole = 1, owner = NULL, until = NULL, modified = ?3, reader = ?4,
             leaf = coalesce(?5, leaf) WHERE source = ?1 AND revision = ?2",
        params![
            revision.source.0,
            revision.no,
            whole.modified,
            whole.reader,
            whole.leaf.map(StreamId::as_str)
        ],
    )?;
    Ok(Written::Done)
}

pub(in crate::sqlite) fn disown(
    db: &Connection,
    revision: Revision,
    token: &str,
) -> Result<Written, StoreError> {
    run(
        db,
        "UPDATE source_revisions SET owner = NULL, until = NULL WHERE source = ?1 AND revision = ?2 AND owner = ?3",
        params![revision.source.0, revision.no, token],
    )?;
    Ok(Written::Done)
}

pub(in crate::sqlite) fn link(
    db: &Connection,
    tenant: TenantNo,
    stream: &StreamId,
    revision: Revision,
) -> Result<Written, StoreError> {
    let done = run(
        db,
        "INSERT OR REPLACE INTO stream_sources (link, stream, source, revision)
         SELECT (SELECT coalesce(max(link), 0) + 1 FROM stream_sources), t.stream, s.source, ?4
         FROM streams t, sources s WHERE t.tenant = ?1 AND t.id = ?2 AND s.source = ?3 AND s.tenant = ?1",
        params![tenant.0, stream.as_str(), revision.source.0, revision.no],
    );
    done.map(|_| Written::Done)
}

/// Copies the bytes that a format-1 revision shares with the previous one into its own chunks.
pub(in crate::sqlite) fn unshare(db: &Connection, revision: Revision) -> Result<Written, StoreError> {
    let sql = "SELECT shared FROM source_revisions WHERE source = ?1 AND revision = ?2";
    let numbers = params![revision.source.0, revision.no];
    let shared = row(db, sql, numbers, |row| row.get::<_, u64>(0))?.unwrap_or_default();
    if shared == 0 {
        return Ok(Written::Done);
    }
    for chunk in chunks(db, revision, 0..shared, u64::from(u32::MAX))? {
        let bytes = codec::unpack(&chunk.data).map_err(|error| StoreError::Damaged(error.to_string()))?;
        let len = chunk.len.min(shared.saturating_sub(chunk.offset));
        let kept = bytes.get(..usize::try_from(len).unwrap_or(usize::MAX)).unwrap_or(&bytes);
        put_chunk(db, revision, &codec::pack_chunk(chunk.offset, kept))?;
    }
    run(db, "UPDATE source_revisions SET shared = 0 WHERE source = ?1 AND revision = ?2", numbers)?;
    Ok(Written::Done)
}

const SOURCE: &str =
    "SELECT s.source, s.handle, s.key, r.revision, r.handle, r.format, r.shared, r.len, r.whole,
     r.owner, r.until, r.hash, r.leaf, r.modified, r.reader
     FROM sources s JOIN source_revisions r ON r.source = s.source";

/// Returns the columns of [`SOURCE`] without the reader's state: for a list of streams, the state of one large file would
/// be read once for each of its streams.
fn without_reader() -> String {
    SOURCE.replace("r.reader", "NULL")
}

fn source_row(row: &Row<'_>) -> rusqlite::Result<SourceInfo> {
    let leaf: Option<String> = row.get(12)?;
    let (token, until): (Option<String>, Option<i64>) = (row.get(9)?, row.get(10)?);
    Ok(SourceInfo {
        no: SourceNo(row.get(0)?),
        handle: handle_of(row.get(1)?),
        key: row.get(2)?,
        revision: RevisionInfo {
            no: row.get(3)?,
            handle: handle_of(row.get(4)?),
            format: row.get(5)?,
            shared: row.get(6)?,
            len: row.get(7)?,
            whole: row.get(8)?,
            owner: token.map(|token| Owner { token, until: Millis(until.unwrap_or_default()) }),
            hash: row.get(11)?,
            leaf: leaf.map(stream_id).transpose()?,
            modified: row.get(13)?,
            reader: row.get(14)?,
            erased: Vec::new(),
        },
    })
}

fn with_erased(db: &Connection, mut info: SourceInfo) -> Result<SourceInfo, StoreError> {
    let sql =
        "SELECT start, start + len FROM source_erased WHERE source = ?1 AND revision = ?2 ORDER BY start";
    info.revision.erased =
        rows(db, sql, params![info.no.0, info.revision.no], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(info)
}

pub(in crate::sqlite) fn info(
    db: &Connection,
    reach: &Reach,
    tenant: TenantNo,
    by: &SourceBy,
    revision: Option<u32>,
) -> Result<Option<SourceInfo>, StoreError> {
    let visible = Visible::new(reach, 4);
    let (column, value): (&str, Box<dyn rusqlite::ToSql>) = match by {
        SourceBy::Key(key) => ("key", Box::new(key.clone())),
        SourceBy::No(no) => ("source", Box::new(no.0)),
    };
    let sql = format!(
        "{SOURCE} AND r.revision = coalesce(?3, s.revision) WHERE s.tenant = ?1 AND s.{column} = ?2{}",
        visible.source("s.source")
    );
    let found = row(db, &sql, visible.with(params![tenant.0, value, revision]), source_row)?;
    found.map(|info| with_erased(db, info)).transpose()
}

/// Returns the sources that a filter accepts.
pub(in crate::sqlite) fn listed(
    db: &Connection,
    reach: &Reach,
    tenant: TenantNo,
    filter: &SourceFilter,
) -> Result<Vec<SourceInfo>, StoreError> {
    let visible = Visible::new(reach, 5);
    // The bounds of the path let the index find the prefix.
    let sql = format!(
        "{} WHERE s.tenant = ?1 AND s.key >= ?2 AND s.key < ?2 || char(1114111) AND r.len >= ?3
         AND (?4 OR r.revision = s.revision){} ORDER BY s.source, r.revision",
        without_reader(),
        visible.source("s.source")
    );
    let (least, older) = (filter.min_len.min(i64::MAX as u64), filter.older);
    let own = params![tenant.0, filter.prefix, least, older];
    let found = rows(db, &sql, visible.with(own), source_row)?;
    found.into_iter().map(|info| with_erased(db, info)).collect()
}

/// Returns whether a source is in reach.
pub(in crate::sqlite) fn is_visible(
    db: &Connection,
    reach: &Reach,
    source: SourceNo,
) -> Result<bool, StoreError> {
    let visible = Visible::new(reach, 2);
    let sql = format!("SELECT 1 FROM sources s WHERE s.source = ?1{}", visible.source("s.source"));
    Ok(row(db, &sql, visible.with(params![source.0]), |_| Ok(()))?.is_some())
}

/// Returns the revisions from which a stream was read.
pub(in crate::sqlite) fn of_stream(
    db: &Connection,
    tenant: TenantNo,
    stream: &StreamId,
) -> Result<Vec<SourceInfo>, StoreError> {
    let sql = format!(
        "{} JOIN stream_sources k ON k.source = r.source AND k.revision = r.revision
         JOIN streams t ON t.stream = k.stream
         WHERE s.tenant = ?1 AND t.tenant = ?1 AND t.id = ?2 ORDER BY k.link",
        without_reader()
    );
    let found = rows(db, &sql, params![tenant.0, stream.as_str()], source_row)?;
    found.into_iter().map(|info| with_erased(db, info)).collect()
}

/// Returns the byte ranges of a revision, each with the revision that stores it: `(revision, from, to)`, newest
/// first. Only revisions of format 1 have more than one range.
pub(in crate::sqlite) fn spans(
    db: &Connection,
    newest: Revision,
) -> Result<Vec<(u32, u64, u64)>, StoreError> {
    let sql = "SELECT revision, shared, len FROM source_revisions
               WHERE source = ?1 AND revision <= ?2 ORDER BY revision DESC";
    let revisions = rows(db, sql, params![newest.source.0, newest.no], |row| {
        Ok((row.get::<_, u32>(0)?, row.get::<_, u64>(1)?, row.get::<_, u64>(2)?))
    })?;
    let mut end = u64::MAX;
    let mut spans = Vec::new();
    // An unknown revision has no bytes. Without this check, the function would return the bytes of the previous
    // revision.
    if revisions.first().is_none_or(|first| first.0 != newest.no) {
        return Ok(spans);
    }
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

pub(in crate::sqlite) fn chunks(
    db: &Connection,
    revision: Revision,
    range: Range<u64>,
    limit: u64,
) -> Result<Vec<Chunk>, StoreError> {
    let mut found = Vec::new();
    for (holder, begin, end) in spans(db, revision)?.into_iter().rev() {
        let (low, high) = (begin.max(range.start), end.min(range.end));
        let left = limit.saturating_sub(found.len() as u64);
        if low >= high || left == 0 {
            continue;
        }
        // The lower bound on `start` lets the index begin at the chunk that contains the first byte.
        let sql = "SELECT start, len, data, checksum FROM source_chunks
                   WHERE source = ?1 AND revision = ?2 AND start < ?3 AND start + len > ?4
                   AND start >= coalesce((SELECT max(start) FROM source_chunks
                                          WHERE source = ?1 AND revision = ?2 AND start <= ?4), 0)
                   ORDER BY start LIMIT ?5";
        let values =
            params![revision.source.0, holder, high.min(i64::MAX as u64), low, left.min(i64::MAX as u64)];
        found.extend(rows(db, sql, values, |row| {
            let (offset, len): (u64, u64) = (row.get(0)?, row.get(1)?);
            let len = len.min(end.saturating_sub(offset));
            Ok(Chunk { offset, len, data: row.get(2)?, checksum: row.get(3)? })
        })?);
    }
    Ok(found)
}
