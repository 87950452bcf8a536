//! Format of a ledger and access to it. The format and the access are checked when the ledger is opened.

use std::time::Duration;

/// Format that this program writes, stored as `PRAGMA user_version`.
pub const FORMAT: i64 = 8;
/// Value of `PRAGMA application_id`: "WBlk".
pub(in crate::sqlite) const APPLICATION_ID: i64 = 0x5742_6c6b;
/// Maximum time that a write waits for another process's transaction.
pub(in crate::sqlite) const BUSY: Duration = Duration::from_secs(20);

/// Access with which a database is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read and write; create the database if it does not exist.
    Create,
    /// Read and write, for a process that adds a little and ends; create the database if it does not exist. One
    /// connection serves all, and a short log is left for another process to copy into the file.
    Brief,
    /// Read and write; the database must exist.
    Write,
    /// Read only; the database must exist.
    Read,
}
