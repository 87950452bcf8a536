//! Reads content that enters a request from outside the ledger: instruction files and skills.
//!
//! This module reads files and nothing else: no environment, no home directory, no ledger. Paths are passed in as
//! values; texts, and findings about unreadable files, are returned as values. [`wunderblock_core::instruction`]
//! decides which texts apply, and later stages decide which of them enter a request.
//!
//! ```text
//! Workspace::find(cwd) ─► instructions(SourceQuery { workspace, touched, … }) ─► FoundSources { head, nested, … }
//! touched(gists) ──────────────────────────────────────────────────┘
//! skills(dirs) ─► SkillFile …
//! FolderFiles::of(path) ─► read_file(path) ─► text_of(path, bytes) ─► DocumentText { sections … }
//! ```
//!
//! No file can make a read hang, grow without limit, or reach outside the allowed directories. Only regular files are
//! opened; sizes, numbers and depths are limited by `limits.rs`; and a path is judged by its resolved target. A
//! file that cannot be used becomes a finding, and reading continues.

pub mod definitions;
pub mod documents;
mod file;
mod front_matter;
mod instructions;
mod limits;
pub mod places;
pub mod project;
mod remote;
mod skills;
mod touched;
mod workspace;

pub use file::{read_text, resolve_inside, text_named_by};
pub use front_matter::read_front_matter;
pub use instructions::find::{FoundSources, SourceQuery, instructions};
pub use instructions::rules::InstructionRules;
pub use limits::MAX_SOURCE_BYTES;
pub use skills::{SkillFile, skills};
pub use touched::touched;
pub use workspace::pointer;
pub use workspace::{SourceError, Workspace};
