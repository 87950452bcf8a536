//! Drives the server over a pair of pipes, line by line, as a client does.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets what it does not expect fails"
)]

mod bad_input;
mod resources;
mod scene;
mod tool_list;
mod tools;
