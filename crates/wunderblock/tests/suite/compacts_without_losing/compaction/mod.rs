//! Promises of compaction, tested from outside: on sessions of all kinds, under every policy, with concurrent work
//! and faults.

mod aside;
mod breaker;
mod conformance;
mod coverage;
mod crash;
mod crowd;
mod damage;
mod edits;
mod errand;
mod facts;
mod hostile;
mod in_memory;
mod lanes;
mod named;
mod newest;
mod overflow;
mod products;
mod proof;
mod rules;
pub(crate) mod scene;
mod summaries;
mod sweep;
mod unasked;
mod undo;
mod visibility;
mod words;
mod work;
