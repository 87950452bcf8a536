//! What is said of a ledger as a whole: examined, copied, restored.

use super::lossy;
use crate::doctor::diagnosis::Diagnosis;
use crate::restore::Restored;
use serde::Serialize;
use std::path::Path;

/// The outcome of an examination.
#[derive(Clone, Debug, Serialize)]
pub struct DiagnosisReport<'r> {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// What was examined, and what was found.
    #[serde(flatten)]
    pub diagnosis: &'r Diagnosis,
}

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
