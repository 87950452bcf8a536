//! What lines say, and what the readers of all kinds share to find it.

pub(super) mod lines;
pub(super) mod numbers;
pub(super) mod sample;
pub(super) mod severity;
pub(super) mod template;
pub(super) mod word_list;
