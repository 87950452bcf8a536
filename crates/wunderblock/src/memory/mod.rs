//! Long-term memory of a scope: claims with evidence, a verdict and a history.
//!
//! ```text
//! add, propose ─► same? refused before? contradicts? ─► memory.proposed ─► pending ─► review ─► memory.reviewed
//!                    │ known: nothing is written                                                     │ approved
//!                    └ a person's own words: approved in the same commit ───────────────────► memory.changed
//! forget ─► memory.forgotten     roll back, restore ─► memory.changed     list, show, history ─► fold of the log
//! ```
//! A log is a stream that its scope names. Every write folds the log first and expects its head, so of two reviewers one
//! decides and the other is told.

mod evidence;
mod handle;
mod learn;
mod log;
mod name;
mod new;
mod report;
mod review;
mod value;
mod write;

pub use handle::{Memories, MemoryFilter};
pub use learn::MemoryLearned;
pub use name::MemoryName;
pub use new::{MemoryDecision, NewChange, NewClaim, NewEvidence, NewMemory};
pub use report::{MemoryDescription, MemoryOutcome, MemoryStep, MemoryWritten, ProposalDescription};
