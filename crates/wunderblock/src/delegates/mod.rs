//! Delegates of a session, and the first request of one.

pub mod handoff;
pub(crate) mod sessions;
