//! Runs other people's programs: summarisers, hooks and providers of state. Programs run without a shell and with
//! limits. A program that exceeds a limit is ended together with everything it has started.
//!
//! Programs run on Unix only, because ending everything that a program has started relies on process groups.

#[cfg(all(feature = "processes", unix))]
mod child;
#[cfg(not(all(feature = "processes", unix)))]
#[path = "no_child.rs"]
mod child;
mod program;

pub(crate) use child::head;
pub use child::{capture, run};
pub use program::{CapturedOutput, ProcessOutput, Program, ProgramEnd, exit_code, split};
