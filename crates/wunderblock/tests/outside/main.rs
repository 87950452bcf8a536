//! What enters a request from outside the ledger, and what is promised of it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets what it does not expect fails"
)]

mod desk;
mod files;
mod forget;
mod freeze;
mod guard;
mod prefix;
#[path = "../ledger/scene.rs"]
#[allow(dead_code, reason = "the words of another suite, of which this one needs some")]
mod scene;
mod state;
mod trust;
mod twin;
