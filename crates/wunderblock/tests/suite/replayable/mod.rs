//! Replayable: a recorded request is rebuilt byte for byte, even by later versions.

pub(crate) mod golden;
