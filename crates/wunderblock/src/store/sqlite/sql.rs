//! Helpers to run statements and to convert columns, shared by all parts of the store.

use super::failure::failure;
use crate::store::StoreError;
use rusqlite::{Connection, OptionalExtension, Row};
use wunderblock_core::id::{Handle, StreamId};

/// Runs a cached statement and returns the number of changed rows.
pub(super) fn run(db: &Connection, sql: &str, values: impl rusqlite::Params) -> Result<usize, StoreError> {
    db.prepare_cached(sql)
        .and_then(|mut statement| statement.execute(values))
        .map_err(|error| failure(&error))
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

pub(super) fn stream_id(text: String) -> rusqlite::Result<StreamId> {
    StreamId::new(text).map_err(unreadable)
}

pub(super) fn unreadable(error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error))
}
