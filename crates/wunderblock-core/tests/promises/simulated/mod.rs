//! Random histories, sources and policies, and a small engine that plays them.

pub(super) mod desk;
pub(super) mod history;
pub(super) mod lane;
pub(super) mod policies;
