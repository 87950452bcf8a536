//! What is promised of compaction, tried from outside: on sessions of all kinds, by every policy, while other things go
//! on and go wrong.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets what it does not expect fails"
)]

mod breaker;
mod conformance;
mod crash;
mod crowd;
mod damage;
mod errand;
mod facts;
mod hostile;
mod overflow;
mod scene;
mod summaries;
mod sweep;
mod undo;
#[path = "../ledger/scene.rs"]
#[allow(dead_code, reason = "the words of another suite, of which this one needs some")]
mod words;
