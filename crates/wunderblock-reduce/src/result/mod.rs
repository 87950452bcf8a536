//! The parts of a reduced text: marks and their labels, segments, and the output of decoding.

pub(super) mod label;
pub(super) mod mark;
pub(super) mod segment;
pub(super) mod sink;
