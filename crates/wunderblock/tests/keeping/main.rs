//! The ledger's files: created whole, read by their owner only, scrubbed after an erasure, replaced by a restore.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets what it does not expect fails"
)]

mod create;
mod restore;
mod scene;
mod scrub;
mod text;
