//! A context and memory engine for LLM agents: everything that touches disk, clocks and vocabularies.

pub mod catalog;
pub mod redact;
pub mod tokens;
