//! Tests of the library's promises, compiled as one program: the suites run in parallel and share code that is
//! compiled once. The folders correspond to the promises listed in the README.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets what it does not expect fails"
)]

mod compacts_without_losing;
mod delegates;
mod forgetting_is_real;
mod honest_numbers;
mod memory_is_reviewed;
mod nothing_is_lost;
mod reduces_without_lying;
mod replayable;
mod scene;
mod untrusted_stays_untrusted;
