//! Nothing is lost: what came in can be read back, whatever happens on the way.

pub(crate) mod graph;
pub(crate) mod ledger;
