//! The command line as those who use it meet it: the built binary, whole outputs, exit codes, crashes.

// A test that cannot go on stops.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod append;
mod build;
mod crash;
mod desk;
mod fields;
mod fixture;
mod help;
mod hostile;
mod output;
mod session;
mod storage;
