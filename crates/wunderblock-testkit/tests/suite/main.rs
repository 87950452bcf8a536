//! Promises of the testkit: faults occur as planned, sessions are determined by their seeds, and the store in memory
//! conforms.

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
