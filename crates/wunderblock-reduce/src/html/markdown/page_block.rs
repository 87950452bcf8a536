//! The blocks of a page's Markdown.

use std::ops::Range;

/// The kind of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::html) enum HtmlBlockKind {
    Title,
    Heading(u8),
    Paragraph,
    Item,
    TableHead,
    Row,
    Code,
}

/// A block of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::html) struct HtmlBlock {
    pub(in crate::html) sort: HtmlBlockKind,
    /// Range in the Markdown. Blocks tile the Markdown.
    pub(in crate::html) shown: Range<usize>,
    /// Start of the block's source in the page, in bytes.
    pub(in crate::html) start: usize,
}

/// A table that is open.
#[derive(Default)]
pub(super) struct HtmlTable {
    pub(super) rows: usize,
    pub(super) cells: usize,
    pub(super) in_cell: bool,
}
