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

mod ci_log;
mod code;
mod command;
mod detect;
mod duplicates;
mod encode;
mod encoding;
mod frame;
mod html;
mod json;
mod kind;
mod label;
mod lines;
mod mark;
mod numbers;
mod options;
mod part;
mod pipeline;
mod query;
mod readers;
mod reading;
mod rules;
mod sample;
mod segment;
mod select;
mod severity;
pub mod shell;
mod shown;
mod sink;
mod source;
mod span;
mod target;
mod template;
mod terminal;
mod word_list;

pub use code::defined_name;
pub use command::{Claim, program};
pub use duplicates::EarlierText;
pub use encode::{invert, unpack};
pub use encoding::decode_other;
pub use frame::{polled, running};
pub use json::{JsonPlace, find_json};
pub use kind::Kind;
pub use mark::{Gap, GapFact, GapMark, GapUnit, gaps};
pub use options::{Level, Options};
pub use pipeline::{Reduced, Untouched, reduce};

/// Detects the kind of a text from its structure.
#[must_use]
pub fn detect(text: &str) -> Kind {
    detect::detect_kind(text)
}
