//! How much of a text its reader may show.

/// What a reader aims at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SizeTarget {
    /// Nothing is left out.
    Exact,
    /// Repetition is.
    Fold,
    /// So many bytes.
    Bytes(usize),
}
