//! The numbers that the tables' writer (`build.rs`) and their readers share.

/// A pair of bytes that is no token.
pub(crate) const ABSENT: u32 = u32::MAX;

/// Bits of a slot that say where the record is; the others are its tag.
pub(crate) const PLACE_BITS: u32 = 22;

/// Where a hash's slot is looked for first. Its lower bits say so, as a fraction of all slots (Lemire 2016, "A fast
/// alternative to the modulo reduction").
pub(crate) const fn home(hash: u64, slots: usize) -> usize {
    (((hash & 0xffff_ffff) * slots as u64) >> 32) as usize
}

/// The part of a hash that a slot keeps, where a slot keeps it.
pub(crate) const fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32 & !0 << PLACE_BITS
}

/// May stand in the upper-case part of a word: Lu, Lt, Lm, Lo, M.
pub(crate) const UPPER: u8 = 1;
/// May stand in the lower-case part of a word: Ll, Lm, Lo, M.
pub(crate) const LOWER: u8 = 1 << 1;
/// A letter: L.
pub(crate) const LETTER: u8 = 1 << 2;
/// A mark: M.
pub(crate) const MARK: u8 = 1 << 3;
/// A number: N.
pub(crate) const NUMBER: u8 = 1 << 4;
/// White space, except what ends a line.
pub(crate) const SPACE: u8 = 1 << 5;
/// `\r` and `\n`.
pub(crate) const NEWLINE: u8 = 1 << 6;
/// Every other character.
pub(crate) const OTHER: u8 = 1 << 7;
