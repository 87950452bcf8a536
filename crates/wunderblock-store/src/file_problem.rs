//! A problem of a ledger's file.

/// A problem found in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileProblem {
    /// Violated invariant.
    pub rule: &'static str,
    /// Affected object and description of the problem.
    pub detail: String,
    /// Whether the problem can be repaired because it affects derived data, or the file rather than its content.
    pub derived: bool,
}
