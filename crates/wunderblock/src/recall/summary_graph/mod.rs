//! Reads the summary graph: the range that a summary covers, the summaries it was made from, and the original
//! messages, page by page.
//!
//! A node is a `session.compacted` event. This module writes nothing. Only the events are stored: the nodes, their
//! parents and their places in a view are derived from the events of the session and of its ancestors.
//!
//! Pages lie on a grid over the tokens of the text. The beginning of page 300 follows from the ledger's running sums,
//! so it is found without reading the pages before it (see `grid`).

pub(crate) mod describe;
pub(crate) mod expand;
mod grid;
mod hits;
mod item;
mod node;
mod page;
mod place;
mod token_line;

pub use describe::{ChildNode, Described, ReadingCost};
pub use expand::{Expand, Expanded, Shows};
pub use item::{ItemKind, PageItem};
pub use node::GraphNode;
pub(crate) use node::made_nodes;
