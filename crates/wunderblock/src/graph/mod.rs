//! Reading the summary graph: what a summary stands for, what it was made from, and the originals beneath it, page by page.
//!
//! A node is a `session.compacted` event. Nothing here writes, and nothing is kept but the events themselves: nodes, their
//! parents and their place in a view are worked out from what is recorded, in the session or what it forked from.
//!
//! Pages lie on a grid over the tokens of what is read, not one after the other: where page 300 begins follows from the
//! ledger's running sums, so it is found without reading the pages before it (see `grid`).

pub(crate) mod check;
mod describe;
mod expand;
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
