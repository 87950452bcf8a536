//! Honest numbers: what is measured, estimated, and learned from usage.

pub(crate) mod usage;
