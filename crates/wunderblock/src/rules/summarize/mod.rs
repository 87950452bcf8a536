//! Summarisers that call a model or a program. The texts, and the checks of them, are those of
//! [`wunderblock_summary`].

mod command;
#[cfg(feature = "http")]
mod model;

pub use command::CommandSummariser;
#[cfg(feature = "http")]
pub use model::ModelSummariser;
pub use wunderblock_summary::*;
