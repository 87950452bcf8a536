//! The target size of a reduction.

/// Target size to which a reader shortens a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SizeTarget {
    /// Nothing is left out.
    Exact,
    /// Repetition is left out.
    Fold,
    /// At most this number of bytes stays.
    Bytes(usize),
}
