//! What needs a process of its own, a peak of memory, a start from nothing: given to a child of this program.

use crate::program::{ChoreResult, own_child};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What a child does.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum ChildWork {
    /// Imports a transcript into a new ledger.
    Import,
    /// Opens a ledger and builds one context.
    Context,
}

/// What a child used.
#[derive(Deserialize, Serialize)]
pub(super) struct ChildUsage {
    pub(super) events: usize,
    pub(super) seconds: f64,
    pub(super) cpu: f64,
    /// Bytes.
    pub(super) peak: f64,
}

/// Runs a task in a child, and waits for it.
pub(super) fn spawn(work: ChildWork, ledger: &Path, transcript: &Path) -> ChoreResult<ChildUsage> {
    let work = work.to_possible_value().ok_or("this work has no name")?;
    own_child(&["bench-child", work.get_name()], &[ledger, transcript])
}
