//! Vectors of texts, and the exact scan over a million of them.

use crate::bench::figure::{Figure, FigureUnit};
use crate::bench::measure::{Durations, SEED};
use crate::program::ChoreResult;
use std::hint::black_box;
use wunderblock_embed::{DIMENSIONS, Table, Vector, scan};

/// Number of vectors in a scan.
const VECTORS: usize = 1_000_000;
/// Number of vectors that are measured at once. The median of such blocks is not moved by other programs.
const BLOCK: usize = 1_000;
/// Number of words of a passage.
const WORDS: usize = 64;
/// Prose, with names and code, whose passages get vectors.
const PROSE: &str = include_str!("../../../../docs/design/0030-recall.md");

pub(in crate::bench) fn run() -> ChoreResult<Vec<Figure>> {
    let table = Table::embedded();
    let mut first = Durations::default();
    let query = first.take(|| table.vector("why did the build fail")).ok_or("the table knows no English")?;
    let words: Vec<&str> = PROSE.split_whitespace().collect();
    let mut made = Durations::default();
    for passage in words.chunks_exact(WORDS).cycle().take(BLOCK) {
        let passage = passage.join(" ");
        made.take(|| table.vector(&passage)).ok_or("a passage without a vector")?;
    }
    let [read, scanned] = scans(&query);
    let nanos = |what: &str, times: &Durations| {
        let each = times.percentile(50) * 1e6 / BLOCK as f64;
        Figure::new(VECTORS, what, each, FigureUnit::Nanos)
    };
    let ratio = scanned.percentile(50) / read.percentile(50);
    let whole = scanned.percentile(50) * (VECTORS / BLOCK) as f64;
    Ok(vec![
        Figure::new(VECTORS, "vectors: scan against a read of the same bytes", ratio, FigureUnit::Times),
        nanos("vectors: read, per vector", &read),
        nanos("vectors: scan, per vector", &scanned),
        Figure::millis(VECTORS, "vectors: scan", whole).at_most(30.0),
        Figure::millis(1, "vectors: a passage of 64 words, p50", made.percentile(50)),
        Figure::millis(1, "vectors: first of a process", first.percentile(50)).at_most(20.0),
    ])
}

/// Returns the times of blocks that are read, and that are scanned.
fn scans(query: &Vector) -> [Durations; 2] {
    let vectors = any_vectors();
    let (mut read, mut scanned, mut similarities) = Default::default();
    for block in vectors.chunks(BLOCK) {
        Durations::take(&mut read, || black_box(sum(block)));
    }
    for block in vectors.chunks(BLOCK) {
        Durations::take(&mut scanned, || scan(query, block.as_flattened(), black_box(&mut similarities)));
    }
    [read, scanned]
}

/// Reads every byte, eight at a time.
fn sum(vectors: &[[u8; DIMENSIONS]]) -> u64 {
    let (words, _) = vectors.as_flattened().as_chunks();
    words.iter().map(|word| u64::from_le_bytes(*word)).fold(0, u64::wrapping_add)
}

/// Vectors of pseudo-random bytes (xorshift).
fn any_vectors() -> Vec<[u8; DIMENSIONS]> {
    let (mut vectors, mut state) = (vec![[0; DIMENSIONS]; VECTORS], SEED);
    for word in vectors.as_flattened_mut().as_chunks_mut().0 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        *word = state.to_le_bytes();
    }
    vectors
}
