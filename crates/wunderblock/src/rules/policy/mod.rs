//! Compaction policies as files: the presets that are part of the program, and the parser of users' own policies.
//!
//! [`wunderblock_core::policy`] explains the keys. `docs/policies.md` shows a complete file and gives the sources of
//! each preset's constants.

mod finding;
mod kinds;
mod lines;
mod mistake;
mod parse;
mod preset;
mod probe;
mod suggestion;

pub use finding::{PolicyError, PolicyFinding};
pub use parse::Parsed;
pub use preset::{DEFAULT, OFF, Policies};
