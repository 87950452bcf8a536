//! Records about documents that a person adds: files whose text search finds beside sessions.

use crate::id::Handle;
use crate::record::message::Body;
use serde::{Deserialize, Serialize};

/// Fields of [`Fact::DocumentIndexed`](super::event::Fact::DocumentIndexed).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentIndexed {
    /// Path of the file.
    pub path: Box<str>,
    /// Name of the format: `markdown`, `html`, `pdf` or `text`.
    pub format: Box<str>,
    /// Title of the document, or the name of the file.
    pub title: Box<str>,
    /// Handle of the source that holds the bytes of the file.
    pub source: Handle,
    /// Revision of the source.
    pub revision: u32,
}

/// Fields of [`Fact::DocumentSection`](super::event::Fact::DocumentSection).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentSection {
    /// Path of the file.
    pub path: Box<str>,
    /// Headings above the text, outermost first, joined by ` › `.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading: Option<Body>,
    /// First and last line of the text in the file, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u64, u64)>,
    /// Number of the page, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// Text of the section.
    pub text: Body,
}

/// Fields of [`Fact::DocumentRemoved`](super::event::Fact::DocumentRemoved).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentRemoved {
    /// Path of the file.
    pub path: Box<str>,
}

impl DocumentRemoved {
    /// Tag of the stream of a document that was removed.
    pub const TAG: &'static str = "removed";
}
