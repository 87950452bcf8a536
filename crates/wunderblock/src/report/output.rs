//! What was made of a program's output.

use crate::output::ShortenedOutput;
use serde::Serialize;
use wunderblock_core::id::Handle;
use wunderblock_reduce::{Gap, GapFact, Untouched};

/// A shortened output.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct OutputReport<'r> {
    /// The text to show.
    pub text: &'r str,
    /// Reads the bytes; none where nothing was changed.
    pub handle: Option<Handle>,
    /// What it is.
    pub kind: &'static str,
    /// How far the reduction went.
    pub level: &'static str,
    /// Tokens of the output.
    pub tokens_before: u64,
    /// Tokens of the text.
    pub tokens_after: u64,
    /// Whether the text alone gives the output back.
    pub lossless: bool,
    /// What is left out.
    pub gaps: Vec<GapReport<'r>>,
    /// Why nothing was changed, if so.
    pub untouched: Option<&'static str>,
}

/// A stretch of an output that is left out.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct GapReport<'r> {
    /// How it is read back, `wb:3f9c1a7b#L120-181`; the place alone where there is no handle.
    pub address: String,
    /// The unit of the numbers.
    pub measure: &'static str,
    /// The first unit that is left out, from 1.
    pub first: u64,
    /// The last.
    pub last: u64,
    /// How many are left out.
    pub count: u64,
    /// The path of the array or object in which they are counted, if not in the whole text.
    pub within: Option<&'r str>,
    /// Its first byte.
    pub from_byte: usize,
    /// One past its last byte.
    pub to_byte: usize,
    /// What is known of it.
    pub told: Vec<GapFactReport<'r>>,
}

/// Something that is known of what is left out.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct GapFactReport<'r> {
    /// How many, where they are counted.
    pub count: Option<u64>,
    /// What.
    pub what: &'r str,
}

impl<'r> OutputReport<'r> {
    /// The report of a shortened output.
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
