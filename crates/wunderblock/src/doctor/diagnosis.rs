//! What an examination of a ledger found.

use crate::report::lossy;
use serde::Serialize;
use std::path::PathBuf;
use wunderblock_core::id::TenantId;
use wunderblock_core::units::Bytes;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Which invariant.
    pub rule: &'static str,
    /// Where, and what.
    pub detail: String,
    /// Whether `repair` fixes it: it is in what is derived, or about the file and not what it holds.
    pub derived: bool,
    /// Whose data it is in; `None` for what concerns the file.
    pub tenant: Option<TenantId>,
}

/// What is worth knowing, and not wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DoctorNote {
    /// What, and what to do.
    pub text: String,
    /// Whose data it is about.
    pub tenant: TenantId,
}

/// The outcome of an examination.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// The ledger's file, if it is in one.
    #[serde(serialize_with = "lossy::optional_path")]
    pub path: Option<PathBuf>,
    /// The file's size.
    pub bytes: u64,
    /// Whose data was looked at.
    pub tenants: Vec<TenantId>,
    /// Sessions looked at.
    pub sessions: u64,
    /// What is wrong; empty when all is well.
    pub problems: Vec<Problem>,
    /// Imports that were cut short, sessions that stand in the ledger twice.
    pub notes: Vec<DoctorNote>,
    /// How many problems were repaired before it, where its caller has counted them.
    pub repaired: usize,
    /// Events looked at.
    pub events: u64,
    /// Bodies looked at.
    pub bodies: u64,
    /// Bytes of imported sources looked at.
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

/// Text that one page holds in memory at most.
pub(crate) const PAGE_TEXT: Bytes = Bytes(24 << 20);
