//! Measures the reduction of one file.

use super::row::{Row, Side};
use super::{check, oracle};
use std::time::Instant;
use wunderblock::tokens::Counted;
use wunderblock_reduce::{Level, Options, Reduced, reduce};

pub(super) fn exact(text: &str) -> u64 {
    u64::from(Counted::of(text).o200k)
}

/// A handle as the engine would give one: marks weigh what they weigh in use.
pub(super) const HANDLE: &str = "wb:3f9c1a7be2d04c58";

pub(super) fn measure(name: String, bytes: &[u8]) -> Row {
    let options = Options { handle: Some(HANDLE), count: &exact, ours: &|_| false, ..Options::default() };
    let begun = Instant::now();
    let fold = reduce(bytes, &options);
    let counted = begun.elapsed();
    let begun = Instant::now();
    let plain = Options { count: &|text| text.len().div_ceil(4) as u64, ..options };
    let _ = reduce(bytes, &plain);
    let bare = begun.elapsed();
    let lossless = reduce(bytes, &Options { level: Level::Lossless, ..options });
    let budget = reduce(bytes, &Options { level: Level::Budget(fold.tokens_before / 4), ..options });
    let source = String::from_utf8_lossy(bytes);
    let facts = oracle::facts(&source, fold.kind);
    let side = |short: &Reduced| {
        let shown = check::shown(&short.text);
        let seen = |error: bool| {
            let all: Vec<_> = facts.iter().filter(|fact| !error || fact.error).collect();
            (all.iter().filter(|fact| fact.is_in(&shown)).count(), all.len())
        };
        Side {
            after: short.tokens_after,
            facts: seen(false),
            errors: seen(true),
            missing: facts.iter().filter(|fact| !fact.is_in(&shown)).map(|fact| fact.text.clone()).collect(),
            gaps: short.gaps.len(),
            whole: check::is_whole(&source, short),
        }
    };
    let cut = check::head_and_tail(&source, fold.text.len());
    let head_tail = (facts.iter().filter(|fact| fact.is_in(&cut)).count(), facts.len());
    Row {
        name,
        kind: fold.kind,
        bytes: bytes.len(),
        before: fold.tokens_before,
        fold: side(&fold),
        lossless: side(&lossless),
        budget: side(&budget),
        head_tail,
        gzip: check::gzip(bytes),
        time: (counted, bare),
    }
}
