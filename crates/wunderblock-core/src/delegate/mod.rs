//! Delegates: which agents are defined, which of them an agent may use, and which model each of them gets. And the slash
//! commands and skills, whose definitions have the same layers.
//!
//! ```text
//! definitions of all layers ─ Registry ─► in force ─ filter ─► offered ─ listing ─► lines, changes of lines
//!                                             └─ route: policy > environment > … > inherit ─► model, with reasons
//! commands, skills of all layers ─ Registry ─► in force ─ expand ─► text with its arguments, what is left as written
//! ```
//! Readers of files are in the library. Nothing here runs an agent or grants a permission: the results are data for
//! the program that runs the delegate.

pub mod brief;
pub mod command;
pub mod context;
pub mod definition;
pub mod expand;
pub mod filter;
pub mod listing;
pub mod model;
pub mod registry;
pub mod route;
pub mod tools;

#[cfg(test)]
mod tests;
