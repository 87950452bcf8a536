//! The format of a ledger and the access to it, both checked when it is opened.

use std::time::Duration;

/// The format this program writes, as `PRAGMA user_version`.
pub const FORMAT: i64 = 3;
/// `PRAGMA application_id`: "WBlk".
pub(super) const APPLICATION_ID: i64 = 0x5742_6c6b;
/// How long a write waits for another process's transaction.
pub(super) const BUSY: Duration = Duration::from_secs(20);

/// How a database is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read and write; create it if it is not there.
    Create,
    /// Read and write; it must be there.
    Write,
    /// Read only; it must be there.
    Read,
}
