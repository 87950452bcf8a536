//! Recording in a ledger: events, outputs and commands, and who wrote what.

pub(crate) mod authors;
pub(crate) mod command;
pub(crate) mod door;
pub(crate) mod output;
pub(crate) mod record;
