//! Summarisers that fail in every way they can, and the summaries that come of it all the same.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets what it does not expect fails"
)]

mod attempts;
mod commands;
mod failures;
mod scene;
mod secrets;
mod telling;
