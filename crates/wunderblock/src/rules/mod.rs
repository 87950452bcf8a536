//! What is given as data, and what is called from outside: models, prices, policies, token counts, programs.

pub(crate) mod agent;
pub mod catalog;
pub(crate) mod compactor;
pub mod embedder;
#[cfg(feature = "http")]
pub mod model;
pub mod policy;
pub mod process;
pub mod summarize;
pub(crate) mod token_costs;
pub mod tokens;
