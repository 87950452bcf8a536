//! What the calls of tools do, how they end, and what closes the errors in them.

pub(super) mod act;
pub(super) mod change;
pub(super) mod check;
pub(super) mod decision;
pub(super) mod files;
pub(super) mod outcome;
pub(super) mod process;
mod shell;
pub(super) mod skill;
pub(super) mod todo;
pub(super) mod told;
pub(super) mod trouble;
