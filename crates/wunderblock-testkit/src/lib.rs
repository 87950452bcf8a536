//! Test helpers shared by the other crates. A crate's tests must not depend on another crate's test code, so helpers
//! that several crates need are defined here:
//!
//! - [`memory`]: a complete, exact store in memory, the reference that other stores are compared with;
//! - [`conformance`]: a case for every promise of the storage port, to run against any store;
//! - [`faults`]: a store that is slow, loses calls and loses answers, and counts its round trips;
//! - [`generate`]: sessions of any size, for tests and benchmarks;
//! - [`server`]: a provider on this machine that speaks the real protocols and misbehaves according to a script;
//! - [`backdoor`]: appends events of kinds that the live door rejects;
//! - [`agent`]: a scripted agent that runs whole sessions and checks each request before its model is called;
//! - [`recorded`]: ledgers of older formats, with the output that the programs of their time returned for them.

pub mod agent;
pub mod backdoor;
pub mod conformance;
pub mod faults;
pub mod generate;
pub mod memory;
pub mod recorded;
pub mod server;
