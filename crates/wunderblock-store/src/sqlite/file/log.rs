//! The write-ahead log beside the ledger. Emptying the log removes the last copies of erased content.

use crate::StoreError;
use crate::sqlite::failure::{StoreResult, failure};
use crate::sqlite::file::open::standing;
use crate::sqlite::file::wipe::wipe;
use rusqlite::Connection;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Maximum time that an erasure waits for readers of the log.
pub(in crate::sqlite) const SCRUB: Duration = Duration::from_secs(10);
/// Maximum pause between two attempts.
const PAUSE: Duration = Duration::from_millis(100);

/// Copies the log into the file and truncates it. Returns whether the log is empty. The log cannot be emptied while
/// another connection reads or writes; SQLite reports that in the result row, not as an error.
pub(in crate::sqlite) fn empty(connection: &Connection) -> StoreResult<bool> {
    let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    match busy.map_err(|error| failure(&error)) {
        Ok(busy) => Ok(busy == 0),
        Err(StoreError::Locked) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Records, in an erasure's own transaction, that erased content may still be in the files.
pub(in crate::sqlite) fn unscrubbed(connection: &Connection) -> StoreResult<()> {
    crate::sqlite::sql::run(connection, "UPDATE ledger SET unscrubbed = unscrubbed + 1 WHERE one = 1", [])
        .map(|_| ())
}

/// Removes erased content from the log and from free bytes, in one attempt and without waiting. Returns whether all
/// erased content is gone.
///
/// The connection's busy timeout must be zero.
pub(in crate::sqlite) fn scrub(connection: &mut Connection) -> StoreResult<bool> {
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
    // The counter is reset only if it is unchanged: an erasure made in the meantime has incremented it, and may have
    // put its content into the log again.
    let sql = "UPDATE ledger SET unscrubbed = 0 WHERE one = 1 AND unscrubbed = ?1";
    match connection.execute(sql, [seen]).map_err(|error| failure(&error)) {
        Ok(_) | Err(StoreError::Locked) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Repeats [`scrub`] for up to [`SCRUB`]. Sets `waiting` while waiting for another connection.
pub(in crate::sqlite) fn scrub_waiting(
    connection: &mut Connection,
    waiting: &AtomicBool,
) -> StoreResult<bool> {
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
