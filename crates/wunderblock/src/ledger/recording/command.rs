//! Runs a command, keeps everything it writes, and shows a reduction.

use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::base::parallel::on_thread;
use crate::ledger::engine::Engine;
use crate::ledger::recording::output::{Keep, Output, OutputOptions, ShortenedOutput};
use crate::ledger::session::Session;
use crate::limits::{COMMAND_BYTES, COMMAND_TIME, COMMAND_TOKENS};
use crate::rules::process::{CapturedOutput, Program, ProgramEnd, capture};
use crate::rules::tokens::Counted;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wunderblock_core::units::Millis;
use wunderblock_reduce::Level;
use wunderblock_summary::CallFailure;

/// A command line of the shell, and what its reader looks for.
#[derive(Clone, Copy, Debug)]
pub struct ShellCommand<'c> {
    /// Line for `sh -c`.
    pub line: &'c str,
    /// Program and arguments that run the shell, for example to end everything with the caller. Empty to run the shell
    /// itself.
    pub through: &'c [String],
    /// Working directory.
    pub cwd: &'c Path,
    /// Maximum time, at most [`COMMAND_TIME`].
    pub time: Duration,
    /// Query of the reader: matching parts are kept.
    pub query: Option<&'c str>,
    /// Name under which the output is kept, such as [`Output::unique_call`] returns.
    pub call: &'c str,
}

/// Result of a command.
#[derive(Clone, Debug)]
pub struct CommandResult {
    /// Reason why the command ended.
    pub end: ProgramEnd,
    /// Output of the command, shortened to about [`COMMAND_TOKENS`] tokens.
    pub output: ShortenedOutput,
}

impl ShellCommand<'_> {
    /// Runs the command, and keeps its output beside a session, or in the session of outputs that belong to no other.
    /// The output is durable when this function returns. `stop` ends the command and everything it has started; what
    /// it has written by then is kept. The command is ended as well if the returned future is dropped.
    ///
    /// # Errors
    /// Fails if the shell does not start, or if the ledger cannot be written.
    pub fn run<'a>(
        &'a self,
        engine: &'a Engine,
        session: Option<&'a Session>,
        stop: &'a Arc<AtomicBool>,
    ) -> BoxFuture<'a, CommandResult> {
        Box::pin(async move {
            let guard = StopOnDrop(Arc::clone(stop));
            let time = self.time.min(COMMAND_TIME);
            let program = Program {
                argv: self
                    .through
                    .iter()
                    .map(String::as_str)
                    .chain(["sh", "-c", self.line])
                    .map(ToOwned::to_owned)
                    .collect(),
                cwd: Some(self.cwd.to_owned()),
                time: Millis(i64::try_from(time.as_millis()).unwrap_or(i64::MAX)),
                output: COMMAND_BYTES,
            };
            let stop = Arc::clone(stop);
            let work = move || capture(&program, &mut |_| !stop.load(Ordering::Relaxed));
            let CapturedOutput { end, bytes } = on_thread(work).await?.map_err(failed_start)?;
            let input = Output::run_input(self.line, &self.cwd.to_string_lossy(), end.code());
            let failed = end.code() != Some(0);
            let call = Some(self.call);
            let output = Output { bytes: &bytes, tool: "run", input: &input, failed, call };
            let options = OutputOptions {
                level: Level::Budget(COMMAND_TOKENS),
                kind: None,
                command: Some(self.line),
                query: self.query,
                shown: 0,
                count: &|text| u64::from(Counted::of(text).o200k),
            };
            let beside = Output::session_for(engine, session, Some(self.cwd)).await?;
            let output = output.shorten(&beside, Keep::Always, &options).await?;
            drop(guard);
            Ok(CommandResult { end, output })
        })
    }
}

fn failed_start(failure: CallFailure) -> Error {
    Error::Command(match failure {
        CallFailure::Unreachable(why) | CallFailure::Broken(why) => why,
        other => other.to_string(),
    })
}

/// Ends a command whose caller no longer waits for it.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
