//! The content of the next request: the cost of each entry, the form in which a part is shown, and what fits the
//! budget. And what the usage that providers measured shows about these costs.

pub mod cost;
pub mod plan;
pub(super) mod presentation;
pub mod quote;
pub mod usage;
