//! Rungs of the ladder, one per kind of step that a policy can name.

pub(super) mod archive;
pub(super) mod condense;
pub(super) mod curate;
pub(super) mod dedupe;
pub(super) mod drop;
pub(super) mod shrink;
pub(super) mod stub;
pub(super) mod summarise;
