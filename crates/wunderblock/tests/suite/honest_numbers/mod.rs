//! Honest numbers: what is measured, estimated, and learned from usage.

mod usage;
