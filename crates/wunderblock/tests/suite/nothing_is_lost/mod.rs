//! Nothing is lost: what came in can be read back, whatever happens on the way.

mod graph;
mod ledger;
