//! The sections of the settings file. Each file has the keys of one section with their defaults, the checks of their
//! values, and their combination with the values that a caller gives.
//!
//! A section has a maximum number of keys. A capability with settings of its own gets a section of its own, and no key
//! in one of these.

pub mod budget;
pub mod compaction;
pub mod context;
pub mod embedder;
pub mod instructions;
pub mod root;
pub mod scope;
pub mod sources;

mod section;

pub use section::{InvalidValue, Section};
