//! Summarisers that fail in every way they can, and the summaries that come of it all the same.

mod attempts;
mod commands;
mod failures;
pub(crate) mod scene;
mod secrets;
mod telling;
