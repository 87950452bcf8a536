//! Summaries of a compaction: written, adopted, or paid for before.

pub(crate) mod adopt;
pub(crate) mod call_budget;
pub(crate) mod paid;
pub(crate) mod writing;
