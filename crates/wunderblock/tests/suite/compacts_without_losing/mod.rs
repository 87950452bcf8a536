//! Compaction without losses: policies, summaries, and what they cost and keep.

pub(crate) mod compaction;
pub(crate) mod policies;
pub(crate) mod simulate;
pub(crate) mod summarisers;
