//! What needs a process of its own, a peak of memory, a start from nothing: given to a child of this program.

use super::outcome::Outcome;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a child does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// Imports a transcript into a new ledger.
    Import,
    /// Opens a ledger and builds one context.
    Context,
}

impl Task {
    const fn name(self) -> &'static str {
        match self {
            Self::Import => "import",
            Self::Context => "context",
        }
    }
}

/// What a child tells.
pub(super) struct Told {
    pub(super) events: usize,
    pub(super) seconds: f64,
    pub(super) cpu: f64,
    /// Bytes.
    pub(super) peak: f64,
}

/// Runs a task in a child, and waits for it.
pub(super) fn spawn(task: Task, ledger: &Path, other: &Path) -> Outcome<Told> {
    let output = Command::new(std::env::current_exe()?)
        .args(["bench", "--child", task.name()])
        .args([ledger, other])
        .stderr(Stdio::inherit())
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let numbers: Vec<f64> = text.split_whitespace().flat_map(str::parse).collect();
    match numbers.as_slice() {
        [events, seconds, cpu, peak] if output.status.success() => {
            Ok(Told { events: *events as usize, seconds: *seconds, cpu: *cpu, peak: *peak })
        }
        _ => {
            Err(format!("the process that was to {} ended with {}: {text}", task.name(), output.status)
                .into())
        }
    }
}
