//! The child process that executes a [task](super::task).

use super::library::{behind, context, ingest};
use super::measure::{cpu, peak_memory};
use super::task::{ChildUsage, ChildWork};
use crate::program::ChoreResult;
use clap::Args;
use futures_executor::block_on;
use std::path::PathBuf;
use std::time::Instant;

/// A task for a child: the work, a ledger, and the transcript to import.
#[derive(Args)]
pub(crate) struct ChildTask {
    work: ChildWork,
    ledger: PathBuf,
    transcript: PathBuf,
}

impl ChildTask {
    /// Executes the task and returns its usage as JSON.
    pub(crate) fn run(&self) -> ChoreResult<String> {
        let start = Instant::now();
        let engine = ingest::open(&self.ledger)?;
        let events = match self.work {
            ChildWork::Import => {
                let imported = block_on(engine.import(&self.transcript, None, &mut |_, _| {}))?;
                imported.appended as usize
            }
            ChildWork::Context => {
                block_on(engine.session_by_id(ingest::stream()?).explain(context::options()))?;
                1
            }
            ChildWork::Search => behind::search(&engine)?,
        };
        let seconds = start.elapsed().as_secs_f64();
        let used = ChildUsage { events, seconds, cpu: cpu().as_secs_f64(), peak: peak_memory("self") as f64 };
        Ok(serde_json::to_string(&used)?)
    }
}
