//! The engine on a ledger: sessions, what callers append, and stored content as it was recorded.

pub(crate) mod address;
pub(crate) mod authors;
pub(crate) mod command;
pub(crate) mod content;
pub(crate) mod door;
pub(crate) mod engine;
pub(crate) mod header_cache;
pub(crate) mod incoming;
pub(crate) mod kept_bytes;
pub(crate) mod latest;
pub(crate) mod ledger_file;
pub(crate) mod lineage;
#[cfg(feature = "sqlite")]
pub(crate) mod open;
pub(crate) mod originals;
pub(crate) mod output;
pub(crate) mod page_finder;
pub(crate) mod query_batch;
pub(crate) mod record;
pub(crate) mod reduce;
pub(crate) mod reductions;
pub(crate) mod session;
pub(crate) mod stored;
pub(crate) mod texts;
