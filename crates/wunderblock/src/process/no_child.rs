//! What stands for running programs where that is left out: an error that says so.

use super::program::{ProcessOutput, Program};
use crate::summarize::task::SummaryFailure;
use std::path::Path;

const WHY: &str = "programs are not run by this build: they need the feature `processes`, and Unix";

/// Runs no program.
///
/// # Errors
/// Always: [`SummaryFailure::Unreachable`].
pub fn run(
    program: &Program,
    _stdin: &[u8],
    _progress: &mut dyn FnMut(usize) -> bool,
) -> Result<ProcessOutput, SummaryFailure> {
    let name = program.argv.first().map_or("", String::as_str);
    Err(SummaryFailure::Unreachable(format!("`{name}` does not start: {WHY}")))
}

/// Runs no command.
pub(crate) fn head(command: &[String], _cwd: &Path) -> Result<String, String> {
    let name = command.first().map_or("", String::as_str);
    Err(format!("`{name}` does not start: {WHY}"))
}
