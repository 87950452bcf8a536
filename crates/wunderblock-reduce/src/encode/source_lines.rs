//! The position of lines in the source of a reduction.

/// The position of the lines of a text in its source.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SourceLines<'h> {
    /// Handle by which the source can be read.
    pub(crate) handle: Option<&'h str>,
    /// Number of source lines before the text.
    pub(crate) before: usize,
    /// Whether the shortest text is wanted, however hard it is to read (as at the level `lossless`).
    pub(crate) shortest: bool,
}
