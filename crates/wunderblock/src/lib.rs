//! A context and memory engine for LLM agents.
pub mod catalog;
pub mod index;
pub mod store;
pub mod tokens;
