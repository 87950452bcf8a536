//! Reports about copies of a ledger's file: backups and restores.

use crate::base::lossy;
use crate::keeping::restore::Restored;
use serde::Serialize;
use std::path::Path;

/// A backup of a ledger.
#[derive(Clone, Debug, Serialize)]
pub struct BackupReport<'r> {
    /// Path of the copy.
    #[serde(serialize_with = "lossy::path")]
    pub path: &'r Path,
    /// Size of the copy in bytes.
    pub bytes: u64,
    /// Whether the ledger notes the copy, so that later erasures look into it.
    pub noted: bool,
}

/// A ledger that was restored.
#[derive(Clone, Debug, Serialize)]
pub struct RestoreReport<'r> {
    /// Path of the ledger.
    #[serde(serialize_with = "lossy::path")]
    pub path: &'r Path,
    /// Result of the restore.
    #[serde(flatten)]
    pub restored: &'r Restored,
}
