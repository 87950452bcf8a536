//! Replayable: a recorded request is rebuilt byte for byte, also by later versions.

pub(crate) mod golden;
