//! Long-term memory: the events of a memory log, folded.
//!
//! ```text
//! proposed ─► reviewed ─► changed ─► Memory: versions, state
//!                └ rejected: the value is known again
//! forgotten ─► kept, not shown; the value is known again if a person asked for it
//! ```

mod log;
mod memory;
mod proposal;
#[cfg(test)]
mod tests;

pub use log::MemoryLog;
pub use memory::{Memory, MemoryState, MemoryVersion};
pub use proposal::{Proposal, ProposalState};
