//! Reads rows from a snapshot.

use super::streams::stream_kind;
use crate::facets::EventUsage;
use crate::query::{Query, ReadOrder};
use crate::row::{
    BodyCount, DerivedTable, EventFilter, HandleTarget, KnownEvent, SegmentInfo, SourceNo, StoredEvent,
    StreamFilter, StreamKind, StreamNo, TallyRow, Tenant, TenantNo, UsageRow,
};
use crate::sqlite::conditions::{Conditions, Visible};
use crate::sqlite::failure::failure;
use crate::sqlite::rows::ids::Ids;
use crate::sqlite::rows::lineage::Lineage;
use crate::sqlite::sql::{author_sql, authors_of, handle_of, handle_sql, row, rows, stream_id, unreadable};
use crate::write::PackedBlob;
use crate::{Reach, StoreError};
use rusqlite::types::ToSql;
use rusqlite::{Connection, Row, params};
use wunderblock_core::id::{EventId, Handle, LaneId, StreamId};
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};

pub(in crate::sqlite) fn tenant(db: &Connection, name: &str) -> Result<Option<Tenant>, StoreError> {
    row(db, "SELECT tenant, key FROM tenants WHERE name = ?1", params![name], |row| {
        Ok(Tenant { no: TenantNo(row.get(0)?), key: row.get(1)? })
    })
}

pub(in crate::sqlite) fn tenants(db: &Connection) -> Result<Vec<String>, StoreError> {
    rows(db, "SELECT name FROM tenants ORDER BY tenant", [], |row| row.get(0))
}

pub(in crate::sqlite) fn usage(
    db: &Connection,
    reach: &Reach,
    tenant: TenantNo,
    filter: &StreamFilter,
) -> Result<Vec<UsageRow>, StoreError> {
    let kind = filter.kind as u8;
    let Conditions { sql: passes, values } = Conditions::of(filter, 3)?;
    let visible = Visible::new(reach, 3 + values.len());
    let sql = format!(
        "SELECT u.stream, u.seq, u.at, u.key, u.model, u.input, u.cache_read, u.cache_write, u.output
         FROM usage u JOIN streams s ON s.stream = u.stream
         WHERE u.tenant = ?1 AND s.what = {kind} AND u.at >= ?2{passes}{} ORDER BY u.stream, u.seq",
        visible.stream("s")
    );
    let since = filter.since.map_or(i64::MIN, |since| since.0);
    let mut own: Vec<&dyn ToSql> = vec![&tenant.0, &since];
    own.extend(values.iter().map(AsRef::as_ref));
    rows(db, &sql, visible.with(&own), |row| {
        Ok(UsageRow {
            stream: StreamNo(row.get(0)?),
            seq: Seq(row.get(1)?),
            at: Millis(row.get(2)?),
            usage: EventUsage {
                key: row.get(3)?,
                model: row.get(4)?,
                input: Tokens(row.get(5)?),
                cache_read: Tokens(row.get(6)?),
                cache_write: Tokens(row.get(7)?),
                output: Tokens(row.get(8)?),
            },
        })
    })
}

pub(in crate::sqlite) fn places(
    db: &Connection,
    reach: &Reach,
    tenant: TenantNo,
    record: i64,
) -> Result<Vec<(StreamId, Seq)>, StoreError> {
    let visible = Visible::new(reach, 3);
    let sql = format!(
        "SELECT s.id, r.seq FROM records r JOIN streams s ON s.stream = r.stream
         WHERE r.tenant = ?1 AND r.record = ?2{} ORDER BY r.stream",
        visible.stream("s")
    );
    let own = params![tenant.0, record];
    rows(db, &sql, visible.with(own), |row| Ok((stream_id(row.get(0)?)?, Seq(row.get(1)?))))
}

/// Returns, for each id, the event with that id in a stream or in its ancestors.
pub(in crate::sqlite) fn known(
    db: &Connection,
    tenant: TenantNo,
    stream: &StreamId,
    ids: &[EventId],
) -> Result<Vec<Option<KnownEvent>>, StoreError> {
    Ids::of(db, tenant)?.find_all(db, tenant, stream, ids)
}

pub(in crate::sqlite) const EVENT: &str = "SELECT stream, seq, id, at, kind, version, origin, payload, salt, proof, text, checksum, lane, author, spans FROM events";

pub(in crate::sqlite) fn event_row(row: &Row<'_>) -> rusqlite::Result<StoredEvent> {
    let salt: Option<[u8; 16]> = row.get(8)?;
    Ok(StoredEvent {
        stream: StreamNo(row.get(0)?),
        seq: Seq(row.get(1)?),
        id: EventId::new(row.get::<_, String>(2)?).map_err(unreadable)?,
        at: Millis(row.get(3)?),
        kind: row.get(4)?,
        version: row.get(5)?,
        origin: row.get(6)?,
        payload: row.get(7)?,
        proof: salt.map(|salt| row.get(9).map(|proof| (salt, proof))).transpose()?,
        checksum: row.get(11)?,
        lane: row.get::<_, Option<String>>(12)?.map(LaneId::new).transpose().map_err(unreadable)?,
        authors: authors_of(row.get(13)?, row.get(14)?),
        counts: Vec::new(),
    })
}

/// Condition of an [`EventFilter`]. The role is parameter 6, the tool 7, the path 8, the time 9, the author 10. The tool and the path of
/// a result are those of the latest assistant message before it.
const ACCEPTED: &str = "
     AND (?6 IS NULL OR role = ?6)
     AND (?7 IS NULL OR ?7 = coalesce(tool, CASE WHEN role = 3 THEN (SELECT c.tool FROM events c
         WHERE c.tenant = ?1 AND c.stream = events.stream AND c.seq < events.seq AND c.role = 2 ORDER BY c.seq DESC LIMIT 1) END))
     AND (?8 IS NULL OR EXISTS (SELECT 1 FROM (SELECT coalesce(path, CASE WHEN role = 3 THEN (SELECT c.path FROM events c
         WHERE c.tenant = ?1 AND c.stream = events.stream AND c.seq < events.seq AND c.role = 2 ORDER BY c.seq DESC LIMIT 1) END) AS p)
         WHERE p = ?8 OR substr(p, 1, length(?8) + 1) = ?8 || '/' OR substr(p, -length(?8) - 1) = '/' || ?8))
     AND at >= ?9
     AND (?10 IS NULL OR author = ?10)";

/// Returns the values of [`ACCEPTED`], none for a filter that accepts everything.
fn accepted(filter: &EventFilter) -> Vec<Box<dyn rusqlite::ToSql>> {
    if filter.is_open() {
        return Vec::new();
    }
    vec![
        Box::new(filter.role.map(|role| role as u8)),
        Box::new(filter.tool.clone()),
        Box::new(filter.path.clone()),
        Box::new(filter.since.map_or(i64::MIN, |since| since.0)),
        Box::new(filter.author.map(author_sql)),
    ]
}

pub(in crate::sqlite) fn events(db: &Connection, query: &Query) -> Result<Vec<StoredEvent>, StoreError> {
    let Query::Events { tenant, stream, from, to, order, limit, text, counts, filter } = query else {
        return Ok(Vec::new());
    };
    let mut line = Lineage::of(db, *tenant, stream)?;
    let mut start: Option<u64> = None;
    if *order == ReadOrder::Ascending {
        start = Some(sums(db, *tenant, &mut line, from.prev())?.text.0);
    }
    let mut stretches = line.down_to(*from)?;
    if *order == ReadOrder::Ascending {
        stretches.reverse();
    }
    let direction = if *order == ReadOrder::Ascending { "ASC" } else { "DESC" };
    let passes = if filter.is_open() { "" } else { ACCEPTED };
    let sql = format!(
        "{EVENT} WHERE tenant = ?1 AND stream = ?2 AND seq BETWEEN ?3 AND ?4 {passes} ORDER BY seq {direction} LIMIT ?5"
    );
    let mut found = Vec::new();
    for stretch in stretches {
        let (low, high) = (stretch.from.max(*from), stretch.to.min(*to));
        let left = limit.saturating_sub(found.len() as u64);
        if low > high || left == 0 {
            continue;
        }
        let mut statement = db.prepare_cached(&sql).map_err(|error| failure(&error))?;
        let (high, left) = (high.0.min(i64::MAX as u64), left.min(i64::MAX as u64));
        let own = params![tenant.0, stretch.no.0, low.0, high, left];
        let conditions = accepted(filter);
        let values = own.iter().copied().chain(conditions.iter().map(AsRef::as_ref));
        let mut rows =
            statement.query(rusqlite::params_from_iter(values)).map_err(|error| failure(&error))?;
        while let Some(row) = rows.next().map_err(|error| failure(&error))? {
            let upto: u64 = row.get(10).map_err(|error| failure(&error))?;
            let mut event = event_row(row).map_err(|error| failure(&error))?;
            if *counts {
                event.counts = event_counts(db, *tenant, &event)?;
            }
            // The column is a running sum, so the length of the texts read is the difference between two sums. In
            // descending order, a row's sum shows the length of the texts already read, not counting the row itself.
            let read = upto.abs_diff(*start.get_or_insert(upto)) > text.0;
            if read && *order == ReadOrder::Descending {
                return Ok(found);
            }
            found.push(event);
            if read {
                return Ok(found);
            }
        }
    }
    Ok(found)
}

pub(in crate::sqlite) fn at(
    db: &Connection,
    tenant: TenantNo,
    stream: &StreamId,
    seqs: &[Seq],
    filter: &EventFilter,
) -> Result<Vec<StoredEvent>, StoreError> {
    let lowest = seqs.iter().min().copied().unwrap_or(Seq(u64::MAX));
    let stretches = Lineage::of(db, tenant, stream)?.down_to(lowest)?;
    let passes = if filter.is_open() { "" } else { ACCEPTED };
    let conditions = accepted(filter);
    // The parameters 4 and 5 belong to ranges of events.
    let sql = format!(
        "{EVENT} WHERE tenant = ?1 AND stream = ?2 AND seq = ?3 AND ?4 IS NULL AND ?5 IS NULL {passes}"
    );
    let mut found = Vec::with_capacity(seqs.len());
    for seq in seqs {
        let holder = stretches.iter().find(|stretch| stretch.from <= *seq && *seq <= stretch.to);
        if let Some(holder) = holder {
            let own = params![tenant.0, holder.no.0, seq.0, None::<u64>, None::<u64>];
            let values = own.iter().copied().chain(conditions.iter().map(AsRef::as_ref));
            let event = row(db, &sql, rusqlite::params_from_iter(values), event_row)?;
            if let Some(mut event) = event {
                event.counts = event_counts(db, tenant, &event)?;
                found.push(event);
            }
        }
    }
    Ok(found)
}

/// Returns the positions of the events that pass a filter. No content is read.
pub(in crate::sqlite) fn passing(
    db: &Connection,
    reach: &Reach,
    query: &Query,
) -> Result<Vec<(StreamNo, Seq)>, StoreError> {
    let Query::Passing { tenant, streams, filter } = query else { return Ok(Vec::new()) };
    let list =
        |streams: &Vec<StreamNo>| streams.iter().map(|no| no.0.to_string()).collect::<Vec<_>>().join(",");
    let numbers = streams.as_ref().map(|streams| format!("[{}]", list(streams)));
    let conditions = accepted(filter);
    let mut own: Vec<&dyn ToSql> = vec![&tenant.0, &numbers];
    let passes = if filter.is_open() { "" } else { ACCEPTED };
    if !filter.is_open() {
        // The parameters 3 to 5 belong to ranges of events.
        own.extend([&None::<u64> as &dyn ToSql; 3]);
        own.extend(conditions.iter().map(AsRef::as_ref));
    }
    let visible = Visible::new(reach, own.len() + 1);
    let sql = format!(
        "SELECT stream, seq FROM events WHERE tenant = ?1 AND stream IN (SELECT s.stream FROM streams s
             WHERE s.tenant = ?1 AND (?2 IS NULL OR s.stream IN (SELECT value FROM json_each(?2))){})
         {passes} ORDER BY stream, seq",
        visible.stream("s")
    );
    rows(db, &sql, visible.with(&own), |row| Ok((StreamNo(row.get(0)?), Seq(row.get(1)?))))
}

fn event_counts(
    db: &Connection,
    tenant: TenantNo,
    event: &StoredEvent,
) -> Result<Vec<(Handle, BodyCount)>, StoreError> {
    let sql = "SELECT c.o200k, c.cl100k, c.class, c.escaped, c.quotes, b.handle FROM refs r
               JOIN counts c ON c.blob = r.blob JOIN blobs b ON b.blob = r.blob
               WHERE r.tenant = ?1 AND r.stream = ?2 AND r.seq = ?3";
    rows(db, sql, params![tenant.0, event.stream.0, event.seq.0], |row| {
        Ok((handle_of(row.get(5)?), count_row(row)?))
    })
}

fn count_row(row: &Row<'_>) -> rusqlite::Result<BodyCount> {
    Ok(BodyCount {
        o200k: row.get(0)?,
        cl100k: row.get(1)?,
        class: row.get(2)?,
        escaped: row.get(3)?,
        quotes: row.get(4)?,
    })
}

pub(in crate::sqlite) fn blob(
    db: &Connection,
    reach: &Reach,
    tenant: TenantNo,
    handle: Handle,
) -> Result<Option<PackedBlob>, StoreError> {
    let visible = Visible::new(reach, 3);
    let sql = format!(
        "SELECT hash, bytes, data FROM blobs b WHERE b.tenant = ?1 AND b.handle = ?2{}",
        visible.body("b.blob")
    );
    row(db, &sql, visible.with(params![tenant.0, handle_sql(handle)]), |row| {
        Ok(PackedBlob { handle, hash: row.get(0)?, bytes: Bytes(row.get(1)?), data: row.get(2)? })
    })
}

pub(in crate::sqlite) fn count(
    db: &Connection,
    reach: &Reach,
    tenant: TenantNo,
    handle: Handle,
) -> Result<Option<BodyCount>, StoreError> {
    let visible = Visible::new(reach, 3);
    let sql = format!(
        "SELECT c.o200k, c.cl100k, c.class, c.escaped, c.quotes FROM blobs b JOIN counts c ON c.blob = b.blob
         WHERE b.tenant = ?1 AND b.handle = ?2{}",
        visible.body("b.blob")
    );
    row(db, &sql, visible.with(params![tenant.0, handle_sql(handle)]), count_row)
}

pub(in crate::sqlite) fn tallies(
    db: &Connection,
    tenant: TenantNo,
    stream: &StreamId,
    seqs: &[Seq],
) -> Result<Vec<TallyRow>, StoreError> {
    let mut line = Lineage::of(db, tenant, stream)?;
    seqs.iter().map(|seq| tally(db, tenant, &mut line, *seq)).collect()
}

fn tally(
    db: &Connection,
    tenant: TenantNo,
    line: &mut Lineage<'_>,
    seq: Seq,
) -> Result<TallyRow, StoreError> {
    let mut tally = sums(db, tenant, line, seq)?;
    let Some(first) = line.holder(seq)? else { return Ok(tally) };
    // A fork's own token sum begins at its base. The sums of its ancestors are added.
    let sql = "SELECT tokens FROM tallies WHERE tenant = ?1 AND stream = ?2 AND seq = ?3";
    let mut index = first;
    while let Some(part) = line.get(index)? {
        let values = params![tenant.0, part.no.0, part.to.min(seq).0];
        let own = row(db, sql, values, |row| row.get(0))?.map(Tokens);
        tally.tokens = tally.tokens.zip(own).map(|(sum, own)| sum + own);
        index = if tally.tokens.is_some() { index + 1 } else { break };
    }
    Ok(tally)
}

/// Returns the sums at a position, without the tokens of its events.
pub(in crate::sqlite) fn sums(
    db: &Connection,
    tenant: TenantNo,
    line: &mut Lineage<'_>,
    seq: Seq,
) -> Result<TallyRow, StoreError> {
    let none = TallyRow { tokens: Some(Tokens::ZERO), ..TallyRow::default() };
    let Some(index) = line.holder(seq)? else { return Ok(none) };
    let Some(holder) = line.get(index)? else { return Ok(none) };
    let sums = row(
        db,
        "SELECT messages, text FROM events WHERE tenant = ?1 AND stream = ?2 AND seq = ?3",
        params![tenant.0, holder.no.0, seq.min(holder.to).0],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let (messages, text) = sums.unwrap_or_default();
    Ok(TallyRow { messages, text: Bytes(text), ..none })
}

pub(in crate::sqlite) fn resolve(
    db: &Connection,
    reach: &Reach,
    tenant: TenantNo,
    of: StreamKind,
    handle: Handle,
) -> Result<Option<HandleTarget>, StoreError> {
    let (visible, own) = (Visible::new(reach, 3), params![tenant.0, handle_sql(handle)]);
    let sql =
        format!("SELECT 1 FROM blobs b WHERE b.tenant = ?1 AND b.handle = ?2{}", visible.body("b.blob"));
    if row(db, &sql, visible.with(own), |_| Ok(()))?.is_some() {
        return Ok(Some(HandleTarget::Blob));
    }
    let sql = format!(
        "SELECT s.what, s.id FROM streams s WHERE s.tenant = ?1 AND s.handle = ?2{}",
        visible.stream("s")
    );
    let stream =
        row(db, &sql, visible.with(own), |row| Ok((stream_kind(row.get(0)?)?, stream_id(row.get(1)?)?)))?;
    if let Some((kind, id)) = stream {
        return Ok((kind == of).then_some(HandleTarget::Stream(id)));
    }
    let is_visible = visible.source("s.source");
    let sql = format!("SELECT s.source FROM sources s WHERE s.tenant = ?1 AND s.handle = ?2{is_visible}");
    if let Some(no) = row(db, &sql, visible.with(own), |row| row.get(0))? {
        return Ok(Some(HandleTarget::Source(SourceNo(no), None)));
    }
    let sql = format!(
        "SELECT s.source, r.revision FROM source_revisions r JOIN sources s ON s.source = r.source
         WHERE s.tenant = ?1 AND r.handle = ?2{is_visible}"
    );
    let read = |row: &Row<'_>| Ok(HandleTarget::Source(SourceNo(row.get(0)?), Some(row.get(1)?)));
    row(db, &sql, visible.with(own), read)
}

pub(in crate::sqlite) fn handles(
    db: &Connection,
    reach: &Reach,
    query: &Query,
) -> Result<Vec<Handle>, StoreError> {
    let Query::Handles { tenant, of, first, last, limit } = query else { return Ok(Vec::new()) };
    let visible = Visible::new(reach, 6);
    // Handles are stored as signed integers. All handles of a range share their first digits and therefore the sign,
    // so `BETWEEN` selects the right ones.
    let sql = format!(
        "SELECT handle FROM blobs b WHERE b.tenant = ?1 AND b.handle BETWEEN ?2 AND ?3{}
         UNION SELECT handle FROM streams s WHERE s.tenant = ?1 AND s.handle BETWEEN ?2 AND ?3 AND s.what = ?5{}
         UNION SELECT handle FROM sources s WHERE s.tenant = ?1 AND s.handle BETWEEN ?2 AND ?3{source}
         UNION SELECT r.handle FROM source_revisions r JOIN sources s ON s.source = r.source
               WHERE s.tenant = ?1 AND r.handle BETWEEN ?2 AND ?3{source}
         ORDER BY 1 LIMIT ?4",
        visible.body("b.blob"),
        visible.stream("s"),
        source = visible.source("s.source")
    );
    let limit = (*limit).min(i64::MAX as u64);
    let own = params![tenant.0, handle_sql(*first), handle_sql(*last), limit, *of as u8];
    rows(db, &sql, visible.with(own), |row| Ok(handle_of(row.get(0)?)))
}

pub(in crate::sqlite) fn holders(
    db: &Connection,
    reach: &Reach,
    query: &Query,
) -> Result<Vec<(StreamNo, Seq)>, StoreError> {
    let Query::Holders { tenant, of, handle, limit } = query else { return Ok(Vec::new()) };
    let visible = Visible::new(reach, 5);
    let sql = format!(
        "SELECT r.stream, r.seq FROM blobs b JOIN refs r ON r.tenant = b.tenant AND r.blob = b.blob
         JOIN streams s ON s.stream = r.stream
         WHERE b.tenant = ?1 AND b.handle = ?2 AND s.what = ?4{} ORDER BY r.stream, r.seq LIMIT ?3",
        visible.stream("s")
    );
    let own = params![tenant.0, handle_sql(*handle), (*limit).min(i64::MAX as u64), *of as u8];
    rows(db, &sql, visible.with(own), |row| Ok((StreamNo(row.get(0)?), Seq(row.get(1)?))))
}

pub(in crate::sqlite) fn segments(
    db: &Connection,
    tenant: TenantNo,
    table: DerivedTable,
) -> Result<Vec<SegmentInfo>, StoreError> {
    let sql = "SELECT segment, docs, bytes, header FROM index_segments WHERE tenant = ?1 AND what = ?2
               ORDER BY segment DESC";
    rows(db, sql, params![tenant.0, table as u8], |row| {
        Ok(SegmentInfo { id: row.get(0)?, docs: row.get(1)?, bytes: Bytes(row.get(2)?), header: row.get(3)? })
    })
}

pub(in crate::sqlite) fn block(
    db: &Connection,
    tenant: TenantNo,
    segment: u64,
    number: u32,
) -> Result<Option<Vec<u8>>, StoreError> {
    let sql = "SELECT data FROM index_blocks WHERE tenant = ?1 AND segment = ?2 AND block = ?3";
    row(db, sql, params![tenant.0, segment, number], |row| row.get(0))
}

pub(in crate::sqlite) fn segment_blocks(
    db: &Connection,
    tenant: TenantNo,
    segment: u64,
) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
    let sql = "SELECT data FROM index_blocks WHERE tenant = ?1 AND segment = ?2 ORDER BY block";
    rows(db, sql, params![tenant.0, segment], |row| row.get(0).map(Some))
}
