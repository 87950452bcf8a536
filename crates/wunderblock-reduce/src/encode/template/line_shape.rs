//! Which lines say the same thing about different values.
//!
//! Lines of equal shape do. Shapes that differ in one word, if there are several, are one with that word taken for a
//! value (in a few rounds, so in a few words). What is left over is tried as a head in common and a rest.

use super::line_words::{self, HashTable, MAX_WORDS, ShapeWord};
use crate::count_sketch::CountSketch;
use crate::encode::error_words::mentions_error;
use crate::encode::slots::SlotTable;
use crate::lines::NewlineSplit;

/// Rounds in which shapes are joined: the maximum number of words in which joined shapes differ.
const MAX_ROUNDS: usize = 3;
/// Minimum number of shapes, equal except for one word, that are joined.
const MIN_JOINED: u32 = 4;
/// The same for lines that mention errors: their wording must not be taken for a value.
const MIN_JOINED_ERRORS: u32 = 10;
/// Minimum lines of a shape that is not joined with others.
const SETTLED_LINES: u32 = 64;
/// Maximum number of shapes that are compared: where each line has its own, more would show the same.
const MAX_COMPARED: usize = 20_000;
/// Maximum words of a common head.
const MAX_HEAD_WORDS: usize = 12;
/// Minimum lines that begin with a common head.
const MIN_HEAD_LINES: u32 = 6;

/// The shape of lines that differ in their values only.
#[derive(Clone, Debug)]
pub(super) struct LineShape {
    /// The words that are values, beyond those that look like values.
    pub(super) values: u128,
    /// The first line of this shape.
    pub(super) example: u32,
    /// The last one: what differs between the two is likely to differ from line to line.
    pub(super) last: u32,
    /// The number of lines.
    pub(super) lines: u32,
    /// Whether it tells of an error: such lines are what a log is read for, and what they say is not taken apart.
    pub(super) severe: bool,
    /// The number of words of a common head, where the rest of the line is not looked at.
    pub(super) head: Option<u8>,
}

impl LineShape {
    pub(super) fn example<'t>(&self, lines: &NewlineSplit<'t>) -> &'t str {
        lines.get(self.example as usize).unwrap_or("")
    }

    /// The number of words that its lines have in common, of the words of one.
    pub(super) fn shared_words(&self, words: &[ShapeWord]) -> usize {
        self.head.map_or(words.len(), usize::from)
    }
}

/// The number of no shape.
const NO_SHAPE: u32 = u32::MAX;

/// The shapes of a text, and of each line its shape.
#[derive(Debug, Default)]
pub(super) struct LineShapes {
    pub(super) shapes: Vec<LineShape>,
    of: Vec<u32>,
}

impl LineShapes {
    /// The shape of a line.
    pub(super) fn of(&self, line: usize) -> Option<usize> {
        self.of.get(line).filter(|of| **of != NO_SHAPE).map(|of| *of as usize)
    }

    /// The shape of each line.
    pub(super) fn each(&self) -> impl Iterator<Item = Option<usize>> {
        (0..self.of.len()).map(|line| self.of(line))
    }

    pub(super) fn lines(&self) -> usize {
        self.of.len()
    }

    /// Forgets the shapes of fewer lines.
    fn retain(&mut self, min_lines: u32) {
        let mut kept = 0;
        let became: Vec<u32> = self
            .shapes
            .iter()
            .map(|shape| {
                let now = if shape.lines < min_lines { NO_SHAPE } else { kept };
                kept += u32::from(now != NO_SHAPE);
                now
            })
            .collect();
        self.shapes.retain(|shape| shape.lines >= min_lines);
        // Most were of one line.
        self.shapes.shrink_to_fit();
        self.renumber(&became);
    }

    fn renumber(&mut self, became: &[u32]) {
        for of in self.of.iter_mut().filter(|of| **of != NO_SHAPE) {
            *of = became.get(*of as usize).copied().unwrap_or(NO_SHAPE);
        }
    }
}

/// Groups lines by shape. Shapes with fewer than `min_lines` are dropped.
pub(super) fn group_lines(lines: &NewlineSplit<'_>, min_lines: u32) -> LineShapes {
    let (mut sorted, mut hashes) = group_equal(lines);
    for _ in 0..MAX_ROUNDS {
        if !join_similar(lines, &mut sorted, &mut hashes) {
            break;
        }
    }
    sorted.retain(min_lines);
    sorted
}

/// Lines of equal shape, and the hash of each shape.
fn group_equal(lines: &NewlineSplit<'_>) -> (LineShapes, Vec<u64>) {
    let mut words: Vec<ShapeWord> = Vec::with_capacity(MAX_WORDS);
    let mut known = SlotTable::with_room(0);
    let mut hashes: Vec<u64> = Vec::new();
    let mut sorted = LineShapes { shapes: Vec::new(), of: Vec::with_capacity(lines.len()) };
    for (line, text) in (0..).zip(lines.iter()) {
        if !line_words::split_words(text, &mut words) {
            sorted.of.push(NO_SHAPE);
            continue;
        }
        let hash = line_words::shape_hash(text, &words);
        let found = known.find(hash, |shape| hashes.get(shape) == Some(&hash));
        let shape = found.unwrap_or(hashes.len());
        if found.is_none() {
            hashes.push(hash);
            known.put(shape, |shape| hashes.get(shape).copied().unwrap_or(0));
            let severe = mentions_error(text);
            sorted.shapes.push(LineShape {
                example: line,
                last: line,
                severe,
                lines: 0,
                values: 0,
                head: None,
            });
        }
        if let Some(shape) = sorted.shapes.get_mut(shape) {
            shape.lines += 1;
            shape.last = line;
        }
        sorted.of.push(u32::try_from(shape).unwrap_or(NO_SHAPE));
    }
    (sorted, hashes)
}

/// One round: shapes that differ in one word become one. False if there were none.
fn join_similar(lines: &NewlineSplit<'_>, sorted: &mut LineShapes, hashes: &mut Vec<u64>) -> bool {
    let mut words = Vec::with_capacity(MAX_WORDS);
    let mut with: HashTable<u32> = HashTable::default();
    for (shape, hash) in sorted.shapes.iter().zip(hashes.iter()).take(MAX_COMPARED) {
        for_each_wider(lines, shape, *hash, &mut words, |_, wider| *with.entry(wider).or_insert(0) += 1);
    }
    if with.values().all(|alike| *alike < MIN_JOINED) {
        return false;
    }
    // What each shape becomes; most stay what they are, and need no look for others that became the same.
    let mut wider: HashTable<Option<u32>> = HashTable::default();
    for (shape, hash) in sorted.shapes.iter_mut().zip(hashes.iter_mut()) {
        let min_shapes = if shape.severe { MIN_JOINED_ERRORS } else { MIN_JOINED };
        let mut best = (min_shapes - 1, None);
        for_each_wider(lines, shape, *hash, &mut words, |word, wider| {
            let alike = with.get(&wider).copied().unwrap_or(0);
            if alike > best.0 {
                best = (alike, Some((word, wider)));
            }
        });
        if let Some((word, joined)) = best.1 {
            wider.insert(joined, None);
            (*hash, shape.values) = (joined, shape.values | 1 << word);
        }
    }
    // Shapes become fewer in place: what a shape becomes stands where it stood, or before.
    let mut became = Vec::with_capacity(sorted.shapes.len());
    let mut kept = 0;
    for at in 0..sorted.shapes.len() {
        let Some((shape, hash)) = sorted.shapes.get(at).cloned().zip(hashes.get(at).copied()) else { break };
        let joined = wider.get_mut(&hash);
        if let Some(first) = joined.as_ref().and_then(|joined| **joined) {
            if let Some(first) = sorted.shapes.get_mut(first as usize) {
                first.lines += shape.lines;
                first.last = first.last.max(shape.last);
            }
            became.push(first);
            continue;
        }
        let now = u32::try_from(kept).unwrap_or(NO_SHAPE);
        if let Some(joined) = joined {
            *joined = Some(now);
        }
        if let (Some(slot), Some(of)) = (sorted.shapes.get_mut(kept), hashes.get_mut(kept)) {
            (*slot, *of) = (shape, hash);
        }
        became.push(now);
        kept += 1;
    }
    sorted.shapes.truncate(kept);
    hashes.truncate(kept);
    sorted.renumber(&became);
    !wider.is_empty()
}

/// Calls `see` with a shape's hash as it would be with one word more as a value, for each such word.
fn for_each_wider(
    lines: &NewlineSplit<'_>,
    shape: &LineShape,
    hash: u64,
    words: &mut Vec<ShapeWord>,
    mut see: impl FnMut(usize, u64),
) {
    let line = shape.example(lines);
    if shape.lines >= SETTLED_LINES || !line_words::split_words(line, words) {
        return;
    }
    let mut place = 1;
    for (at, word) in words.iter().enumerate() {
        let part = line_words::word_hash(line, word, &mut place);
        if !word.value && shape.values >> at & 1 == 0 {
            see(at, hash.wrapping_sub(part.said).wrapping_add(part.value));
        }
    }
}

/// Gives the `free` lines to heads in common: a new shape for each head that begins enough of them.
pub(super) fn group_by_head(lines: &NewlineSplit<'_>, sorted: &mut LineShapes, free: &[bool]) {
    let mut words = Vec::with_capacity(MAX_WORDS);
    let mut begin: HashTable<u32> = HashTable::default();
    let free = || {
        (0..)
            .zip(lines.iter().zip(free))
            .filter(|(_, (_, free))| **free)
            .map(|(line, (text, _))| (line, text))
    };
    let mut sketch = CountSketch::of(lines.len());
    for (_, text) in free() {
        for_each_head(text, &mut words, |_, hash| sketch.count(hash));
    }
    // Most heads are of one line, and there are several for each: only those that may count are counted exactly.
    for (_, text) in free() {
        for_each_head(text, &mut words, |_, hash| {
            if sketch.may_reach(hash, MIN_HEAD_LINES) {
                *begin.entry(hash).or_insert(0) += 1;
            }
        });
    }
    let mut known: HashTable<u32> = HashTable::default();
    for (line, text) in free() {
        let mut best = (0, 0, 0, 0);
        for_each_head(text, &mut words, |count, hash| {
            let lines = begin.get(&hash).copied().unwrap_or(0);
            let score = u64::from(lines) * count as u64;
            if lines >= MIN_HEAD_LINES && score > best.0 {
                best = (score, count, hash, lines);
            }
        });
        let (_, count, hash, lines) = best;
        let Some(count) = u8::try_from(count).ok().filter(|count| *count > 0) else {
            sorted.of.get_mut(line as usize).into_iter().for_each(|of| *of = NO_SHAPE);
            continue;
        };
        let of = *known.entry(hash).or_insert_with(|| {
            let head = Some(count);
            sorted.shapes.push(LineShape {
                example: line,
                last: line,
                severe: false,
                lines,
                values: 0,
                head,
            });
            u32::try_from(sorted.shapes.len() - 1).unwrap_or(NO_SHAPE)
        });
        if let Some(shape) = sorted.shapes.get_mut(of as usize) {
            shape.last = line;
        }
        if let Some(of_line) = sorted.of.get_mut(line as usize) {
            *of_line = of;
        }
    }
}

/// Calls `see` with the hash of each head of a line that leaves a rest: how many words, and the hash.
fn for_each_head(line: &str, words: &mut Vec<ShapeWord>, mut see: impl FnMut(usize, u64)) {
    line_words::split_words(line, words);
    if line_words::holds_mark(line) {
        return;
    }
    let (mut place, mut sum) = (1, 0u64);
    for (at, word) in words.iter().enumerate().take(MAX_HEAD_WORDS.min(words.len().saturating_sub(1))) {
        sum = sum.wrapping_add(line_words::word_hash(line, word, &mut place).said);
        see(at + 1, sum);
    }
}
