//! Finds and reads what was recorded: search, addresses, the graph of summaries, and the place of a text in a request.

pub(crate) mod catch_up;
pub(crate) mod document;
pub(crate) mod entry;
pub(crate) mod found;
pub(crate) mod grep;
pub(crate) mod handle;
pub(crate) mod note;
pub(crate) mod placement;
pub(crate) mod read;
pub(crate) mod read_page;
pub(crate) mod search;
pub mod summary_graph;
