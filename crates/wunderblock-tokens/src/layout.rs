//! Constants and functions shared by the writer of the tables (`build.rs`) and their readers.

/// Rank of bytes that are not a token.
pub(crate) const ABSENT: u32 = u32::MAX;

/// Bits of a slot that hold the place of its record. The remaining bits hold the tag.
pub(crate) const PLACE_BITS: u32 = 22;

/// Returns the first slot to search for a hash. The lower 32 bits of the hash choose the slot, as a fraction of all
/// slots (Lemire 2016, "A fast alternative to the modulo reduction").
pub(crate) const fn home(hash: u64, slots: usize) -> usize {
    (((hash & 0xffff_ffff) * slots as u64) >> 32) as usize
}

/// Returns the bits of a hash that a slot stores, already in their position in the slot.
pub(crate) const fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32 & !0 << PLACE_BITS
}

/// Character that may occur in the upper-case part of a word: Lu, Lt, Lm, Lo, M.
pub(crate) const UPPER: u8 = 1;
/// Character that may occur in the lower-case part of a word: Ll, Lm, Lo, M.
pub(crate) const LOWER: u8 = 1 << 1;
/// A letter: L.
pub(crate) const LETTER: u8 = 1 << 2;
/// A mark: M.
pub(crate) const MARK: u8 = 1 << 3;
/// A number: N.
pub(crate) const NUMBER: u8 = 1 << 4;
/// White space, except line ends.
pub(crate) const SPACE: u8 = 1 << 5;
/// `\r` and `\n`.
pub(crate) const NEWLINE: u8 = 1 << 6;
/// Every other character.
pub(crate) const OTHER: u8 = 1 << 7;
