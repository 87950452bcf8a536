//! Conversion of SQLite errors into store errors.

use crate::store::StoreError;
use rusqlite::ErrorCode;

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
        Some(ErrorCode::SystemIoFailure)
            if extended_code(error) == Some(rusqlite::ffi::SQLITE_IOERR_WRITE) =>
        {
            StoreError::Full
        }
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged(error.to_string()),
        Some(ErrorCode::NotADatabase) => StoreError::Foreign("the file".to_owned()),
        _ => StoreError::Io(error.to_string()),
    }
}

fn extended_code(error: &rusqlite::Error) -> Option<i32> {
    match error {
        rusqlite::Error::SqliteFailure(code, _) => Some(code.extended_code),
        _ => None,
    }
}
