//! The library's promises, tried at its boundary.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets what it does not expect fails"
)]

mod care;
mod cases;
mod copies;
mod door;
mod examples;
mod history;
mod imports;
mod live;
mod promises;
mod recorded;
mod road;
mod scene;
mod send;
mod storage;
mod trips;
