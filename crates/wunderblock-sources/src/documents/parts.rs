//! What a document is, and why a file is not one.

use crate::limits::{MAX_DOCUMENT_BYTES, MAX_DOCUMENTS};
use std::ops::Range;

/// Reason why a file is not a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotADocument {
    /// The file has no content except white space.
    #[error("is empty")]
    Empty,
    /// The file is not text in a known encoding. The kind is the end of its name, such as `png`.
    #[error("is not text ({0})")]
    Binary(String),
    /// The file is larger than [`MAX_DOCUMENT_BYTES`].
    #[error("has {0} bytes; at most {MAX_DOCUMENT_BYTES} are read")]
    TooLarge(u64),
    /// The folder has more than [`MAX_DOCUMENTS`] files.
    #[error("has more than {MAX_DOCUMENTS} files; index the folders in it one by one")]
    TooMany,
    /// A link, a pipe, a socket or a device.
    #[error("is a {0}, not a file")]
    NotAFile(&'static str),
    /// A PDF that only a password opens.
    #[error("is an encrypted PDF; save it without a password")]
    Encrypted,
    /// A PDF that cannot be read.
    #[error("is a damaged PDF: {0}")]
    Damaged(String),
    /// A PDF that has only pictures.
    #[error("is a PDF without text, perhaps scanned; text recognition adds some")]
    NoText,
    /// A PDF that is larger, or takes longer, than documents may.
    #[error("is a PDF that is not read: {0}; split it")]
    Excessive(String),
    /// The file changed each time that it was read.
    #[error("is being changed; try again")]
    Changing,
    /// The operating system does not give the file.
    #[error("{0}")]
    Failed(String),
}

impl NotADocument {
    /// Returns a short name of the reason, by which files are counted.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::Empty => "empty",
            Self::Binary(kind) => kind,
            Self::TooLarge(_) => "too large",
            Self::TooMany => "too many",
            Self::NotAFile(what) => what,
            Self::Encrypted => "encrypted PDF",
            Self::Damaged(_) => "damaged PDF",
            Self::NoText => "PDF without text",
            Self::Excessive(_) => "excessive PDF",
            Self::Changing => "changing",
            Self::Failed(_) => "unreadable",
        }
    }

    /// Returns whether a person would expect the file's text to be found.
    #[must_use]
    pub fn is_surprising(&self) -> bool {
        !matches!(self, Self::Empty | Self::Binary(_) | Self::NotAFile(_) | Self::TooMany)
    }

    /// Returns whether the reason may be gone at the next attempt, so that what is known of the file still holds.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Changing | Self::Failed(_) | Self::TooMany)
    }
}

/// Format of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentFormat {
    /// Markdown.
    Markdown,
    /// A saved page of HTML.
    Html,
    /// PDF.
    Pdf,
    /// Plain text, or source code.
    Text,
}

impl DocumentFormat {
    /// Returns the name of the format.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Html => "html",
            Self::Pdf => "pdf",
            Self::Text => "text",
        }
    }
}

/// Text of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentText {
    /// Format of the file.
    pub format: DocumentFormat,
    /// Title of the document.
    pub title: Option<String>,
    /// Parts of the text, in order; at least one.
    pub sections: Vec<SectionText>,
}

/// Part of a document's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionText {
    /// Headings above the text, outermost first.
    pub headings: Vec<String>,
    /// First and last line in the file, counted from 1, if the text stands there as it is.
    pub lines: Option<(u64, u64)>,
    /// Number of the page, counted from 1.
    pub page: Option<u64>,
    /// Bytes of the file from which the text was made: the whole file, if the text has no range of its own.
    pub bytes: Range<u64>,
    /// The text.
    pub text: String,
}
