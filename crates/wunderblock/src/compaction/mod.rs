//! Drives builds, and compacts lanes.

pub(crate) mod compact;
pub(crate) mod drive;
