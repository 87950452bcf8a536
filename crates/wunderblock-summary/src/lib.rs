//! Summaries: what a summariser receives, what it returns, and how its text is checked.
//!
//! ```text
//! Material, Brief ─► a Summarise (model, command) ─► verify ─► taken, or a retry with a correction
//!                └─► extract, the floor: needs no model and cannot fail ◄── when nothing was taken
//! ```

pub mod attempt;
mod call;
mod extract;
mod phrase;
pub mod prompt;
pub mod standing;
pub mod task;
mod verify;

pub use attempt::{AttemptOptions, Floor, Judgement, SummaryDraft};
pub use call::{CallFailure, TOKEN_TIME, writing_time};
pub use extract::{Extract, Notable, Noted, ReadMaterial, extract};
pub use extract::{
    changes_files, delegates_at_work, each_word, files_touched, follow, notable, plan_call, stamp, todo_call,
    work,
};
pub use task::{Brief, Earlier, Material, Summarise, SummaryTask, SummaryText};
pub use verify::{Against, SummaryFault, Verdict, verify};
pub use verify::{content_words, gives_orders};
pub use wunderblock_core::compact::Detail;
pub use wunderblock_core::compaction::Manner;
