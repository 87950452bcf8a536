//! Conversion of SQLite errors into store errors.

use crate::StoreError;
use rusqlite::{ErrorCode, ffi};

pub(super) type StoreResult<T> = Result<T, StoreError>;

/// Converts a SQLite error into a store error.
pub(super) fn failure(error: &rusqlite::Error) -> StoreError {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType};
    if matches!(error, FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..)) {
        return StoreError::Damaged(error.to_string());
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked,
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly,
        Some(ErrorCode::DiskFull) => StoreError::Full,
        // A quota or a file-size limit stops writes as a full disk would, but SQLite reports either case as a failed
        // write.
        Some(ErrorCode::SystemIoFailure) if extended_code(error).is_some_and(is_full) => StoreError::Full,
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged(error.to_string()),
        // Every statement suits the format's schema and sound values, so an error in one of them, as in a table that
        // is missing or in a list that cannot be read, is damage.
        Some(_) if extended_code(error) == Some(ffi::SQLITE_ERROR) => StoreError::Damaged(error.to_string()),
        Some(ErrorCode::SystemIoFailure) if extended_code(error).is_some_and(is_unreadable) => {
            StoreError::Damaged(error.to_string())
        }
        Some(ErrorCode::NotADatabase) => StoreError::Foreign("the file".to_owned()),
        _ => StoreError::Io(error.to_string()),
    }
}

fn extended_code(error: &rusqlite::Error) -> Option<i32> {
    error.sqlite_error().map(|error| error.extended_code)
}

/// Returns whether a code means that a file cannot grow: the log, or the shared memory that readers need, too.
fn is_full(code: i32) -> bool {
    matches!(
        code,
        ffi::SQLITE_IOERR_WRITE
            | ffi::SQLITE_IOERR_SHMOPEN
            | ffi::SQLITE_IOERR_SHMSIZE
            | ffi::SQLITE_IOERR_SHMMAP
    )
}

/// Returns whether a code means that bytes of the file cannot be read: it is too short, or the disk is broken.
fn is_unreadable(code: i32) -> bool {
    matches!(
        code,
        ffi::SQLITE_IOERR_READ
            | ffi::SQLITE_IOERR_SHORT_READ
            | ffi::SQLITE_IOERR_CORRUPTFS
            | ffi::SQLITE_IOERR_DATA
    )
}
