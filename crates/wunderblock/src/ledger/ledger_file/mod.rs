//! A ledger in a file: SQLite, or a type without values in builds without it.

#[cfg(not(feature = "sqlite"))]
mod no_file;

#[cfg(not(feature = "sqlite"))]
pub(crate) use no_file::{Sqlite, UNSCRUBBED};
#[cfg(feature = "sqlite")]
pub(crate) use wunderblock_store::sqlite::{Sqlite, UNSCRUBBED};
