//! Readers of documents: sentences, Markdown, tables, and texts without words.

pub(super) mod blob;
pub(super) mod markdown;
pub(super) mod prose;
pub(super) mod table;
