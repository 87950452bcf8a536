//! Transcripts of agents, imported.

pub(crate) mod records;
pub(crate) mod transcripts;
