//! Tests of the formats' guarantees.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets what it does not expect fails"
)]

mod cache;
mod encode;
mod gemini;
mod live;
mod newer_replies;
mod reply;
mod responses;
mod round_trip;
mod shared;
mod text;
mod transcript;
mod validate;
