//! Lanes of a session: the next request, why it is as it is, one lane, a lane in memory, and what an agent is told.

pub(crate) mod agent_view;
pub(crate) mod context;
pub(crate) mod explain;
pub mod in_memory;
pub(crate) mod lane;
pub mod recap;
pub(crate) mod turn;
pub(crate) mod usage;
pub(crate) mod visibility;
