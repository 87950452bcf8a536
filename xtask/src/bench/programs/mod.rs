//! Benchmarks of the program, each run a new process.

pub(super) mod delegates;
pub(super) mod history;
pub(super) mod hook;
