//! Rows of the tables: queries answered, writes applied.

pub(crate) mod ancestor_ids;
pub(crate) mod answer;
pub(crate) mod append;
pub(crate) mod basis;
pub(crate) mod erase;
pub(crate) mod ids;
pub(crate) mod lease;
pub(crate) mod lineage;
pub(crate) mod marked;
pub(crate) mod read;
pub(crate) mod source;
pub(crate) mod streams;
pub(crate) mod write;
