//! Files of transcripts: what changed, who writes, and what is left to read.

pub(crate) mod bytes;
pub(crate) mod change;
pub(crate) mod claim;
pub(crate) mod open;
pub(crate) mod opened;
pub(crate) mod saved;
pub(crate) mod waiting;
