//! Instruction files, and which of their blocks hold.
//!
//! A file's text is plain, or has named blocks: `<!-- block NAME MODE -->` up to the next such line, `<!-- end -->` or
//! the end of the file. The mode says what files that come later in the hierarchy may do with the block. [`pieces`]
//! takes a text apart, [`settle`] says what holds of many.

mod file;
mod finding;
mod markdown;
mod pieces;
mod settle;

pub use file::{FileSegment, InstructionFile, LoadReason, Mode};
pub use finding::{Finding, FindingKind};
pub use markdown::{MarkdownSpan, SpanKind, spans};
pub use pieces::{LineProblem, MAX_BLOCK_NAME, MAX_PROBLEMS, pieces, pieces_in};
pub use settle::{MAX_SETTLED, RULES, Redefinition, Settled, outcome, settle};
