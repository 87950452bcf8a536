//! Reading sources: what is found, in which order and rank, and what happens when files are not what they should be.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets what it does not expect fails"
)]

mod hierarchy;
mod hostile;
mod ignoring;
mod imports;
mod scanning;
mod scene;
mod skilled;
mod touching;
