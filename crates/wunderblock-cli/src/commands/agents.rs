//! Commands that agents and their programs call.

pub(crate) mod delegates;
pub(crate) mod hook;
pub(crate) mod init;
#[cfg(feature = "mcp")]
pub(crate) mod mcp;
pub(crate) mod reduce;
#[cfg_attr(not(unix), path = "agents/no_run.rs")]
pub(crate) mod run;
pub(crate) mod through_run;
pub(crate) mod wrap;
