//! Nothing is lost: whatever enters the ledger can be read back, whatever happens on the way.

mod documents;
pub(crate) mod graph;
pub(crate) mod ledger;
