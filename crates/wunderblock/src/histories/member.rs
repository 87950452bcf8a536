//! Members of a session, and what is listed of a source.

use crate::base::error::{Error, refused};
use crate::histories::stamp::Stamp;
use crate::limits::MAX_MEMBERS;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// One member or more, as a line without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// Id of the message that the line holds; `None` for the line of the session.
    pub(crate) id: Option<String>,
    pub(crate) line: Vec<u8>,
}

/// A file that may be a transcript, or a session of several members.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct HistoryFile {
    /// Path of the file, or of a database followed by the id of a session in it.
    pub path: PathBuf,
    /// Length in bytes, of all members together.
    pub bytes: u64,
    /// Time of the last change, if it is known.
    pub modified: Option<SystemTime>,
    pub(crate) stamp: Stamp,
}

impl HistoryFile {
    pub(crate) fn of(path: &Path, meta: &Metadata) -> Self {
        let modified = meta.modified().ok();
        Self { path: path.to_owned(), bytes: meta.len(), modified, stamp: Stamp::of(meta) }
    }
}

/// Returns the error for a session that is too large.
pub(crate) fn too_large(path: &Path) -> Error {
    let why =
        format!("the session has more than {MAX_MEMBERS} bytes, the maximum, because it is read as a whole");
    refused(path, &why)
}
