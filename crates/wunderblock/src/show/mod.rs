//! Reports, accounts, pages and simulations: what a door shows.

pub mod account;
pub(crate) mod page;
pub mod report;
pub(crate) mod simulate;
