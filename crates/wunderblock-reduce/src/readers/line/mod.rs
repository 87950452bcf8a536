//! What readers find in single lines, and what differs among lines that are alike.

pub(super) mod alike;
pub(super) mod build_line;
pub(super) mod diagnostic;
pub(super) mod fingerprint;
pub(super) mod message_shape;
pub(super) mod stack_frame;
pub(super) mod timestamp;
