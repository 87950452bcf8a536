//! The measurements of one file.

use std::time::Duration;
use wunderblock_reduce::Kind;

/// What was measured of one file.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) bytes: usize,
    pub(super) before: u64,
    pub(super) fold: Side,
    pub(super) lossless: Side,
    pub(super) budget: Side,
    /// Of head and tail of the size of the folded text.
    pub(super) head_tail: (usize, usize),
    /// The size gzip makes of it, in bytes.
    pub(super) gzip: Option<usize>,
    /// Processor time of a fold, exact counts included and not.
    pub(super) time: (Duration, Duration),
}

/// One level.
pub(super) struct Side {
    pub(super) after: u64,
    /// Facts visible, and facts there are.
    pub(super) facts: (usize, usize),
    /// The facts that are not.
    pub(super) missing: Vec<String>,
    /// Error facts visible, and there are.
    pub(super) errors: (usize, usize),
    pub(super) gaps: usize,
    /// Whether the source is there again, from the text and the gaps.
    pub(super) whole: bool,
}
