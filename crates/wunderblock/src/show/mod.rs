//! Reports, accounts, timelines, simulations and evaluations: what a door shows.

pub mod account;
pub mod eval;
pub mod report;
pub(crate) mod simulate;
pub(crate) mod timeline;
