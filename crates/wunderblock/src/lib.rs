//! A context and memory engine for LLM agents.
pub mod store;
