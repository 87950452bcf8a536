//! What a summary stands for can be read back, exactly, from wherever its name stands.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets what it does not expect fails"
)]

mod describing;
mod expanding;
mod scene;
mod wellness;
