//! Names of the copies that were made of a ledger. An erasure does not reach them, so it names them.

use super::sql::{rows, run};
use crate::store::StoreError;
use rusqlite::{Connection, params};
use std::path::PathBuf;
use wunderblock_core::units::Millis;

/// Notes a copy before it is made.
pub(super) fn note(db: &Connection, path: &str, at: Millis) -> Result<(), StoreError> {
    run(db, "INSERT OR REPLACE INTO backups (path, at) VALUES (?1, ?2)", params![path, at.0]).map(|_| ())
}

/// Returns the copies that were noted, oldest first.
pub(super) fn list(db: &Connection) -> Result<Vec<PathBuf>, StoreError> {
    rows(db, "SELECT path FROM backups ORDER BY at, path", [], |row| {
        Ok(PathBuf::from(row.get::<_, String>(0)?))
    })
}
