//! Findings in a policy file, worded for the person who can fix them.

use crate::limits::POLICY_FINDINGS;
use std::fmt;
use wunderblock_core::policy::{PolicyFault, Severity};

/// A finding in a policy file, with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFinding {
    /// Line number, counted from 1; `None` if the file has no line for the finding, for example because it does not
    /// set the value.
    pub line: Option<usize>,
    /// Severity, key and description of the finding.
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

/// Reason why a policy cannot be used: all findings together, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    /// The file's name, or the policy name that was requested.
    pub origin: String,
    /// Findings that make the policy unusable. Never empty.
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
