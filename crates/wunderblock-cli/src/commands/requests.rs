//! Commands about model requests: building, explaining, comparing and shortening them.

pub(crate) mod agent_view;
pub(crate) mod build;
pub(crate) mod compact;
pub(crate) mod diff;
pub(crate) mod eval;
pub(crate) mod find;
pub(crate) mod leaving;
pub(crate) mod replay;
pub(crate) mod simulate;
pub(crate) mod undo;
pub(crate) mod visibility;
