//! Result of examining a ledger.

use crate::base::lossy;
use serde::Serialize;
use std::path::PathBuf;
use wunderblock_core::id::TenantId;
use wunderblock_core::units::Bytes;

/// Problem in a ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Invariant that is violated.
    pub rule: &'static str,
    /// Place and description of the problem.
    pub detail: String,
    /// Whether `repair` fixes the problem, because the problem concerns derived data or the file itself, not recorded
    /// data.
    pub derived: bool,
    /// Tenant whose data has the problem. `None` if the problem concerns the file.
    pub tenant: Option<TenantId>,
}

/// Note about something that is worth knowing but is not a problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DoctorNote {
    /// Description, and advice on what to do.
    pub text: String,
    /// Tenant whose data the note is about.
    pub tenant: TenantId,
}

/// Result of an examination.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// Path of the ledger's file, if it is stored in one.
    #[serde(serialize_with = "lossy::optional_path")]
    pub path: Option<PathBuf>,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Tenants whose data was examined.
    pub tenants: Vec<TenantId>,
    /// Number of sessions examined.
    pub sessions: u64,
    /// Number of documents examined.
    pub documents: u64,
    /// Problems found. Empty if everything is valid.
    pub problems: Vec<Problem>,
    /// Notes, for example about interrupted imports and sessions that the ledger holds twice.
    pub notes: Vec<DoctorNote>,
    /// Number of problems repaired before the examination, if the caller has set it.
    pub repaired: usize,
    /// Number of events examined.
    pub events: u64,
    /// Number of bodies examined.
    pub bodies: u64,
    /// Number of bytes of imported sources that were examined.
    pub source_bytes: u64,
}

impl Diagnosis {
    pub(crate) fn found(&mut self, rule: &'static str, detail: String) {
        self.problems.push(Problem { rule, detail, derived: false, tenant: None });
    }

    pub(super) fn stale(&mut self, rule: &'static str, detail: String) {
        self.problems.push(Problem { rule, detail, derived: true, tenant: None });
    }
}

/// Maximum number of bytes of text per page, which bounds the memory of an examination.
pub(crate) const PAGE_TEXT: Bytes = Bytes(24 << 20);
