//! What was found in a policy file, in words for whoever can mend it.

use crate::limits::POLICY_FINDINGS;
use std::fmt;
use wunderblock_core::policy::{PolicyFault, Severity};

/// Something wrong with a policy file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFinding {
    /// The line, counted from 1; none where the file does not say the value, or is no TOML.
    pub line: Option<usize>,
    /// What.
    pub fault: PolicyFault,
}

impl PolicyFinding {
    pub(super) fn error(line: Option<usize>, key: impl Into<String>, what: impl Into<String>) -> Self {
        Self { line, fault: PolicyFault { severity: Severity::Error, key: key.into(), what: what.into() } }
    }
}

impl fmt::Display for PolicyFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if !self.fault.key.is_empty() {
            write!(f, "{}: ", self.fault.key)?;
        }
        f.write_str(&self.fault.what)
    }
}

/// Why a policy cannot be used: all that was found at once, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    /// Which file, or what was asked for.
    pub origin: String,
    /// What is wrong with it. Never empty.
    pub findings: Vec<PolicyFinding>,
}

impl PolicyError {
    pub(super) fn new(origin: &str, mut findings: Vec<PolicyFinding>) -> Self {
        findings.sort_by_key(|finding| finding.line.unwrap_or(usize::MAX));
        Self { origin: origin.to_owned(), findings }
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [one] = self.findings.as_slice() {
            return write!(f, "{}: {one}", self.origin);
        }
        write!(f, "{} cannot be used as a policy:", self.origin)?;
        for finding in self.findings.iter().take(POLICY_FINDINGS) {
            write!(f, "\n  {finding}")?;
        }
        match self.findings.len().saturating_sub(POLICY_FINDINGS) {
            0 => Ok(()),
            more => write!(f, "\n  … and {more} more"),
        }
    }
}

impl std::error::Error for PolicyError {}
