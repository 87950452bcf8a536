//! What a build begins with: the options, the target, the lane as it stands, and the sources.

pub(crate) mod job;
pub(crate) mod lane;
pub(crate) mod note;
pub(crate) mod options;
pub(crate) mod provider;
pub(crate) mod snapshot;
pub(crate) mod sources;
pub(crate) mod target;
