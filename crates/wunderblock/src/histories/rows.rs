//! Rows of a session of OpenCode (`packages/opencode/src/session/session.sql.ts`) as members, and those that changed
//! since an earlier reading.
//!
//! OpenCode sets `time_updated` with each change of a row, and never changes `time_created`. So a later reading needs
//! only the rows from the latest update on, unless an older row is gone.

use super::database::failed;
use super::json::{joined, object, quoted};
use super::member::{Member, too_large};
use crate::base::error::Error;
use crate::histories::rows_read::RowsRead;
use crate::limits::MAX_MEMBERS;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use wunderblock_store::codec::checksum;

/// When a row of a session was created and updated.
struct RowTime {
    message: String,
    created: i64,
    updated: i64,
}

/// Times of all rows of a session: those of messages, and those of parts.
struct RowTimes([Vec<RowTime>; 2]);

impl RowTimes {
    /// Reads the times. `None` if they cannot be read or a row has none: then the session is read whole, as if nothing
    /// were remembered.
    fn read(snapshot: &Connection, id: &str) -> Option<Self> {
        let of = |query: &str| -> Option<Vec<RowTime>> {
            let mut query = snapshot.prepare(query).ok()?;
            let rows = query.query_map([id], |row| {
                Ok(RowTime { message: row.get(0)?, created: row.get(1)?, updated: row.get(2)? })
            });
            rows.ok()?.collect::<rusqlite::Result<_>>().ok()
        };
        let messages = of("SELECT id, time_created, time_updated FROM message WHERE session_id = ?1")?;
        let parts = of("SELECT message_id, time_created, time_updated FROM part WHERE session_id = ?1")?;
        Some(Self([messages, parts]))
    }

    /// Returns the messages that have changed since a time, themselves or in a part.
    fn changed(&self, since: i64) -> BTreeSet<&str> {
        let rows = self.0.iter().flatten().filter(|row| row.updated >= since);
        rows.map(|row| row.message.as_str()).collect()
    }

    /// Returns the number of rows that were created or updated before a time, and the sum of their creation times. Of
    /// these rows, those that were created before remain until they are removed.
    fn before(&self, at: i64) -> [(i64, i64); 2] {
        [0, 1].map(|table| {
            let rows = self.0.get(table).into_iter().flatten();
            let rows = rows.filter(|row| row.created < at || row.updated < at);
            rows.fold((0, 0_i64), |(count, sum), row| (count + 1, sum.wrapping_add(row.created)))
        })
    }

    /// Describes a reading of members, which contain all that changed at the latest update.
    fn latest(&self, members: &[Member]) -> RowsRead {
        let updated = self.0.iter().flatten().map(|row| row.updated).max().unwrap_or_default();
        let changed = self.changed(updated);
        let is_latest = |member: &&Member| member.id.as_deref().is_none_or(|id| changed.contains(id));
        let latest = members.iter().filter(is_latest);
        let latest = latest.map(|member| (member.id.clone(), checksum(&[&member.line]))).collect();
        RowsRead { updated, before: self.before(updated), latest }
    }
}

/// Describes a reading of all members. `None` if a row has no times.
pub(super) fn remembered(snapshot: &Connection, id: &str, members: &[Member]) -> Option<RowsRead> {
    Some(RowTimes::read(snapshot, id)?.latest(members))
}

/// Returns the members that are new or have changed since a reading. `None` if that cannot be told, because a row is
/// gone or no row has a later time.
pub(super) fn gained(
    snapshot: &Connection,
    path: &Path,
    id: &str,
    since: &RowsRead,
) -> Result<Option<(Vec<Member>, RowsRead)>, Error> {
    let Some(times) =
        RowTimes::read(snapshot, id).filter(|times| times.before(since.updated) == since.before)
    else {
        return Ok(None);
    };
    let changed = times.changed(since.updated);
    let mut members = read(snapshot, path, id, Some(&changed))?.unwrap_or_default();
    let is_there = |(id, _): &(Option<String>, i64)| members.iter().any(|member| member.id == *id);
    if !since.latest.iter().all(is_there) {
        return Ok(None);
    }
    let now = times.latest(&members);
    members.retain(|member| {
        let line = checksum(&[&member.line]);
        !since.latest.iter().any(|(id, known)| *id == member.id && *known == line)
    });
    Ok((!members.is_empty()).then_some((members, now)))
}

/// Returns the members of a session: all of them, or the session and some messages. `None` if there is no such session.
pub(super) fn read(
    snapshot: &Connection,
    path: &Path,
    id: &str,
    only: Option<&BTreeSet<&str>>,
) -> Result<Option<Vec<Member>>, Error> {
    let key = path.join(id);
    let only = only.map(|only| serde_json::Value::from_iter(only.iter().copied()).to_string());
    let mut left = Some(MAX_MEMBERS);
    let mut rows = |query: &str| -> Result<Vec<(String, String, String)>, Error> {
        let told = |row: &Row<'_>| {
            let (id, message) = (text(row, "id")?, text(row, "message_id").unwrap_or_default());
            let told = if left.is_some() { fields(row)? } else { String::new() };
            left = left.and_then(|left| left.checked_sub(told.len()));
            Ok((id, message, told))
        };
        let found = snapshot
            .prepare(query)
            .and_then(|mut query| query.query_map((id, &only), told)?.collect::<rusqlite::Result<Vec<_>>>());
        let found = found.map_err(|error| failed(path, &error))?;
        if left.is_some() { Ok(found) } else { Err(too_large(&key)) }
    };
    // Every query names both values.
    let session = rows("SELECT * FROM session WHERE id = ?1 AND (?2 IS NULL OR true)")?;
    let chosen = |column: &str| match &only {
        Some(_) => format!("{column} IN (SELECT value FROM json_each(?2)) AND session_id = ?1"),
        None => "session_id = ?1 AND ?2 IS NULL".to_owned(),
    };
    let messages = rows(&format!("SELECT * FROM message WHERE {} ORDER BY time_created, id", chosen("id")))?;
    let of_messages =
        rows(&format!("SELECT * FROM part WHERE {} ORDER BY message_id, id", chosen("message_id")))?;
    let mut parts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (_, message, part) in of_messages {
        parts.entry(message).or_default().push(part);
    }
    let Some((_, _, session)) = session.into_iter().next() else { return Ok(None) };
    let mut members = vec![Member { id: None, line: format!("{{\"info\":{session}}}").into_bytes() }];
    for (id, _, message) in messages {
        let inner = parts.remove(&id).unwrap_or_default().join(",");
        let line = format!("{{\"parts\":[{inner}],\"info\":{message}}}").into_bytes();
        members.push(Member { id: Some(id), line });
    }
    Ok(Some(members))
}

fn text(row: &Row<'_>, column: &str) -> rusqlite::Result<String> {
    Ok(String::from_utf8_lossy(row.get_ref(column)?.as_bytes_or_null()?.unwrap_or_default()).into_owned())
}

/// Returns a row as an object: its columns, followed by the fields of the object in the column `data`.
fn fields(row: &Row<'_>) -> rusqlite::Result<String> {
    let (mut own, mut data) = (Vec::new(), None);
    let names: Vec<String> = row.as_ref().column_names().map(ToOwned::to_owned).collect();
    for (index, name) in names.iter().enumerate() {
        let value = match row.get_ref(index)? {
            ValueRef::Null => continue,
            ValueRef::Integer(number) => number.to_string(),
            ValueRef::Real(number) => serde_json::Value::from(number).to_string(),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => match object(bytes) {
                Some(object) if name == "data" => {
                    data = Some(object);
                    continue;
                }
                Some(object) => object,
                None => quoted(&String::from_utf8_lossy(bytes)),
            },
        };
        // OpenCode itself reads the id of the session under this name.
        let name = if name == "session_id" { "sessionID" } else { name };
        own.push(format!("{}:{value}", quoted(name)));
    }
    let own = format!("{{{}}}", own.join(","));
    Ok(data.map_or(own.clone(), |data| joined(&own, &data)))
}
