//! What the readers of several formats share: JSON and its fields, content blocks, and the places of records.

pub(super) mod blocks;
pub(super) mod chain;
pub(super) mod elements;
pub(super) mod object;
pub(super) mod rewinds;
pub(super) mod seen;
pub(super) mod time;
