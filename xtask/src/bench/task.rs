//! Tasks for a child process, which are measured with a separate memory peak or from a cold start.

use crate::program::{ChoreResult, own_child};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Work of a child process.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum ChildWork {
    /// Imports a transcript into a new ledger.
    Import,
    /// Opens a ledger and builds one context.
    Context,
    /// Opens a ledger and searches it once.
    Search,
}

/// Resources that a child used.
#[derive(Deserialize, Serialize)]
pub(super) struct ChildUsage {
    pub(super) events: usize,
    pub(super) seconds: f64,
    pub(super) cpu: f64,
    /// Peak memory in bytes.
    pub(super) peak: f64,
}

/// Runs a task in a child process and waits for it.
pub(super) fn spawn(work: ChildWork, ledger: &Path, transcript: &Path) -> ChoreResult<ChildUsage> {
    let work = work.to_possible_value().ok_or("this work has no name")?;
    own_child(&["bench-child", work.get_name()], &[ledger, transcript])
}
