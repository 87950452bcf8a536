//! The numbers that the tables' writer (`build.rs`) and their readers share.

/// A pair of bytes that is no token.
pub(crate) const ABSENT: u32 = u32::MAX;

/// Bytes to which a record is padded, and in which places are counted.
pub(crate) const UNIT: usize = 4;

/// Bits of a slot that say where the record is; the others are its tag.
pub(crate) const PLACE_BITS: u32 = 20;

/// The part of a hash that a slot keeps, where a slot keeps it. Its home comes from the hash's lower bits.
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
