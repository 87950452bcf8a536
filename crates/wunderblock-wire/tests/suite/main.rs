//! Tests of the formats' guarantees.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets what it does not expect fails"
)]

mod hook;
mod live;
mod newer_replies;
mod reply;
mod shared;
mod text;
mod transcript;
mod well_formed;
