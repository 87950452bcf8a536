//! Summarisers that fail in every way, and the summaries that are made despite the failures.

mod attempts;
mod commands;
mod failures;
pub(crate) mod scene;
mod secrets;
mod telling;
