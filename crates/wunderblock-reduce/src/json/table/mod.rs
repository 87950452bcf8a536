//! Tables: JSON in fewer words, where many objects are alike, and its decoding.

mod cell;
pub(super) mod decoder;
mod inner_mark;
mod row;
mod schema;
pub(super) mod writer;
