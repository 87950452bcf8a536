//! Untrusted stays untrusted: what enters from outside keeps its rank.

pub(crate) mod outside;
pub(crate) mod sources;
