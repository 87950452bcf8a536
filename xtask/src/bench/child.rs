//! What needs a process of its own: a peak of memory, a start from nothing.

use super::Outcome;
use super::measure::{cpu, peak_memory};
use super::{context, ingest};
use futures_executor::block_on;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

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

/// The child's side.
pub(super) fn run(arguments: &[String]) -> Outcome<()> {
    let [task, ledger, other] = arguments else { return Err("a child wants a task and two paths".into()) };
    let start = Instant::now();
    let events = match task.as_str() {
        "import" => {
            let engine = ingest::open(Path::new(ledger))?;
            let imported = block_on(engine.import(Path::new(other), None, &mut |_, _| {}))?;
            imported.appended as usize
        }
        "context" => {
            let engine = ingest::open(Path::new(ledger))?;
            block_on(engine.session_by_id(ingest::stream()?).explain(&context::options()))?;
            1
        }
        other => return Err(format!("a child does not know `{other}`").into()),
    };
    let seconds = start.elapsed().as_secs_f64();
    let told = format!("{events} {seconds} {} {}", cpu().as_secs_f64(), peak_memory());
    Ok(writeln!(std::io::stdout(), "{told}")?)
}
