//! Reports, accounts, timelines and simulations: what a door shows.

pub mod account;
pub mod report;
pub(crate) mod simulate;
pub(crate) mod timeline;
