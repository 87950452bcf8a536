//! Conversations of Cursor in the table `cursorDiskKV` of `state.vscdb`: the value of `composerData:CONVERSATION` lists
//! the bubbles, and those of `bubbleId:CONVERSATION:BUBBLE` hold them.

use super::json::{joined, object_or_string, quoted};
use super::member::Member;
use rusqlite::{Connection, OptionalExtension};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Each conversation with bubbles, with its last update, its length, and the number and length of its bubbles. Keys are
/// sought as ranges, because `;` follows `:`.
pub(super) const SESSIONS: &str = "SELECT s.id, s.at, s.len, 1, NULL, s.len, b.n, NULL, b.len FROM
 (SELECT substr(key, 14) AS id, octet_length(value) AS len, CASE WHEN json_valid(CAST(value AS TEXT))
   THEN CAST(json_extract(CAST(value AS TEXT), '$.lastUpdatedAt') AS INTEGER) END AS at
  FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;') s
 JOIN (SELECT substr(key, 10, instr(substr(key, 10), ':') - 1) AS id, count(*) AS n, sum(octet_length(value)) AS len
  FROM cursorDiskKV WHERE key >= 'bubbleId:' AND key < 'bubbleId;' GROUP BY 1) b ON b.id = s.id";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Composer {
    full_conversation_headers_only: Option<Vec<Header>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header {
    bubble_id: String,
}

/// Returns the members of a conversation: its own value, and its bubbles in their order. `None` if the database has no
/// such conversation. Bubbles that the conversation does not list have been taken back.
pub(super) fn members(database: &Connection, id: &str) -> rusqlite::Result<Option<Vec<Member>>> {
    let one = "SELECT CAST(value AS BLOB) FROM cursorDiskKV WHERE key = ?1";
    let value: Option<Option<Vec<u8>>> =
        database.query_row(one, [format!("composerData:{id}")], |row| row.get(0)).optional()?;
    let Some(value) = value.flatten() else { return Ok(None) };
    let line = format!("{{\"composer\":{}}}", object_or_string(&value));
    let mut members = vec![Member { id: None, line: line.into_bytes() }];
    let many = "SELECT key, CAST(value AS BLOB) FROM cursorDiskKV WHERE key >= ?1 AND key < ?2 ORDER BY key";
    let prefix = format!("bubbleId:{id}:");
    let mut bubbles: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut query = database.prepare(many)?;
    let mut rows = query.query([&prefix, &format!("bubbleId:{id};")])?;
    while let Some(row) = rows.next()? {
        let (key, value): (String, Option<Vec<u8>>) = (row.get(0)?, row.get(1)?);
        let bubble = key.strip_prefix(&prefix).unwrap_or_default().to_owned();
        bubbles.extend(value.map(|value| (bubble, value)));
    }
    let composer = serde_json::from_slice::<Composer>(&value).ok();
    let order = match composer.and_then(|composer| composer.full_conversation_headers_only) {
        Some(headers) => headers.into_iter().map(|header| header.bubble_id).collect(),
        None => bubbles.keys().cloned().collect::<Vec<_>>(),
    };
    for id in order {
        let Some(value) = bubbles.remove(&id) else { continue };
        let named = format!("{{\"bubbleId\":{}}}", quoted(&id));
        let line = format!("{{\"bubble\":{}}}", joined(&named, &object_or_string(&value)));
        members.push(Member { id: Some(id), line: line.into_bytes() });
    }
    Ok(Some(members))
}
