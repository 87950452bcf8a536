//! What an index stores: terms, postings, and segments of them.

pub(crate) mod block;
pub(crate) mod docs;
pub(crate) mod frame;
pub(crate) mod hash;
pub(crate) mod header;
pub mod merge;
pub(crate) mod postings;
pub mod segment;
pub(crate) mod terms;
pub(crate) mod varint;
pub mod vectors;
