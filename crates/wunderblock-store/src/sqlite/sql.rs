//! Helpers to run statements and to convert columns, shared by all parts of the store.

use super::failure::failure;
use crate::StoreError;
use rusqlite::{Connection, OptionalExtension, Row};
use wunderblock_core::author::{Author, AuthorSpan, Authors};
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::units::Bytes;

/// Runs a cached statement and returns the number of changed rows.
pub(super) fn run(db: &Connection, sql: &str, values: impl rusqlite::Params) -> Result<usize, StoreError> {
    db.prepare_cached(sql)
        .and_then(|mut statement| statement.execute(values))
        .map_err(|error| failure(&error))
}

/// Runs a cached statement that stores or changes a row. Fails if it did neither: a constraint of another origin can
/// drop a row without an error, and the caller must not acknowledge what is not stored.
pub(super) fn put(db: &Connection, sql: &str, values: impl rusqlite::Params) -> Result<(), StoreError> {
    match run(db, sql, values)? {
        0 => Err(StoreError::Damaged(format!("a row was not stored: {}", sql.lines().next().unwrap_or(sql)))),
        _ => Ok(()),
    }
}

/// Returns all rows of a cached query.
pub(super) fn rows<T>(
    db: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, StoreError> {
    let mut statement = db.prepare_cached(sql).map_err(|error| failure(&error))?;
    let found = statement.query_map(values, |row| read(row)).map_err(|error| failure(&error))?;
    found.collect::<Result<_, _>>().map_err(|error| failure(&error))
}

/// Returns the first row of a cached query, or `None` if the query has no rows.
pub(super) fn row<T>(
    db: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>, StoreError> {
    db.prepare_cached(sql)
        .and_then(|mut statement| statement.query_row(values, |row| read(row)).optional())
        .map_err(|error| failure(&error))
}

/// Converts a handle to a SQLite integer. SQLite's integers are signed, so the bits are reinterpreted.
#[must_use]
pub(super) fn handle_sql(handle: Handle) -> i64 {
    i64::from_ne_bytes(handle.0.to_ne_bytes())
}

/// Converts a SQLite integer back to a handle.
#[must_use]
pub(super) fn handle_of(number: i64) -> Handle {
    Handle(u64::from_ne_bytes(number.to_ne_bytes()))
}

/// Converts an author to a SQLite integer.
#[must_use]
pub(super) const fn author_sql(author: Author) -> i64 {
    author as i64
}

fn author_of(number: i64) -> Option<Author> {
    Author::ALL.into_iter().find(|author| author_sql(*author) == number)
}

/// Returns the column that holds the spans of a message: `None` without any.
#[must_use]
pub(super) fn spans_sql(authors: &Authors) -> Option<String> {
    let spans = authors.spans.iter().map(|span| (span.part, span.from.0, span.to.0, author_sql(span.by)));
    let spans: Vec<(usize, u64, u64, i64)> = spans.collect();
    (!spans.is_empty()).then(|| serde_json::to_string(&spans).ok()).flatten()
}

/// Converts the columns of a message's authors back. Columns that cannot be read name no author.
pub(super) fn authors_of(author: Option<i64>, spans: Option<String>) -> Option<Authors> {
    let by = author_of(author?)?;
    let read: Vec<(usize, u64, u64, i64)> = match spans {
        Some(spans) => serde_json::from_str(&spans).ok()?,
        None => Vec::new(),
    };
    let span = |(part, from, to, by)| {
        Some(AuthorSpan { part, from: Bytes(from), to: Bytes(to), by: author_of(by)? })
    };
    Some(Authors { by, spans: read.into_iter().map(span).collect::<Option<_>>()? })
}

pub(super) fn stream_id(text: String) -> rusqlite::Result<StreamId> {
    StreamId::new(text).map_err(unreadable)
}

pub(super) fn unreadable(error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error))
}

/// Encodes a list of texts as SQLite's JSON functions read it.
pub(super) fn json<T: AsRef<str> + serde::Serialize>(texts: &[T]) -> Result<String, StoreError> {
    serde_json::to_string(texts).map_err(|error| StoreError::Io(error.to_string()))
}
