//! Shortens a text by its structure, and marks everything it leaves out.
//!
//! A tool's output is long because it repeats itself. [`reduce`] detects the kind of a text, keeps the parts for
//! which people read a text of that kind, encodes the rest in fewer words, and marks every gap with its place and a
//! handle by which the bytes can be read again. A reduction needs no model, does no I/O, and returns the same result
//! for the same input.
//!
//! ```text
//!  bytes ─► source ─► detect ─► read ─────► select ───► write ─► encode ──► check ─► Reduced
//!           controls  kind      what each   what fits   marks    fewer      decode,
//!           set aside           span is     the level            words      compare
//!                               worth                                       bytes
//! ```
//!
//! Three properties hold by construction. The segments of a text tile it, so nothing is left out without a mark.
//! Every lossless encoding is decoded and compared with the source before it is shown. A reader ranks text but never
//! writes it, so a wrong kind costs savings, never content.
//!
//! ```
//! use wunderblock_reduce::{reduce, Options};
//!
//! let log: String = (0..200).map(|n| format!("12:00:{:02} INFO served request {n}\n", n % 60)).collect();
//! let short = reduce(log.as_bytes(), &Options::default());
//! assert!(short.text.len() < log.len() / 4);
//! assert!(!short.gaps.is_empty());
//! ```

mod code;
mod command;
mod detect;
mod encode;
mod html;
mod input;
mod json;
mod kind;
mod options;
mod part;
mod pipeline;
mod readers;
mod reading;
mod result;
mod rules;
mod spans;
mod target;
mod text;

pub use code::defined_name;
pub use command::{Claim, program};
pub use encode::{invert, unpack};
pub use html::page_markdown;
pub use input::frame::{polled, running};
pub use json::{JsonPlace, find_json};
pub use kind::Kind;
pub use options::{Level, Options};
pub use pipeline::{Reduced, Untouched, reduce};
pub use result::mark::{Gap, GapFact, GapMark, GapUnit, gaps};
pub use spans::duplicates::EarlierText;

/// Detects the kind of a text from its structure.
#[must_use]
pub fn detect(text: &str) -> Kind {
    detect::detect_kind(text)
}
