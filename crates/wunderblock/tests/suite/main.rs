//! What the library promises, in one program: suites run beside one another, and what they share is compiled once.

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
