//! Instruction files of a project: their names and places, their imports, rules by path, and the order in which they
//! apply.

pub(super) mod find;
mod ignored;
mod import;
pub(super) mod loader;
mod rule;
pub(super) mod rules;
mod scan;
