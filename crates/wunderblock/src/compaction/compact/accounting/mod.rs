//! What a compaction did, what leaves with it, and what it costs.

pub(crate) mod account;
pub(crate) mod leaving;
