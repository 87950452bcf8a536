//! How an index is searched: queries, the documents in scope, and their ranks.

pub(crate) mod asked;
pub mod fragments;
pub mod query;
pub(crate) mod reader;
pub(crate) mod request;
pub mod scope;
pub mod score;
pub mod search;
pub mod tail;
pub(crate) mod term;
