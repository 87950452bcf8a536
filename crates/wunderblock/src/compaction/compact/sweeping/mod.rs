//! Summaries of what precedes a lane's view.

pub(crate) mod archive;
pub(crate) mod chunk;
pub(crate) mod sweep;
