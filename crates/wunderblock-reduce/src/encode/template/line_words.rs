//! A line as words and what separates them.

use crate::mark::OPEN;

/// Maximum words of a line: lines with more have no template of their own.
pub(super) const MAX_WORDS: usize = 120;

/// A word of a line: its bytes, those of the separator before it, and whether it is a value (a number, a date, a hash,
/// an address) rather than part of what is said.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShapeWord {
    pub(super) sep: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) value: bool,
}

impl ShapeWord {
    pub(super) fn of<'t>(&self, line: &'t str) -> &'t str {
        line.get(self.start..self.end).unwrap_or("")
    }

    pub(super) fn before<'t>(&self, line: &'t str) -> &'t str {
        line.get(self.sep..self.start).unwrap_or("")
    }
}

/// The text after the last word.
pub(super) fn text_after<'t>(line: &'t str, words: &[ShapeWord]) -> &'t str {
    line.get(words.last().map_or(0, |word| word.end)..).unwrap_or("")
}

/// What a byte is to a word: the end of it, a sign that it is a value, one of a character that is not ASCII.
const SEPARATOR: u8 = 1;
const DIGIT: u8 = 2;
const FOREIGN: u8 = 4;

#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const CLASSES: [u8; 256] = {
    const MARKS: &[u8] = b" \t\r,;()[]{}<>\"'=|&?";
    let mut classes = [0; 256];
    let mut at = 0;
    while at < MARKS.len() {
        classes[MARKS[at] as usize] = SEPARATOR;
        at += 1;
    }
    let mut byte = 0;
    while byte < 256 {
        if byte >= 128 {
            classes[byte] = FOREIGN;
        } else if (byte as u8).is_ascii_digit() {
            classes[byte] = DIGIT;
        }
        byte += 1;
    }
    classes
};

fn byte_class(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(0)
}

/// Cuts a line. False where it cannot have a template of its own: no words, too many, or a mark in it.
pub(super) fn split_words(line: &str, words: &mut Vec<ShapeWord>) -> bool {
    words.clear();
    let mut bytes = line.bytes().enumerate();
    let mut sep = 0;
    let mut all = 0;
    while let Some((start, first)) = bytes.find(|(_, byte)| byte_class(*byte) != SEPARATOR) {
        if words.len() == MAX_WORDS {
            return false;
        }
        let mut signs = byte_class(first);
        let end = bytes.find_map(|(at, byte)| {
            let class = byte_class(byte);
            signs |= class;
            (class == SEPARATOR).then_some(at)
        });
        all |= signs;
        let end = end.unwrap_or(line.len());
        words.push(make_word(line, sep, start, end, signs & DIGIT != 0));
        sep = end;
    }
    !words.is_empty() && (all & FOREIGN == 0 || !holds_mark(line))
}

/// Whether a line must not be taken apart: a mark stands in it.
pub(super) fn holds_mark(line: &str) -> bool {
    memchr::memmem::find(line.as_bytes(), OPEN.as_bytes()).is_some()
}

fn make_word(line: &str, sep: usize, start: usize, end: usize, value: bool) -> ShapeWord {
    let value = value || (end - start == 3 && line.get(start..end).is_some_and(is_date_name));
    ShapeWord { sep, start, end, value }
}

/// Months and days of the week change as numbers do.
fn is_date_name(word: &str) -> bool {
    const NAMES: [&str; 19] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Mon", "Tue",
        "Wed", "Thu", "Fri", "Sat", "Sun",
    ];
    word.starts_with(|c: char| c.is_ascii_uppercase()) && NAMES.contains(&word)
}

/// The hash of any value in the hash of a shape.
const VALUE_HASH: u64 = 0x9e37_79b9_7f4a_7c15;
const STEP: u64 = 0xd6e8_feb8_6659_fd93;

fn hash(bytes: &[u8], seed: u64) -> u64 {
    let mut state = seed;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let chunk = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
        state = (state.rotate_left(23) ^ chunk).wrapping_mul(STEP);
    }
    let last = chunks.remainder().iter().fold(1u64, |last, byte| last << 8 | u64::from(*byte));
    state = (state.rotate_left(23) ^ last).wrapping_mul(STEP);
    state ^ state >> 29
}

/// A separator of spaces counts as one space: columns are of one shape however they are padded.
fn hash_separator(sep: &str) -> u64 {
    let spaces = !sep.is_empty() && sep.bytes().all(|byte| byte == b' ');
    hash(if spaces { b" " } else { sep.as_bytes() }, 1)
}

/// The hash of a shape is a sum over its words, so that what it would be with one word more taken for a value is known
/// without looking at the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordHash {
    /// The number that the word adds to the sum as it is.
    pub(super) said: u64,
    /// The number that it adds as a value.
    pub(super) value: u64,
}

/// The hash of a word at its place, alone and as a value.
pub(super) fn word_hash(line: &str, word: &ShapeWord, place: &mut u64) -> WordHash {
    let sep = hash_separator(word.before(line));
    *place = place.wrapping_mul(0xa076_1d64_78bd_642f);
    let value = mix(sep ^ VALUE_HASH).wrapping_mul(*place);
    let said =
        if word.value { value } else { mix(sep ^ hash(word.of(line).as_bytes(), 2)).wrapping_mul(*place) };
    WordHash { said, value }
}

fn mix(state: u64) -> u64 {
    let state = (state ^ state >> 32).wrapping_mul(STEP);
    state ^ state >> 32
}

/// The hash of a line's shape: what it says, with its values left out.
pub(super) fn shape_hash(line: &str, words: &[ShapeWord]) -> u64 {
    let mut place = 1;
    let mut sum = hash(text_after(line, words).as_bytes(), words.len() as u64);
    for word in words {
        sum = sum.wrapping_add(word_hash(line, word, &mut place).said);
    }
    sum
}

/// Tables by such hashes. They are spread with a secret, so that no text can be written to make them slow.
pub(super) type HashTable<V> = std::collections::HashMap<u64, V, SecretHasher>;

/// Spreads hashes over a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct SecretHasher {
    secret: u64,
    state: u64,
}

impl Default for SecretHasher {
    fn default() -> Self {
        use std::hash::BuildHasher as _;
        Self { secret: std::hash::RandomState::new().hash_one(1u8), state: 0 }
    }
}

impl std::hash::BuildHasher for SecretHasher {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        *self
    }
}

impl std::hash::Hasher for SecretHasher {
    fn finish(&self) -> u64 {
        self.state
    }

    fn write(&mut self, bytes: &[u8]) {
        self.state = hash(bytes, self.state ^ self.secret);
    }

    fn write_u64(&mut self, number: u64) {
        let wide = u128::from(number ^ self.secret) * u128::from(self.secret | 1);
        self.state = (wide as u64) ^ (wide >> 64) as u64;
    }
}
