//! Tests of the command line as its users see it: the built program, whole outputs, exit codes, crashes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "helpers of tests are tests: what cannot go on shall stop"
)]

mod append;
mod build;
mod compaction;
mod connected;
mod copy;
mod crash;
mod delegates;
mod desk;
mod dialects;
mod documents;
mod eval;
mod exit;
mod fields;
mod finding;
mod fixture;
mod gain;
mod gemini;
mod graph;
mod handed_back;
mod help;
mod histories;
mod hostile;
mod indexed;
mod keeping;
mod mcp;
mod memory;
mod names;
mod opencode;
mod output;
mod outside;
mod page;
mod people;
mod recalled;
mod recorded;
mod reduce;
mod run;
mod scope;
mod secrets;
mod session;
mod settings;
mod simulate;
mod storage;
mod strained;
mod through_run;
mod transcripts;
mod unfit;
mod wrapped;
mod written;
