//! Commands that take sessions and documents in, and give them out.

pub(crate) mod append;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod index;
pub(crate) mod unindex;
