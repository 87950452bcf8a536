//! Finds and reads what was recorded: search, addresses, and the graph of summaries.

pub(crate) mod catch_up;
pub(crate) mod document;
pub(crate) mod grep;
pub(crate) mod handle;
pub(crate) mod note;
pub(crate) mod places;
pub(crate) mod prompted;
pub(crate) mod read;
pub(crate) mod read_page;
pub(crate) mod scan;
pub(crate) mod search;
pub mod summary_graph;
