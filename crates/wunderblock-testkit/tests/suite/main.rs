//! What the testkit promises: faults where they are asked for, sessions by their seeds, a store in memory.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets what it does not expect fails"
)]

mod faults;
mod generate;
mod memory;
