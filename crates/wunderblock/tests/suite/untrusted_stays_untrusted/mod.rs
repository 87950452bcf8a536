//! Untrusted stays untrusted: what enters from outside keeps its rank.

pub(crate) mod authors;
pub(crate) mod embedder;
pub(crate) mod handed_back;
pub(crate) mod outside;
pub(crate) mod reach;
pub(crate) mod sources;
