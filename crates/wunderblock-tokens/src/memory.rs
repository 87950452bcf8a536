//! Counts of pieces that a thread remembers, because most pieces of a text have already occurred.
//!
//! Both tables are allocated as zeroed memory. The system provides each page when one of its entries is first used,
//! so a process that counts little uses little memory.

use crate::Vocabulary;
use crate::key::{fold, hash, short};
use std::cell::RefCell;

/// Maximum size of a short piece, in bytes. Nearly all pieces are short.
const SHORT: usize = 14;
/// Number of sets of short pieces per thread, a power of two. They take 2 MB.
const SETS: usize = 1 << 15;
/// Seed for the hash of short pieces. The upper half of the keys of short pieces is nearly zero, so an unseeded
/// product would hardly differ between pieces.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
/// Bit position of the token count in the entry of a short piece. The bits above the count hold the length and the
/// vocabulary, and the bits below it hold the bytes of the piece.
const TOKENS: u32 = 8 * SHORT as u32;

/// Number of words in an entry for a longer piece: one word holds the length, vocabulary and tokens, and the others
/// hold the bytes of the piece.
const WORDS: usize = 12;
/// Maximum size, in bytes, of a piece that is remembered: a clause of 29 Chinese characters or a Cyrillic word of 44
/// letters.
const LONG: usize = 8 * (WORDS - 1);
/// Number of longer pieces remembered per thread. They take 400 KB.
const LINES: usize = 1 << 12;

/// Remembered counts, by the hash of the piece.
///
/// A set of four short pieces fills one cache line of the processor. A new piece replaces the last of its set, and a
/// piece that occurs again moves one place forward, so frequent pieces stay. A line for longer pieces holds only the
/// latest piece.
pub(crate) struct Memory {
    short: Vec<[u128; 4]>,
    long: Vec<[u64; WORDS]>,
}

thread_local! {
    static MEMORY: RefCell<Memory> = const { RefCell::new(Memory { short: Vec::new(), long: Vec::new() }) };
}

/// Calls `count` with this thread's memory.
pub(crate) fn with<T>(count: impl FnOnce(&mut Memory) -> T) -> T {
    MEMORY.with_borrow_mut(count)
}

impl Memory {
    /// Returns the number of tokens in a piece. Calls `count` if the number is not remembered.
    pub(crate) fn count(
        &mut self,
        vocabulary: Vocabulary,
        piece: &[u8],
        count: impl FnOnce() -> usize,
    ) -> usize {
        if piece.len() <= SHORT {
            self.count_short(vocabulary, piece, count)
        } else if piece.len() <= LONG {
            self.count_long(vocabulary, piece, count)
        } else {
            count()
        }
    }

    fn count_short(&mut self, vocabulary: Vocabulary, piece: &[u8], count: impl FnOnce() -> usize) -> usize {
        if self.short.is_empty() {
            self.short = vec![[0; 4]; SETS];
        }
        let (first, rest) = piece.split_at(piece.len().min(8));
        let kind = piece.len() as u128 | u128::from(mark(vocabulary));
        let key = u128::from(short(first)) | u128::from(short(rest)) << 64 | kind << (TOKENS + 8);
        // A power of two allows a mask instead of a division.
        let place = fold(key as u64 ^ SEED, (key >> 64) as u64 ^ SEED) as usize & (SETS - 1);
        let Some(set) = self.short.get_mut(place) else { return count() };
        if let Some(way) = set.iter().position(|slot| *slot & !(0xff << TOKENS) == key) {
            let tokens = set.get(way).map_or(0, |slot| (slot >> TOKENS) as u8);
            if way > 0 {
                set.swap(way, way - 1);
            }
            return usize::from(tokens);
        }
        // A token has at least one byte, so the count of a short piece fits into eight bits.
        let tokens = count();
        if let Some(last) = set.last_mut() {
            *last = key | (tokens as u128) << TOKENS;
        }
        tokens
    }

    fn count_long(&mut self, vocabulary: Vocabulary, piece: &[u8], count: impl FnOnce() -> usize) -> usize {
        if self.long.is_empty() {
            self.long = vec![[0; WORDS]; LINES];
        }
        let Some(line) = self.long.get_mut(hash(piece) as usize & (LINES - 1)) else { return count() };
        let mut key = [0; WORDS];
        let (words, rest) = piece.as_chunks::<8>();
        let words = words.iter().map(|word| u64::from_le_bytes(*word)).chain([short(rest)]);
        let head = piece.len() as u64 | u64::from(mark(vocabulary));
        for (to, from) in key.iter_mut().zip([head].into_iter().chain(words)) {
            *to = from;
        }
        let [held, bytes @ ..] = line;
        let [_, wanted @ ..] = &key;
        // The lowest byte of the first word holds the length and the vocabulary. The token count is stored in the
        // bits above the lowest byte.
        if *held & 0xff == head && bytes == wanted {
            return (*held >> 8) as usize;
        }
        let tokens = count();
        let [to, ..] = &mut key;
        *to |= (tokens as u64) << 8;
        *line = key;
        tokens
    }
}

/// Returns the bit that distinguishes one vocabulary from the other. The bit of the vocabulary is above the bits of a
/// piece's length.
const fn mark(vocabulary: Vocabulary) -> u8 {
    match vocabulary {
        Vocabulary::O200k => 0,
        Vocabulary::Cl100k => 0x80,
    }
}
