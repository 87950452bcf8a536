//! Where lines stand in the text that is reduced.

/// Where the lines of a text stand in its source.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SourceLines<'h> {
    /// The handle by which they can be read.
    pub(crate) handle: Option<&'h str>,
    /// Lines of the source before the text.
    pub(crate) before: usize,
    /// Whether the shortest text was requested, however hard it is to read: the level `lossless`.
    pub(crate) shortest: bool,
}
