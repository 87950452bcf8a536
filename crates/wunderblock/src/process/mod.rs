//! Programs of other people: summarisers, hooks, providers of state. Run without a shell, with limits, and ended with all
//! they have started.
//!
//! Programs are run on Unix only: what one has started is ended with it by way of its process group.

#[cfg(all(feature = "processes", unix))]
mod child;
#[cfg(not(all(feature = "processes", unix)))]
#[path = "no_child.rs"]
mod child;
mod program;

pub(crate) use child::head;
pub use child::run;
pub use program::{ProcessOutput, Program, split};
