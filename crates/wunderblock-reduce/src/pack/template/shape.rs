//! Which lines say the same thing about different values.
//!
//! Lines of equal shape do. Shapes that differ in one word, if there are several, are one with that word taken for a
//! value (in a few rounds, so in a few words). What is left over is tried as a head in common and a rest.

use super::words::{self, MAX_WORDS, Table, Word};
use crate::pack::severe::is_severe;

/// Rounds in which shapes are joined, so words by which they may differ.
const ROUNDS: usize = 3;
/// So many shapes that differ in one word are one.
const JOIN: u32 = 4;
/// So many where they tell of an error: its wording must not be taken for a value.
const JOIN_SEVERE: u32 = 10;
/// A shape of so many lines stands for itself.
const SETTLED: u32 = 64;
/// Shapes beyond that are joined by what the first of them have shown: where each line has its own, more would show the
/// same.
const SHOWN: usize = 20_000;
/// The longest head in common, in words.
const HEAD_WORDS: usize = 12;
/// A head must begin so many lines.
const HEAD_LINES: u32 = 6;

/// What a line is an example of.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// The first line of this shape.
    pub(super) example: usize,
    /// The last one: what differs between the two is likely to differ from line to line.
    pub(super) last: usize,
    /// Whether it tells of an error: such lines are what a log is read for, and what they say is not taken apart.
    pub(super) severe: bool,
    /// How many lines there are.
    pub(super) lines: u32,
    /// Which words are values beyond those that look like values.
    pub(super) values: u128,
    /// Of how many words, where the others are a rest that is not looked at.
    pub(super) head: Option<usize>,
}

/// The shapes of a text, and of each line its shape.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    pub(super) shapes: Vec<Shape>,
    pub(super) of: Vec<Option<u32>>,
}

/// Lines by shape.
pub(super) fn sort(lines: &[&str]) -> Shapes {
    let mut words: Vec<Word> = Vec::with_capacity(MAX_WORDS);
    let mut known: Table<u32> = Table::default();
    let mut hashes = Vec::new();
    let mut sorted = Shapes { shapes: Vec::new(), of: Vec::with_capacity(lines.len()) };
    for (line, text) in lines.iter().enumerate() {
        if !words::cut(text, &mut words) {
            sorted.of.push(None);
            continue;
        }
        let hash = words::shape(text, &words);
        let shape = *known.entry(hash).or_insert_with(|| {
            hashes.push(hash);
            sorted.shapes.push(Shape {
                example: line,
                last: line,
                severe: is_severe(text),
                lines: 0,
                values: 0,
                head: None,
            });
            u32::try_from(hashes.len() - 1).unwrap_or(u32::MAX)
        });
        if let Some(shape) = sorted.shapes.get_mut(shape as usize) {
            shape.lines += 1;
            shape.last = line;
        }
        sorted.of.push(Some(shape));
    }
    for _ in 0..ROUNDS {
        if !join(lines, &mut sorted, &mut hashes) {
            break;
        }
    }
    sorted
}

/// One round: shapes that differ in one word become one. False if there were none.
fn join(lines: &[&str], sorted: &mut Shapes, hashes: &mut Vec<u64>) -> bool {
    let mut words = Vec::with_capacity(MAX_WORDS);
    let mut with: Table<u32> = Table::default();
    let shown = hashes.get(..SHOWN).unwrap_or(hashes);
    each_wider(lines, sorted, shown, &mut words, |_, _, wider| *with.entry(wider).or_insert(0) += 1);
    if with.values().all(|alike| *alike < JOIN) {
        return false;
    }
    let mut best: Vec<(u32, usize, u64)> = vec![(JOIN - 1, 0, 0); sorted.shapes.len()];
    each_wider(lines, sorted, hashes, &mut words, |(shape, severe), word, wider| {
        let alike = with.get(&wider).copied().unwrap_or(0);
        if severe && alike < JOIN_SEVERE {
            return;
        }
        if let Some(best) = best.get_mut(shape).filter(|best| best.0 < alike) {
            *best = (alike, word, wider);
        }
    });
    let mut joined: Vec<Shape> = Vec::new();
    let mut new_hashes = Vec::new();
    let mut known: Table<u32> = Table::default();
    let mut became = Vec::with_capacity(best.len());
    let mut any = false;
    for ((shape, (alike, word, wider)), hash) in sorted.shapes.iter().zip(best).zip(hashes.iter()) {
        let (hash, values) =
            if alike < JOIN { (*hash, shape.values) } else { (wider, shape.values | 1 << word) };
        any |= alike >= JOIN;
        let now = *known.entry(hash).or_insert_with(|| {
            new_hashes.push(hash);
            joined.push(Shape { lines: 0, values, ..shape.clone() });
            u32::try_from(joined.len() - 1).unwrap_or(u32::MAX)
        });
        if let Some(now) = joined.get_mut(now as usize) {
            now.lines += shape.lines;
            now.last = now.last.max(shape.last);
        }
        became.push(now);
    }
    for of in sorted.of.iter_mut().flatten() {
        *of = became.get(*of as usize).copied().unwrap_or(*of);
    }
    sorted.shapes = joined;
    *hashes = new_hashes;
    any
}

/// Calls `see` with each shape's hash as it would be with one word more as a value.
fn each_wider(
    lines: &[&str],
    sorted: &Shapes,
    hashes: &[u64],
    words: &mut Vec<Word>,
    mut see: impl FnMut((usize, bool), usize, u64),
) {
    for (index, (shape, hash)) in sorted.shapes.iter().zip(hashes).enumerate() {
        let line = lines.get(shape.example).copied().unwrap_or("");
        if shape.lines >= SETTLED || !words::cut(line, words) {
            continue;
        }
        let mut place = 1;
        for (at, word) in words.iter().enumerate() {
            let part = words::part(line, word, &mut place);
            if !word.value && shape.values >> at & 1 == 0 {
                see((index, shape.severe), at, hash.wrapping_sub(part.said).wrapping_add(part.value));
            }
        }
    }
}

/// Gives the `free` lines to heads in common: a new shape for each head that begins enough of them.
pub(super) fn by_head(lines: &[&str], sorted: &mut Shapes, free: &[bool]) {
    let mut words = Vec::with_capacity(MAX_WORDS);
    let mut begin: Table<u32> = Table::default();
    let free = || {
        (0..)
            .zip(lines.iter().zip(free))
            .filter(|(_, (_, free))| **free)
            .map(|(line, (text, _))| (line, text))
    };
    let mut often = Often::of(lines.len());
    for (_, text) in free() {
        heads(text, &mut words, |_, hash| often.count(hash));
    }
    // Most heads are of one line, and there are several for each: only those that may count are counted exactly.
    for (_, text) in free() {
        heads(text, &mut words, |_, hash| {
            if often.may_have(hash) {
                *begin.entry(hash).or_insert(0) += 1;
            }
        });
    }
    let mut known: Table<u32> = Table::default();
    for (line, text) in free() {
        let mut best = (0, 0, 0, 0);
        heads(text, &mut words, |count, hash| {
            let lines = begin.get(&hash).copied().unwrap_or(0);
            let score = u64::from(lines) * count as u64;
            if lines >= HEAD_LINES && score > best.0 {
                best = (score, count, hash, lines);
            }
        });
        let (_, count, hash, lines) = best;
        let of = (count > 0).then(|| {
            *known.entry(hash).or_insert_with(|| {
                sorted.shapes.push(Shape {
                    example: line,
                    last: line,
                    severe: false,
                    lines,
                    values: 0,
                    head: Some(count),
                });
                u32::try_from(sorted.shapes.len() - 1).unwrap_or(u32::MAX)
            })
        });
        if let Some(shape) = of.and_then(|of| sorted.shapes.get_mut(of as usize)) {
            shape.last = line;
        }
        if let Some(of_line) = sorted.of.get_mut(line) {
            *of_line = of;
        }
    }
}

/// Counts that are never too low: one byte for all hashes that share a place.
struct Often(Vec<u8>);

impl Often {
    fn of(lines: usize) -> Self {
        Self(vec![0; (lines * 4).next_power_of_two().clamp(1 << 10, 1 << 24)])
    }

    fn place(&self, hash: u64) -> usize {
        (hash ^ (hash >> 29)) as usize & (self.0.len() - 1)
    }

    fn count(&mut self, hash: u64) {
        let at = self.place(hash);
        if let Some(count) = self.0.get_mut(at) {
            *count = count.saturating_add(1);
        }
    }

    fn may_have(&self, hash: u64) -> bool {
        self.0.get(self.place(hash)).is_some_and(|count| u32::from(*count) >= HEAD_LINES)
    }
}

/// Calls `see` with the hash of each head of a line that leaves a rest: how many words, and the hash.
fn heads(line: &str, words: &mut Vec<Word>, mut see: impl FnMut(usize, u64)) {
    words::cut(line, words);
    if words::is_closed(line) {
        return;
    }
    let (mut place, mut sum) = (1, 0u64);
    for (at, word) in words.iter().enumerate().take(HEAD_WORDS.min(words.len().saturating_sub(1))) {
        sum = sum.wrapping_add(words::part(line, word, &mut place).said);
        see(at + 1, sum);
    }
}
