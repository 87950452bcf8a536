//! Instruction files, and the choice of the blocks that apply.
//!
//! The text of a file is either plain or divided into named blocks. A block begins with `<!-- block NAME MODE -->`. A
//! block ends where the next block begins, at `<!-- end -->`, or at the end of the file. The mode says what files
//! later in the hierarchy may do with the block. [`pieces`] splits a text into blocks, and [`settle`] decides which
//! blocks of several files apply.

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
