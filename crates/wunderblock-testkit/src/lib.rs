//! What the other crates are tested with. No test of a crate may depend on how another crate's tests are made, so what
//! several need stands here:
//!
//! - [`memory`]: the storage port in memory, complete and exact, and what other implementations are compared with;
//! - [`conformance`]: every promise of the storage port as a case that any implementation can be tried on;
//! - [`faults`]: a store that is slow, loses calls and loses answers, and counts its round trips;
//! - [`generate`]: sessions of any size, for tests and benchmarks;
//! - [`server`]: a provider on this machine that speaks the real protocols and misbehaves by a script;
//! - [`backdoor`]: events of kinds that the live door refuses;
//! - [`agent`]: a scripted agent that runs whole sessions, with checks before every call of its model;
//! - [`recorded`]: a ledger as the first format has it, and what it gave when it was written.

pub mod agent;
pub mod backdoor;
pub mod conformance;
pub mod faults;
pub mod generate;
pub mod memory;
pub mod recorded;
pub mod server;
