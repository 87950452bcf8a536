//! What each thread remembers of the pieces it counted: few pieces of a text are new.
//!
//! Both tables are zeroes as the system gives them: no page is touched before an entry of it is, so that a process that
//! counts little pays for little.

use crate::Vocabulary;
use crate::key::{fold, hash, short};
use std::cell::RefCell;

/// Bytes of the longest piece that is remembered among the short ones, which nearly all are.
const SHORT: usize = 14;
/// Sets of short pieces that one thread remembers, a power of two: 2 MB.
const SETS: usize = 1 << 15;
/// Keeps short pieces, whose upper half is nearly nothing, apart.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
/// Where a short piece has its tokens. Above them stand its length and its vocabulary, below them its bytes.
const TOKENS: u32 = 8 * SHORT as u32;

/// Words of an entry for a longer piece: length, vocabulary and tokens, and then its bytes.
const WORDS: usize = 12;
/// Bytes of the longest piece that is remembered: a clause of 29 Chinese characters, a Cyrillic word of 44 letters.
const LONG: usize = 8 * (WORDS - 1);
/// Longer pieces that one thread remembers, a power of two: 400 KB.
const LINES: usize = 1 << 12;

/// Of the short pieces that fall to one set, the latest four that were new, and those before them that came again; a set
/// is a line of the processor's cache. Of the longer ones that fall to one line, the latest.
pub(crate) struct Memory {
    short: Vec<[u128; 4]>,
    long: Vec<[u64; WORDS]>,
}

thread_local! {
    static MEMORY: RefCell<Memory> = const { RefCell::new(Memory { short: Vec::new(), long: Vec::new() }) };
}

/// Lends this thread's memory to a count.
pub(crate) fn with<T>(count: impl FnOnce(&mut Memory) -> T) -> T {
    MEMORY.with_borrow_mut(count)
}

impl Memory {
    /// Tokens of a piece, counted if they are not remembered.
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
        let place = fold(key as u64 ^ SEED, (key >> 64) as u64 ^ SEED) as usize & (SETS - 1);
        let Some(set) = self.short.get_mut(place) else { return count() };
        if let Some(way) = set.iter().position(|slot| *slot & !(0xff << TOKENS) == key) {
            let tokens = set.get(way).map_or(0, |slot| (slot >> TOKENS) as u8);
            if way > 0 {
                set.swap(way, way - 1);
            }
            return usize::from(tokens);
        }
        // No token is shorter than a byte, so their number fits.
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

/// Keeps the two vocabularies apart, above the length of a piece.
const fn mark(vocabulary: Vocabulary) -> u8 {
    match vocabulary {
        Vocabulary::O200k => 0,
        Vocabulary::Cl100k => 0x80,
    }
}
