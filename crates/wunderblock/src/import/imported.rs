//! The outcome of an import.

use crate::report::lossy;
use serde::Serialize;
use std::path::{Path, PathBuf};
use wunderblock_core::id::StreamId;
use wunderblock_wire::transcript::Format;

/// What an import did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// The file.
    #[serde(serialize_with = "lossy::path")]
    pub path: PathBuf,
    /// Its format.
    #[serde(serialize_with = "lossy::format")]
    pub format: Format,
    /// The sessions it holds, the file's own newest branch first.
    pub sessions: Vec<StreamId>,
    /// Its length in bytes.
    pub bytes: u64,
    /// Whether nothing of it was new.
    pub unchanged: bool,
    /// Raw records read.
    pub records: u64,
    /// Events appended.
    pub appended: u64,
    /// Events that were there before.
    pub duplicates: u64,
    /// Records that were erased before and are not stored again.
    pub erased: u64,
    /// Bytes of records of unknown shape, broken ones included.
    pub opaque_bytes: u64,
    /// Records that could not be read at all.
    pub broken: u64,
    /// What is worth knowing, with file and line; at most [`MAX_WARNINGS`], then a count.
    pub warnings: Vec<String>,
}

/// How far an import has come: bytes read, bytes in all. While another import of the file is waited for, it is called
/// again and again, and 0 is read.
pub type OnBytes<'a> = &'a mut (dyn FnMut(u64, u64) + Send);

impl Imported {
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
            warnings: Vec::new(),
        }
    }
}

/// Maximum number of warnings an import lists.
pub const MAX_WARNINGS: usize = 20;
