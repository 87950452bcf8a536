//! Creating a ledger atomically: a path has a complete ledger or none.
//!
//! The empty ledger is built in memory, written to a temporary file beside its path, synced, and linked to the path.
//! A kill at any moment leaves either no ledger or a complete one. The next creator removes the temporary files of a
//! dead creator. An empty file is completed in place; `mktemp` creates such files, and older versions left one when
//! they were killed while creating a ledger.

use crate::StoreError;
use crate::sqlite::failure::{StoreResult, failure};
use crate::sqlite::file::access::{APPLICATION_ID, FORMAT};
use crate::sqlite::file::open::{guard, irregular, is_blank, is_too_short, traces};
use crate::sqlite::file::place::{BUILDING, FolderLock, beside, folder, make_private, place, private, sweep};
use rusqlite::{Connection, MAIN_DB, OpenFlags, TransactionBehavior};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Creates a ledger at the path unless one exists. If several processes create a ledger at the same time, only one
/// ledger is created.
pub(in crate::sqlite) fn create(path: &Path, patience: Duration) -> StoreResult<()> {
    let parent = folder(path);
    std::fs::create_dir_all(parent).map_err(|error| at(parent, &error))?;
    match path.metadata() {
        Ok(meta) if irregular(&meta).is_some() || is_too_short(&meta) => return Ok(()),
        Ok(meta) if meta.len() > BLANK => return Ok(()),
        Ok(_) => return complete(path, patience),
        Err(_) => {}
    }
    let lock = lock(path, patience)?;
    sweep(path, &lock);
    if path.exists() {
        drop(lock);
        return complete(path, patience);
    }
    traces(path)?;
    let building = temporary(path);
    let made = build(&building).and_then(|()| match place(&building, path) {
        // Another process created the ledger first, and that ledger is used.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        other => other.map_err(|error| at(path, &error)),
    });
    let _ = std::fs::remove_file(&building);
    made
}

fn lock(path: &Path, patience: Duration) -> StoreResult<FolderLock> {
    FolderLock::take(path, patience).map_err(|_| StoreError::Locked)
}

/// Maximum size of a file without content, in bytes: one page of SQLite's maximum page size. A ledger always has more
/// pages.
const BLANK: u64 = 65_536;
fn temporary(path: &Path) -> PathBuf {
    beside(path, &format!("{BUILDING}{}", std::process::id()))
}

/// Writes an empty ledger into a new file.
fn build(to: &Path) -> StoreResult<()> {
    let mut bytes = empty_ledger()?.serialize(MAIN_DB).map_err(|error| failure(&error))?.to_vec();
    // Bytes 18 and 19 are SQLite's file format write and read versions; 2 means WAL.
    for version in bytes.iter_mut().skip(18).take(2) {
        *version = 2;
    }
    let written = private(to).and_then(|mut file| file.write_all(&bytes).and_then(|()| file.sync_all()));
    written.map_err(|error| at(to, &error))
}

/// Returns an empty ledger in memory.
pub(in crate::sqlite) fn empty_ledger() -> StoreResult<Connection> {
    let memory = Connection::open_in_memory().map_err(|error| failure(&error))?;
    memory.execute_batch(PAGE_SIZE).map_err(|error| failure(&error))?;
    fill(&memory)?;
    Ok(memory)
}

/// Page size of 8 KiB, which stores most compressed bodies without overflow pages. SQLite accepts the setting only
/// while the file is empty.
const PAGE_SIZE: &str = "PRAGMA page_size = 8192";

/// Creates the tables of an empty ledger and sets its application id and format.
fn fill(empty: &Connection) -> StoreResult<()> {
    let stamp = format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT}");
    empty
        .execute_batch(include_str!("schema.sql"))
        .and_then(|()| empty.execute_batch(&stamp))
        .map_err(|error| failure(&error))?;
    let first = "INSERT INTO ledger (one, generation, unscrubbed) VALUES (1, randomblob(16), 0)";
    crate::sqlite::sql::run(empty, first, []).map(|_| ())
}

/// Completes an empty file in place. SQLite returns an error instead of waiting when two callers could wait for each
/// other, as when both turn on WAL mode. The call is therefore repeated until `patience` has passed.
fn complete(path: &Path, patience: Duration) -> StoreResult<()> {
    let end = Instant::now() + patience;
    loop {
        match try_complete(path, patience) {
            Err(StoreError::Locked) if Instant::now() < end => std::thread::sleep(Duration::from_millis(5)),
            other => return other,
        }
    }
}

fn try_complete(path: &Path, patience: Duration) -> StoreResult<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let Ok(mut connection) = Connection::open_with_flags(path, flags) else { return Ok(()) };
    guard(&connection)?;
    connection.busy_timeout(patience).map_err(|error| failure(&error))?;
    // A file that is not a database, or not empty, is left to the format check.
    if !is_blank(&connection).unwrap_or(false) {
        return Ok(());
    }
    traces(path)?;
    make_private(path).map_err(|error| at(path, &error))?;
    connection
        .execute_batch(PAGE_SIZE)
        .and_then(|()| connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"))
        .map_err(|error| failure(&error))?;
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(|error| failure(&error))?;
    if is_blank(&transaction)? {
        fill(&transaction)?;
    }
    transaction.commit().map_err(|error| failure(&error))
}

pub(in crate::sqlite) fn at(path: &Path, error: &std::io::Error) -> StoreError {
    match error.kind() {
        std::io::ErrorKind::StorageFull => StoreError::Full,
        _ => StoreError::Io(format!("{}: {error}", path.display())),
    }
}
