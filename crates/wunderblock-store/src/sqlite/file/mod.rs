//! The file of a ledger: where it is, what schema it has, and what may remain in it.

pub(crate) mod access;
pub(crate) mod backups;
pub(crate) mod check;
pub(crate) mod create;
pub(crate) mod log;
pub(crate) mod open;
pub mod place;
pub(crate) mod schema;
pub(crate) mod upgrade;
pub(crate) mod wipe;
