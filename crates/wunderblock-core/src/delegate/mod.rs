//! Delegates: which agents are defined, which of them an agent may use, and which model each of them gets.
//!
//! ```text
//! definitions of all layers ─ Registry ─► in force ─ filter ─► offered ─ listing ─► lines, changes of lines
//!                                             └─ route: policy > environment > … > inherit ─► model, with reasons
//! ```
//! Readers of files are in the library. Nothing here runs an agent or grants a permission: the results are data for
//! the program that runs the delegate.

pub mod brief;
pub mod context;
pub mod definition;
pub mod filter;
pub mod listing;
pub mod model;
pub mod registry;
pub mod route;
pub mod tools;

#[cfg(test)]
mod tests;
