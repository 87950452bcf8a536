//! Reads rows of streams.

use crate::query::Query;
use crate::row::{
    DerivedTable, Frontiers, SourceNo, StreamFilter, StreamInfo, StreamKind, StreamNo, TenantNo,
};
use crate::sqlite::conditions::{Conditions, Visible};
use crate::sqlite::sql::{handle_of, row, rows, stream_id, unreadable};
use crate::{Reach, StoreError};
use rusqlite::types::ToSql;
use rusqlite::{Connection, Row, params};
use wunderblock_core::id::{Scope, StreamId};
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};

/// Query for the rows of streams. The frontiers are one text of pairs such as `0:12,1:9`, so that a new derived table
/// changes nothing here.
const STREAM: &str =
    "SELECT s.stream, s.id, s.handle, s.head, p.id, s.base, s.parent, s.user, s.project, s.agent, s.session, s.run,
     k.source, k.revision, s.opened_at, s.updated_at, s.messages, s.text, s.first_user, s.said, s.what,
     (SELECT group_concat(f.what || ':' || f.seq) FROM frontiers f WHERE f.stream = s.stream),
     s.said_at, s.title, s.tags, s.branch, s.model, s.tokens, s.folder,
     EXISTS (SELECT 1 FROM source_revisions r WHERE r.source = k.source AND r.revision = k.revision AND r.whole = 0)
     FROM streams s LEFT JOIN streams p ON p.stream = s.fork_of
     LEFT JOIN stream_sources k ON k.link = (SELECT max(link) FROM stream_sources WHERE stream = s.stream)";

fn stream_row(row: &Row<'_>) -> rusqlite::Result<StreamInfo> {
    let forked: Option<String> = row.get(4)?;
    let base = Seq(row.get(5)?);
    let parent: Option<String> = row.get(6)?;
    Ok(StreamInfo {
        no: StreamNo(row.get(0)?),
        id: stream_id(row.get(1)?)?,
        handle: handle_of(row.get(2)?),
        head: Seq(row.get(3)?),
        fork: forked.map(|id| stream_id(id).map(|id| (id, base))).transpose()?,
        parent: parent.map(stream_id).transpose()?,
        scope: Scope {
            user: row.get(7)?,
            project: row.get(8)?,
            folder: row.get(28)?,
            agent: row.get(9)?,
            session: row.get(10)?,
            run: row.get(11)?,
        },
        source: row.get::<_, Option<i64>>(12)?.map(SourceNo).zip(row.get(13)?),
        opened_at: Millis(row.get(14)?),
        updated_at: Millis(row.get(15)?),
        messages: row.get(16)?,
        text: Bytes(row.get(17)?),
        first_user: row.get::<_, Option<u64>>(18)?.map(Seq),
        said: Seq(row.get(19)?),
        kind: stream_kind(row.get(20)?)?,
        frontiers: frontiers_of(base, row.get(21)?)?,
        said_at: Millis(row.get(22)?),
        title: row.get(23)?,
        tags: tags_of(row.get(24)?)?,
        branch: row.get(25)?,
        model: row.get(26)?,
        tokens: Tokens(row.get(27)?),
        unfinished: row.get(29)?,
    })
}

/// Returns the kind of a stream by its number.
pub(in crate::sqlite) fn stream_kind(number: usize) -> rusqlite::Result<StreamKind> {
    let kind = StreamKind::ALL.get(number).copied();
    kind.ok_or_else(|| unreadable(StoreError::Damaged(format!("a stream has the unknown kind {number}"))))
}

/// Returns the frontiers of a stream. A table without a frontier covers nothing after the base.
fn frontiers_of(base: Seq, pairs: Option<String>) -> rusqlite::Result<Frontiers> {
    let mut frontiers = Frontiers::at(base);
    let pairs = pairs.unwrap_or_default();
    for pair in pairs.split(',').filter(|pair| !pair.is_empty()) {
        let place = pair
            .split_once(':')
            .and_then(|(table, seq)| Some((table.parse::<usize>().ok()?, seq.parse::<u64>().ok()?)));
        let Some((table, seq)) = place else {
            return Err(unreadable(StoreError::Damaged(format!("a stream has the frontier `{pair}`"))));
        };
        if let Some(table) = DerivedTable::ALL.get(table) {
            frontiers.set(*table, Seq(seq));
        }
    }
    Ok(frontiers)
}

/// Finds a stream by id, whatever its kind.
pub(in crate::sqlite) fn stream(
    db: &Connection,
    tenant: TenantNo,
    id: &StreamId,
) -> Result<Option<StreamInfo>, StoreError> {
    let sql = format!("{STREAM} WHERE s.tenant = ?1 AND s.id = ?2");
    row(db, &sql, params![tenant.0, id.as_str()], stream_row)
}

pub(in crate::sqlite) fn stream_by_no(
    db: &Connection,
    tenant: TenantNo,
    no: StreamNo,
) -> Result<Option<StreamInfo>, StoreError> {
    let sql = format!("{STREAM} WHERE s.tenant = ?1 AND s.stream = ?2");
    row(db, &sql, params![tenant.0, no.0], stream_row)
}

pub(in crate::sqlite) fn streams(
    db: &Connection,
    reach: &Reach,
    tenant: TenantNo,
    filter: &StreamFilter,
    limit: u64,
) -> Result<Vec<StreamInfo>, StoreError> {
    let kind = filter.kind as u8;
    let Conditions { sql: passes, values } = Conditions::of(filter, 4)?;
    let visible = Visible::new(reach, 4 + values.len());
    // The rows are made only for the streams that are returned.
    let sql = format!(
        "{STREAM} WHERE s.stream IN (
             SELECT s.stream FROM streams s WHERE s.tenant = ?1 AND s.what = {kind} AND s.said_at >= ?2{passes}{}
             ORDER BY s.said_at DESC, s.stream DESC LIMIT ?3)
         ORDER BY s.said_at DESC, s.stream DESC",
        visible.stream("s")
    );
    let since = filter.since.map_or(i64::MIN, |since| since.0);
    // SQLite's integers are signed, so limits and positions are capped at `i64::MAX`.
    let limit = limit.min(i64::MAX as u64);
    let mut own: Vec<&dyn ToSql> = vec![&tenant.0, &since, &limit];
    own.extend(values.iter().map(AsRef::as_ref));
    rows(db, &sql, visible.with(&own), stream_row)
}

/// Returns whether a stream exists and is in reach.
pub(in crate::sqlite) fn is_visible(
    db: &Connection,
    reach: &Reach,
    tenant: TenantNo,
    id: &StreamId,
) -> Result<bool, StoreError> {
    let visible = Visible::new(reach, 3);
    let sql = format!("SELECT 1 FROM streams s WHERE s.tenant = ?1 AND s.id = ?2{}", visible.stream("s"));
    let own = params![tenant.0, id.as_str()];
    Ok(row(db, &sql, visible.with(own), |_| Ok(()))?.is_some())
}

fn tags_of(json: Option<String>) -> rusqlite::Result<Vec<Box<str>>> {
    json.map_or(Ok(Vec::new()), |json| serde_json::from_str(&json).map_err(unreadable))
}

pub(in crate::sqlite) fn read_from(
    db: &Connection,
    reach: &Reach,
    tenant: TenantNo,
    source: SourceNo,
    revision: Option<u32>,
) -> Result<Vec<StreamInfo>, StoreError> {
    let visible = Visible::new(reach, 4);
    let sql = format!(
        "{STREAM} WHERE s.tenant = ?1 AND EXISTS (
            SELECT 1 FROM stream_sources l WHERE l.stream = s.stream AND l.source = ?2
            AND (?3 IS NULL OR l.revision = ?3)){} ORDER BY s.stream",
        visible.stream("s")
    );
    rows(db, &sql, visible.with(params![tenant.0, source.0, revision]), stream_row)
}

pub(in crate::sqlite) fn behind(
    db: &Connection,
    reach: &Reach,
    query: &Query,
) -> Result<Vec<StreamInfo>, StoreError> {
    let Query::Behind { tenant, of, tables, limit } = query else { return Ok(Vec::new()) };
    let visible = Visible::new(reach, 4);
    let tables = tables.iter().map(|table| (*table as u8).to_string()).collect::<Vec<_>>().join(", ");
    let sql = format!(
        "{STREAM} WHERE s.stream IN (SELECT stream FROM frontiers WHERE tenant = ?1 AND what IN ({tables}) AND behind)
         AND s.tenant = ?1 AND s.what = ?2{} ORDER BY s.stream LIMIT ?3",
        visible.stream("s")
    );
    let own = params![tenant.0, *of as u8, (*limit).min(i64::MAX as u64)];
    rows(db, &sql, visible.with(own), stream_row)
}
