//! How far a reader may shorten a text.

/// The size that a reader aims at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SizeTarget {
    /// Nothing is left out.
    Exact,
    /// Repetition is left out.
    Fold,
    /// At most this number of bytes stays.
    Bytes(usize),
}
