//! The vocabulary: pieces of words and their numbers, read in place from the table.
//!
//! The pieces are found by a hash table with open addressing, which is part of the table's file, so nothing is built
//! when a process starts.

use crate::words::MAX_WORD_CHARS;

/// Start of a piece that continues a word.
const CONTINUES: &[u8] = b"##";

/// Maximum number of bytes of a piece. `table/make.py` checks it.
const MAX_PIECE_BYTES: usize = 32;

/// The pieces of words that a table knows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pieces {
    /// Number of a piece, plus one, at the place of its hash or after it; 0 is empty. The length is a power of two.
    pub(crate) slots: &'static [[u8; 2]],
    /// Where the bytes of each piece end.
    pub(crate) ends: &'static [[u8; 4]],
    pub(crate) bytes: &'static [u8],
}

impl Pieces {
    /// Writes the numbers of the pieces of a word, the longest first, as WordPiece does. A word that does not consist
    /// of known pieces has none.
    pub(crate) fn of(&self, word: &str, numbers: &mut Vec<u16>) {
        numbers.clear();
        let mut rest = if word.chars().nth(MAX_WORD_CHARS).is_none() { word.as_bytes() } else { &[] };
        while !rest.is_empty() {
            let start = if numbers.is_empty() { &[][..] } else { CONTINUES };
            let Some((number, length)) = self.longest(start, rest) else { return numbers.clear() };
            numbers.push(number);
            rest = rest.get(length..).unwrap_or_default();
        }
    }

    /// Returns the number and the length of the longest piece at the start of `rest`.
    fn longest(&self, start: &[u8], rest: &[u8]) -> Option<(u16, usize)> {
        let mut hashes = [0; MAX_PIECE_BYTES];
        let mut hash = start.iter().fold(FNV_BASIS, add);
        for (kept, byte) in hashes.iter_mut().zip(rest) {
            hash = add(hash, byte);
            *kept = hash;
        }
        (1..=rest.len().min(MAX_PIECE_BYTES)).rev().find_map(|length| {
            let hash = *hashes.get(length - 1)?;
            Some((self.find(hash, start, rest.get(..length)?)?, length))
        })
    }

    fn find(&self, hash: u32, start: &[u8], piece: &[u8]) -> Option<u16> {
        let mask = self.slots.len().checked_sub(1)?;
        (0..self.slots.len())
            .map_while(|step| self.number_at((hash as usize + step) & mask))
            .find(|number| self.piece(*number).and_then(|known| known.strip_prefix(start)) == Some(piece))
    }

    fn number_at(&self, slot: usize) -> Option<u16> {
        u16::from_le_bytes(*self.slots.get(slot)?).checked_sub(1)
    }

    fn piece(&self, number: u16) -> Option<&'static [u8]> {
        let end = |at: usize| self.ends.get(at).map(|end| u32::from_le_bytes(*end) as usize);
        let at = usize::from(number);
        self.bytes.get(at.checked_sub(1).map_or(Some(0), end)?..end(at)?)
    }

    /// Returns the text of a piece.
    #[cfg(test)]
    pub(crate) fn text(&self, number: u16) -> &'static str {
        std::str::from_utf8(self.piece(number).unwrap()).unwrap()
    }
}

/// Offset basis and prime of the 32-bit FNV-1a hash.
const FNV_BASIS: u32 = 0x811c_9dc5;
const FNV_PRIME: u32 = 0x0100_0193;

const fn add(hash: u32, byte: &u8) -> u32 {
    (hash ^ *byte as u32).wrapping_mul(FNV_PRIME)
}
