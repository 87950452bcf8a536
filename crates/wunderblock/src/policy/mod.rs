//! Compaction policies as files: the presets that are part of the program, and how a person's own are read.
//!
//! What the keys mean is in [`wunderblock_core::policy`]; `docs/policies.md` shows a whole file and says where the
//! constants of each preset come from.

mod finding;
pub(crate) mod nearest;
mod parse;
mod preset;
mod schema;

pub use finding::{PolicyError, PolicyFinding};
pub use parse::Parsed;
pub use preset::{DEFAULT, OFF, Policies};
