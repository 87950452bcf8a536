//! Replacement for `child.rs` in builds that cannot run programs: each call returns an error with the reason.

use super::program::{CapturedOutput, ProcessOutput, Program, ProgramEnd};
use std::path::Path;
use wunderblock_summary::CallFailure;

const WHY: &str = "programs are not run by this build: they need the feature `processes`, and Unix";

/// Runs nothing.
///
/// # Errors
/// Always returns [`CallFailure::Unreachable`].
pub fn run(
    program: &Program,
    _stdin: &[u8],
    _progress: &mut dyn FnMut(usize) -> bool,
) -> Result<ProcessOutput, CallFailure> {
    let name = program.argv.first().map_or("", String::as_str);
    Err(CallFailure::Unreachable(format!("`{name}` does not start: {WHY}")))
}

/// Runs nothing.
///
/// # Errors
/// Always returns [`CallFailure::Unreachable`].
pub fn capture(
    program: &Program,
    progress: &mut dyn FnMut(usize) -> bool,
) -> Result<CapturedOutput, CallFailure> {
    run(program, &[], progress).map(|_| CapturedOutput { end: ProgramEnd::Stopped, bytes: Vec::new() })
}

/// Runs no program, and returns the reason.
pub(crate) fn head(command: &[String], _cwd: &Path) -> Result<String, String> {
    let name = command.first().map_or("", String::as_str);
    Err(format!("`{name}` does not start: {WHY}"))
}
