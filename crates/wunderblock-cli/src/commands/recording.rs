//! Commands that take sessions in and give them out.

pub(crate) mod append;
pub(crate) mod export;
pub(crate) mod import;
