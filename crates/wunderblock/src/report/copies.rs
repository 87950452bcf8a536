//! What is said of copies of a ledger's file: made, restored.

use super::lossy;
use crate::restore::Restored;
use serde::Serialize;
use std::path::Path;

/// A copy of a ledger.
#[derive(Clone, Debug, Serialize)]
pub struct BackupReport<'r> {
    /// Where the copy is.
    #[serde(serialize_with = "lossy::path")]
    pub path: &'r Path,
    /// Its size in bytes.
    pub bytes: u64,
}

/// A ledger that was restored.
#[derive(Clone, Debug, Serialize)]
pub struct RestoreReport<'r> {
    /// Where the ledger is.
    #[serde(serialize_with = "lossy::path")]
    pub path: &'r Path,
    /// What was done.
    #[serde(flatten)]
    pub restored: &'r Restored,
}
