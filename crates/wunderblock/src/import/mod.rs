//! Transcripts of agents, imported, and documents that a person adds.

pub(crate) mod documents;
pub(crate) mod records;
pub(crate) mod transcripts;
