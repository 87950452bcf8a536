//! What the stages of a build do.

pub(crate) mod candidates;
pub(crate) mod compose;
pub(crate) mod draft;
pub(crate) mod named;
pub(crate) mod offer;
pub(crate) mod prefix;
pub(crate) mod shorten;
pub(crate) mod unasked;
pub(crate) mod withhold;
pub(crate) mod work;
