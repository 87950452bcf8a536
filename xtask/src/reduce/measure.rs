//! Measures the reduction of one file.

use super::check;
use super::facts::FactRules;
use serde::Serialize;
use std::time::Instant;
use wunderblock::tokens::Counted;
use wunderblock_reduce::{Level, Options, Reduced, reduce};

/// Figures of one file.
#[derive(Serialize)]
pub(super) struct FileReduction {
    pub(super) file: String,
    pub(super) kind: &'static str,
    pub(super) bytes: usize,
    /// Tokens of the source.
    pub(super) tokens: u64,
    pub(super) fold: LevelReduction,
    pub(super) lossless: LevelReduction,
    pub(super) budget: LevelReduction,
    /// Number of facts visible in the head and tail of the source, cut to the folded text's size, and number of all
    /// facts.
    pub(super) head_tail_facts: (usize, usize),
    /// Size in bytes of the gzipped source.
    pub(super) gzip: Option<usize>,
    /// Seconds that a fold takes with exact token counts.
    pub(super) seconds: f64,
    pub(super) seconds_without_counts: f64,
}

/// Figures of one level.
#[derive(Serialize)]
pub(super) struct LevelReduction {
    pub(super) tokens: u64,
    /// Number of visible facts, and of all facts.
    pub(super) facts: (usize, usize),
    /// Facts that are not visible.
    #[serde(skip)]
    pub(super) missing: Vec<String>,
    /// Number of visible error facts, and of all error facts.
    pub(super) errors: (usize, usize),
    pub(super) gaps: usize,
    /// Whether the source can be restored from the text and the gaps.
    pub(super) whole: bool,
}

pub(super) fn exact(text: &str) -> u64 {
    u64::from(Counted::of(text).o200k)
}

/// A handle of the engine's usual length, so that marks cost as many tokens as in use.
pub(super) const HANDLE: &str = "wb:3f9c1a7b";

pub(super) fn measure(file: String, bytes: &[u8], rules: &FactRules) -> FileReduction {
    let options = Options { handle: Some(HANDLE), count: &exact, ..Options::default() };
    let begun = Instant::now();
    let fold = reduce(bytes, &options);
    let seconds = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let plain = Options { count: &|text| text.len().div_ceil(4) as u64, ..options };
    let _ = reduce(bytes, &plain);
    let seconds_without_counts = begun.elapsed().as_secs_f64();
    let lossless = reduce(bytes, &Options { level: Level::Lossless, ..options });
    let budget = reduce(bytes, &Options { level: Level::Budget(fold.tokens_before / 4), ..options });
    let source = String::from_utf8_lossy(bytes);
    let facts = rules.facts(&source, fold.kind);
    let level = |short: &Reduced| {
        let shown = check::shown(&short.text);
        let seen = |error: bool| {
            let all: Vec<_> = facts.iter().filter(|fact| !error || fact.error).collect();
            (all.iter().filter(|fact| fact.is_in(&shown)).count(), all.len())
        };
        LevelReduction {
            tokens: short.tokens_after,
            facts: seen(false),
            errors: seen(true),
            missing: facts.iter().filter(|fact| !fact.is_in(&shown)).map(|fact| fact.text.clone()).collect(),
            gaps: short.gaps.len(),
            whole: check::is_whole(&source, short),
        }
    };
    let cut = check::head_and_tail(&source, fold.text.len());
    let head_tail_facts = (facts.iter().filter(|fact| fact.is_in(&cut)).count(), facts.len());
    FileReduction {
        file,
        kind: fold.kind.name(),
        bytes: bytes.len(),
        tokens: fold.tokens_before,
        fold: level(&fold),
        lossless: level(&lossless),
        budget: level(&budget),
        head_tail_facts,
        gzip: check::gzip(bytes),
        seconds,
        seconds_without_counts,
    }
}
