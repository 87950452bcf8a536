//! Where records belong: the branch, the position, and the session.

pub(crate) mod look_up;
pub(crate) mod place;
pub(crate) mod session;
pub(crate) mod take;
