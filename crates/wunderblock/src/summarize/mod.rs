//! Summaries: what a summariser receives, what it returns, and how its text is checked.
//!
//! ```text
//! Material, Brief ─► a Summarise (model, command) ─► verify ─► taken, or a retry with a correction
//!                └─► extract, the floor: needs no model and cannot fail ◄── when nothing was taken
//! ```

pub mod attempt;
mod command;
mod extract;
#[cfg(feature = "http")]
mod model;
mod phrase;
pub mod prompt;
pub(crate) mod standing;
pub(crate) mod task;
mod verify;

pub use crate::call::{CallFailure, TOKEN_TIME};
pub use attempt::{AttemptOptions, Floor, Judgement, SummaryDraft};
pub use command::CommandSummariser;
pub use extract::{Notable, Noted, ReadMaterial, extract};
pub(crate) use extract::{
    changes_files, delegates_at_work, each_word, files_touched, follow, notable, plan_call, stamp, todo_call,
    work,
};
#[cfg(feature = "http")]
pub use model::ModelSummariser;
pub use task::{Brief, Earlier, Material, Summarise, SummaryTask, SummaryText};
pub use verify::{Against, SummaryFault, Verdict, verify};
pub(crate) use verify::{content_words, gives_orders};
pub use wunderblock_core::compact::Detail;
pub use wunderblock_core::compaction::Manner;
