//! Tests of the library's promises, compiled as one program: the suites run in parallel and share code that is
//! compiled once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets what it does not expect fails"
)]

mod compaction;
mod golden;
mod graph;
mod keeping;
mod ledger;
mod outside;
mod policies;
mod reduce;
mod scene;
mod simulate;
mod sources;
mod summarisers;
mod usage;
