//! Large output of tools that enters requests shorter: once, the same for good, and never without a way back.
//!
//! What the reducers make of a text is theirs to test. Here it only matters that they make something of these.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets what it does not expect fails"
)]

mod alone;
mod crowd;
mod scene;
mod story;
mod told;
