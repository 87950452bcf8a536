//! Reports about shortened outputs of programs.

use crate::ledger::recording::output::ShortenedOutput;
use serde::Serialize;
use wunderblock_core::id::Handle;
use wunderblock_reduce::{Gap, GapFact, Untouched};

/// A shortened output.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct OutputReport<'r> {
    /// Text to show.
    pub text: &'r str,
    /// Handle for reading the full output. Null if nothing was changed.
    pub handle: Option<Handle>,
    /// Kind of the output.
    pub kind: &'static str,
    /// Level to which the output was reduced.
    pub level: &'static str,
    /// Number of tokens in the full output.
    pub tokens_before: u64,
    /// Tokens of the shown text.
    pub tokens_after: u64,
    /// Whether the output can be restored from the text alone.
    pub lossless: bool,
    /// Gaps in the text.
    pub gaps: Vec<GapReport<'r>>,
    /// Reason why nothing was changed, or null if the text was shortened.
    pub untouched: Option<&'static str>,
}

/// A stretch of an output that is left out.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct GapReport<'r> {
    /// Address for reading the stretch, such as `wb:3f9c1a7b#L120-181`. If the output has no handle, the address is
    /// only the part after `#`.
    pub address: String,
    /// Unit of `first`, `last` and `count`.
    pub measure: &'static str,
    /// First unit that is left out, counted from 1.
    pub first: u64,
    /// Last unit that is left out.
    pub last: u64,
    /// Number of units that are left out.
    pub count: u64,
    /// Path of the array or object in which units are counted. Null if units are counted in the whole text.
    pub within: Option<&'r str>,
    /// Offset of the first byte of the stretch.
    pub from_byte: usize,
    /// Offset after the last byte of the stretch.
    pub to_byte: usize,
    /// Facts about the stretch.
    pub told: Vec<GapFactReport<'r>>,
}

/// A fact about a stretch that is left out.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct GapFactReport<'r> {
    /// Count of the fact, if it has one.
    pub count: Option<u64>,
    /// Description of what is counted or present.
    pub what: &'r str,
}

impl<'r> OutputReport<'r> {
    /// Creates the report of a shortened output.
    #[must_use]
    pub fn new(kept: &'r ShortenedOutput) -> Self {
        let short = &kept.reduced;
        Self {
            text: &short.text,
            handle: kept.handle,
            kind: short.kind.name(),
            level: short.level.name(),
            tokens_before: short.tokens_before,
            tokens_after: short.tokens_after,
            lossless: short.lossless,
            gaps: short.gaps.iter().map(|gap| GapReport::new(gap, kept.handle)).collect(),
            untouched: short.untouched.map(Untouched::name),
        }
    }
}

impl<'r> GapReport<'r> {
    fn new(gap: &'r Gap, handle: Option<Handle>) -> Self {
        let fact = |fact: &'r GapFact| GapFactReport { count: fact.count, what: &fact.what };
        Self {
            address: handle
                .map_or_else(|| gap.place(), |handle| format!("{}#{}", handle.short(), gap.place())),
            measure: gap.measure.name(),
            first: gap.first,
            last: gap.last,
            count: gap.count(),
            within: gap.within.as_deref(),
            from_byte: gap.span.start,
            to_byte: gap.span.end,
            told: gap.told.iter().map(fact).collect(),
        }
    }
}
