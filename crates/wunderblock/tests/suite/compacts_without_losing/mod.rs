//! Compacts without losing: policies, summaries, and what they cost and keep.

mod compaction;
mod policies;
mod simulate;
mod summarisers;
