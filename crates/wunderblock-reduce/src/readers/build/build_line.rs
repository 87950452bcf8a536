//! One line of build output.

use crate::readers::diagnostic::{self, DiagnosticPart};
use crate::readers::progress::{is_progress, within_step};
use crate::readers::timestamp;

/// The sort of a line of build output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BuildLine {
    Progress,
    Part(DiagnosticPart),
    Other,
}

/// A line without the time, the step or the job that stands before it.
pub(in crate::readers) fn strip_prefix(line: &str) -> &str {
    let undated = line.get(timestamp::prefix_length(line)..).unwrap_or(line);
    within_step(undated)
}

/// The sort of a line by itself, given without its time.
pub(super) fn classify(line: &str) -> BuildLine {
    match diagnostic::diagnostic_part(line) {
        Some(part) => BuildLine::Part(part),
        None if is_progress(line) => BuildLine::Progress,
        None => BuildLine::Other,
    }
}
