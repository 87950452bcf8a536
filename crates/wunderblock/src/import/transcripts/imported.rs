//! The outcome of an import.

use crate::base::error::{Error, refused};
use crate::base::lossy;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use wunderblock_core::id::StreamId;
use wunderblock_store::SourceInfo;
use wunderblock_wire::transcript::Format;

/// Outcome of an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Path of the file.
    #[serde(serialize_with = "lossy::path")]
    pub path: PathBuf,
    /// Format of the transcript.
    #[serde(serialize_with = "lossy::format")]
    pub format: Format,
    /// Sessions in the file, beginning with the latest branch of the file's own session.
    pub sessions: Vec<StreamId>,
    /// Length of the file in bytes.
    pub bytes: u64,
    /// Whether the file was unchanged, so that nothing was imported.
    pub unchanged: bool,
    /// Number of raw records read.
    pub records: u64,
    /// Number of events appended.
    pub appended: u64,
    /// Number of events that were already stored.
    pub duplicates: u64,
    /// Number of records that were erased earlier and are not stored again.
    pub erased: u64,
    /// Number of bytes in records with an unknown shape, including broken records.
    pub opaque_bytes: u64,
    /// Number of records that could not be read at all.
    pub broken: u64,
    /// Number of messages in the records read.
    pub messages: u64,
    /// Number of notices of each kind, including those without a warning.
    pub notices: BTreeMap<ImportNotice, u64>,
    /// Warnings with file and line: at most [`MAX_WARNINGS`](crate::limits::MAX_WARNINGS), then the number of further
    /// warnings.
    pub warnings: Vec<String>,
}

/// Kinds of notices about the records of an imported file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ImportNotice {
    /// A record in a file of unknown format. Every record in the file counts as one notice, without a warning.
    Generic,
    /// A record with an unknown shape in a known format.
    UnknownRecord,
    /// A message with a block of unknown shape.
    UnknownBlock,
    /// A record that cannot be read.
    Broken,
    /// A record whose id is already in use for other content.
    ReusedId,
    /// A record whose predecessor is not in the file.
    MissingParent,
    /// A file that ends within a record.
    CutOff,
    /// A session that has already been erased.
    ErasedSession,
    /// A session whose id is already used by another session.
    ReusedSession,
}

impl ImportNotice {
    /// Returns a description of one record of this kind, and of what happens to the record.
    #[must_use]
    pub const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Generic => ("record in no known format", "kept whole, text taken where found"),
            Self::UnknownRecord => ("record of unknown shape", "kept whole"),
            Self::UnknownBlock => ("message with a block of unknown shape", "kept whole"),
            Self::Broken => ("unreadable record", "kept whole"),
            Self::ReusedId => ("record with a used id", "both are kept"),
            Self::MissingParent => ("record without its parent", "follows the record before it"),
            Self::CutOff => ("unfinished last record", "read when the file grows"),
            Self::ErasedSession => ("erased session", "not stored again"),
            Self::ReusedSession => ("session with a used id", "stored under another"),
        }
    }
}

/// Callback for the progress of an import, called with the number of bytes read and the total number of bytes. While
/// the import waits for another import of the file, the callback is called repeatedly with 0 bytes read.
pub type OnBytes<'a> = &'a mut (dyn FnMut(u64, u64) + Send);

impl Imported {
    /// Returns the outcome for a file that has not changed since its last import.
    pub(super) fn unchanged(path: &Path, old: &SourceInfo) -> Result<Self, Error> {
        let format = Format::from_name(&old.revision.format);
        Ok(Self {
            sessions: old.revision.leaf.clone().into_iter().collect(),
            bytes: old.revision.len,
            unchanged: true,
            ..Self::of(path, format.ok_or_else(|| refused(path, "the format of its last import is unknown"))?)
        })
    }

    pub(super) fn of(path: &Path, format: Format) -> Self {
        Self {
            path: path.to_owned(),
            format,
            sessions: Vec::new(),
            bytes: 0,
            unchanged: false,
            records: 0,
            appended: 0,
            duplicates: 0,
            erased: 0,
            opaque_bytes: 0,
            broken: 0,
            messages: 0,
            notices: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }
}
