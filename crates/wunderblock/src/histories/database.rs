//! Sessions in an SQLite database: tables `session`, `message` and `part` of OpenCode
//! (`packages/opencode/src/session/session.sql.ts`), or the table of Cursor.

use super::member::{HistoryFile, Member, too_large};
use super::{cursor, rows};
use crate::base::error::{Error, ImportReason};
use crate::histories::rows_read::RowsRead;
use crate::histories::stamp::Stamp;
use crate::limits::{DATABASE_WAIT, MAX_MEMBERS};
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};
use wunderblock_store::codec::checksum;
use wunderblock_store::sqlite::guard;

/// First bytes of a database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Returns whether a path is that of a database.
pub(crate) fn is_database(path: &Path) -> bool {
    let mut head = [0; MAGIC.len()];
    // A pipe is not opened, because that may block.
    path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok()
        && head == *MAGIC
}

/// Opens a database without the right to write.
fn open(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(path, flags).map_err(|error| failed(path, &error))?;
    guard(&database)?;
    database.busy_timeout(DATABASE_WAIT).map_err(|error| failed(path, &error))?;
    Ok(database)
}

pub(crate) fn failed(path: &Path, error: &rusqlite::Error) -> Error {
    let why = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another program has locked the database; try again when it has finished".to_owned()
        }
        _ => error.to_string(),
    };
    Error::File { path: path.display().to_string(), why }
}

/// Returns a query for sessions of OpenCode, each with the number of its rows, their last update and their length. For
/// one session, the rows of others are not read: SQLite would add up all of them before it joins.
fn opencode_sessions(one: bool) -> String {
    let (rows, own) = if one { ("WHERE session_id = ?1", "WHERE s.id = ?1") } else { ("", "ORDER BY s.id") };
    let sums = |table: &str| {
        format!(
            "(SELECT session_id AS id, count(*) AS n, CAST(max(time_updated) AS INTEGER) AS at,
              sum(octet_length(data)) AS len FROM {table} {rows} GROUP BY 1)"
        )
    };
    format!(
        "SELECT s.id, CAST(s.time_updated AS INTEGER), octet_length(s.title), m.n, m.at, m.len, p.n, p.at, p.len
         FROM session s LEFT JOIN {} m ON m.id = s.id LEFT JOIN {} p ON p.id = s.id {own}",
        sums("message"),
        sums("part")
    )
}

/// Agent whose sessions a database holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    OpenCode,
    Cursor,
}

impl Layout {
    fn of(database: &Connection, path: &Path) -> Result<Self, Error> {
        let query = "SELECT name FROM sqlite_master WHERE type = 'table'";
        let names = select(database, query, [], |row| row.get(0)).map_err(|error| failed(path, &error))?;
        let has = |name: &&str| names.iter().any(|one: &String| one == name);
        if ["session", "message", "part"].iter().all(has) {
            return Ok(Self::OpenCode);
        }
        if has(&"cursorDiskKV") {
            return Ok(Self::Cursor);
        }
        Err(Error::Import {
            path: path.display().to_string(),
            reason: ImportReason::NotATranscript,
            why: "an SQLite database without sessions of a known agent".to_owned(),
        })
    }

    /// Returns a query for one session or all, with the columns that [`listed`] reads.
    fn sessions(self, one: bool) -> String {
        match self {
            Self::OpenCode => opencode_sessions(one),
            Self::Cursor if one => format!("{} WHERE s.id = ?1", cursor::SESSIONS),
            Self::Cursor => format!("{} ORDER BY s.id", cursor::SESSIONS),
        }
    }
}

/// Returns the sessions of a database, sorted by id.
pub(crate) fn sessions(path: &Path) -> Result<Vec<HistoryFile>, Error> {
    let database = open(path)?;
    let query = Layout::of(&database, path)?.sessions(false);
    let mut found =
        select(&database, &query, [], |row| listed(path, row)).map_err(|error| failed(path, &error))?;
    // An id that is a path would lead to another file.
    found.retain(|session| session.path.parent() == Some(path));
    Ok(found)
}

/// Returns one session of a database.
pub(crate) fn session(path: &Path, id: &str) -> Result<HistoryFile, Error> {
    let database = open(path)?;
    let query = Layout::of(&database, path)?.sessions(true);
    let found = select(&database, &query, [id], |row| listed(path, row));
    let first = found.map_err(|error| failed(path, &error))?.into_iter().next();
    first.ok_or_else(|| missing(path, id))
}

/// Returns whether a database has this session of OpenCode.
pub(crate) fn has(path: &Path, id: &str) -> bool {
    let found = |database: Connection| {
        database.query_row("SELECT 1 FROM session WHERE id = ?1", [id], |_| Ok(())).is_ok()
    };
    is_database(path) && open(path).is_ok_and(found)
}

fn missing(path: &Path, id: &str) -> Error {
    Error::File { path: path.display().to_string(), why: format!("the database has no session `{id}`") }
}

fn select<T>(
    database: &Connection,
    query: &str,
    values: impl rusqlite::Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    database.prepare(query)?.query_map(values, read)?.collect()
}

fn listed(path: &Path, row: &Row<'_>) -> rusqlite::Result<HistoryFile> {
    let id: String = row.get(0)?;
    let numbers = (1..9).map(|column| row.get::<_, Option<i64>>(column)).collect::<Result<Vec<_>, _>>()?;
    let number = |at: usize| numbers.get(at).copied().flatten().unwrap_or_default();
    let told: Vec<u8> = numbers.iter().flat_map(|number| number.unwrap_or(-1).to_le_bytes()).collect();
    let at = [0, 3, 6].into_iter().map(number).max().and_then(|at| u64::try_from(at).ok());
    let bytes = u64::try_from(number(4).saturating_add(number(7))).unwrap_or_default();
    Ok(HistoryFile {
        path: path.join(&id),
        bytes,
        modified: at.and_then(|at| UNIX_EPOCH.checked_add(Duration::from_millis(at))),
        stamp: Stamp { len: None, modified: Some(checksum(&[&told])) },
    })
}

/// Returns the members of a session, all of them from one state of the database, and what the next reading needs to
/// read only what has changed.
pub(crate) fn members(path: &Path, id: &str) -> Result<(Vec<Member>, Option<RowsRead>), Error> {
    let mut database = open(path)?;
    let layout = Layout::of(&database, path)?;
    let snapshot = database.transaction().map_err(|error| failed(path, &error))?;
    match layout {
        Layout::OpenCode => {
            let found = rows::read(&snapshot, path, id, None)?.ok_or_else(|| missing(path, id))?;
            let read = rows::remembered(&snapshot, id, &found);
            Ok((found, read))
        }
        Layout::Cursor => {
            let found = cursor::members(&snapshot, id).map_err(|error| failed(path, &error))?;
            let found = found.ok_or_else(|| missing(path, id))?;
            let len: usize = found.iter().map(|member| member.line.len()).sum();
            if len <= MAX_MEMBERS { Ok((found, None)) } else { Err(too_large(&path.join(id))) }
        }
    }
}

/// Returns the members of a session that are new or have changed since a reading; `None` if that cannot be told.
pub(crate) fn gained(
    path: &Path,
    id: &str,
    since: &RowsRead,
) -> Result<Option<(Vec<Member>, RowsRead)>, Error> {
    let mut database = open(path)?;
    let snapshot = database.transaction().map_err(|error| failed(path, &error))?;
    rows::gained(&snapshot, path, id, since)
}
