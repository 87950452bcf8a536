//! Promises of compaction.

mod cases;
mod due;
mod golden;
mod kept;
mod prefix;
mod rebase;
pub(super) mod rounds;
mod scale;
