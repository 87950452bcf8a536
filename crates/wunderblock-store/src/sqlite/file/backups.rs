//! Names of the copies that were made of a ledger. An erasure does not reach them, so it names them.

use crate::StoreError;
use crate::sqlite::file::place::{KEPT, beside, folder};
use crate::sqlite::sql::{rows, run};
use rusqlite::{Connection, params};
use std::path::{Path, PathBuf};
use wunderblock_core::units::Millis;

/// Notes a copy before it is made.
pub(in crate::sqlite) fn note(db: &Connection, path: &str, at: Millis) -> Result<(), StoreError> {
    run(db, "INSERT OR REPLACE INTO backups (path, at) VALUES (?1, ?2)", params![path, at.0]).map(|_| ())
}

/// Returns the ledgers that restores kept beside a ledger.
pub(in crate::sqlite) fn kept(ledger: &Path) -> Vec<PathBuf> {
    let begins = beside(ledger, KEPT);
    let begins = begins.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_kept = |name: &str| {
        let number = name.strip_prefix(&begins).unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    let entries = std::fs::read_dir(folder(ledger)).into_iter().flatten().flatten();
    let kept = entries.filter(|entry| is_kept(&entry.file_name().to_string_lossy()));
    let mut kept: Vec<PathBuf> = kept.map(|entry| entry.path()).collect();
    kept.sort();
    kept
}

/// Returns the copies that were noted, oldest first.
pub(in crate::sqlite) fn list(db: &Connection) -> Result<Vec<PathBuf>, StoreError> {
    rows(db, "SELECT path FROM backups ORDER BY at, path", [], |row| {
        Ok(PathBuf::from(row.get::<_, String>(0)?))
    })
}
