//! Reading what a ledger holds: rows, texts, sources, and what addresses name.

pub(crate) mod address;
pub(crate) mod content;
pub(crate) mod lineage;
pub(crate) mod originals;
pub(crate) mod query_batch;
pub(crate) mod reductions;
pub(crate) mod stored;
