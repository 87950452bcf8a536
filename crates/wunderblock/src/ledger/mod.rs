//! The engine on a ledger: sessions, what callers append, and stored content as it was recorded.
pub(crate) mod engine;
pub(crate) mod header_cache;
pub(crate) mod incoming;
pub(crate) mod kept_bytes;
pub(crate) mod ledger_file;
#[cfg(feature = "sqlite")]
pub(crate) mod open;
pub(crate) mod page_finder;
pub(crate) mod project;
pub(crate) mod reading;
pub(crate) mod recording;
pub(crate) mod reduce;
pub(crate) mod session;
pub(crate) mod texts;
