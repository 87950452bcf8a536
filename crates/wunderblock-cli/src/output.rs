//! Where results, progress and errors go, and the exit codes.

pub(crate) mod atomic_file;
pub(crate) mod console;
pub(crate) mod exit;
pub(crate) mod hint;
pub(crate) mod output_file;
pub(crate) mod progress;
