//! The log beside the ledger: emptying it, and with it the last copies of what was erased.

use super::failure::{StoreResult, failure};
use super::open::standing;
use super::wipe::wipe;
use crate::store::StoreError;
use rusqlite::Connection;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long an erasure waits for readers of the log.
pub(super) const SCRUB: Duration = Duration::from_secs(10);
/// Longest pause between two tries.
const PAUSE: Duration = Duration::from_millis(100);

/// Copies the log into the file and truncates it. Answers whether it is empty: it stays while another connection reads
/// or writes, and SQLite says so in the answer, not as an error.
pub(super) fn empty(connection: &Connection) -> StoreResult<bool> {
    let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    match busy.map_err(|error| failure(&error)) {
        Ok(busy) => Ok(busy == 0),
        Err(StoreError::Locked) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Notes in an erasure's own transaction that its content may still be somewhere in the files.
pub(super) fn unscrubbed(connection: &Connection) -> StoreResult<()> {
    super::sql::run(connection, "UPDATE ledger SET unscrubbed = unscrubbed + 1 WHERE one = 1", []).map(|_| ())
}

/// Removes what is left of erased content in log and free bytes, once and without waiting. Answers whether nothing is.
///
/// The connection must not wait for locks.
pub(super) fn scrub(connection: &mut Connection) -> StoreResult<bool> {
    let seen = standing(connection)?.unscrubbed;
    if seen == 0 {
        return Ok(true);
    }
    let attempt = |connection: &mut Connection| {
        Ok::<_, StoreError>(empty(connection)? && wipe(connection)? && empty(connection)?)
    };
    if !attempt(connection)? {
        return Ok(false);
    }
    // Whoever erased something meanwhile has counted on, and its content may be in the log again.
    let sql = "UPDATE ledger SET unscrubbed = 0 WHERE one = 1 AND unscrubbed = ?1";
    match connection.execute(sql, [seen]).map_err(|error| failure(&error)) {
        Ok(_) | Err(StoreError::Locked) => Ok(true),
        Err(error) => Err(error),
    }
}

/// The same, tried again for a while; `waiting` says whether it waits for somebody.
pub(super) fn scrub_waiting(connection: &mut Connection, waiting: &AtomicBool) -> StoreResult<bool> {
    let end = Instant::now() + SCRUB;
    let mut pause = Duration::from_millis(2);
    let done = loop {
        match scrub(connection) {
            Ok(false) if Instant::now() < end => {}
            other => break other,
        }
        waiting.store(true, Ordering::Relaxed);
        std::thread::sleep(pause);
        pause = (pause * 2).min(PAUSE);
    };
    waiting.store(false, Ordering::Relaxed);
    done
}
