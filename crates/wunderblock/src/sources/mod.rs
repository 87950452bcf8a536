//! Reading what enters a request from outside the ledger: instruction files and skills.
//!
//! Everything here reads files and nothing else: no environment, no home directory, no ledger. Paths come in as values;
//! what was read, and what could not be, goes out as values. What holds of the texts is decided in
//! [`wunderblock_core::instruction`]; what of them enters a request, further on.
//!
//! ```text
//! Workspace::find(cwd) ─► instructions(Wanted { workspace, rules, touched, … }) ─► Found { head, nested, ignore, findings }
//! touched(gists) ───────────────────────────────────┘
//! skills(dirs) ─► SkillFile …
//! ```
//!
//! No file can make a reading hang, grow without bound, or reach outside: only regular files are opened, sizes, numbers
//! and depths are in [`crate::limits`], and a path is judged by where it leads, not by how it is written. A file that
//! cannot be used is a finding, and the reading goes on.

mod file;
mod find;
mod front_matter;
mod ignored;
mod import;
mod loader;
mod rule;
mod rules;
mod scan;
mod skills;
mod touched;
mod workspace;

pub use find::{FoundSources, SourceQuery, instructions};
pub use rules::InstructionRules;
pub use skills::{SkillFile, skills};
pub use touched::touched;
pub use workspace::{SourceError, Workspace};
