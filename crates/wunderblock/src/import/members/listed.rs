//! Sources in a folder or a database, without reading their content.

use super::{database, row_of, tree};
use crate::error::{Error, file_error};
use crate::import::change::Stamp;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

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
    fn of(path: &Path, meta: &Metadata) -> Self {
        let modified = meta.modified().ok();
        Self { path: path.to_owned(), bytes: meta.len(), modified, stamp: Stamp::of(meta) }
    }
}

/// Returns the sources that a file stands for: itself, the session of OpenCode to which it belongs, or the sessions in
/// the database that it is.
pub(crate) fn list(path: &Path, meta: &Metadata) -> Result<Vec<HistoryFile>, Error> {
    if database::is_database(path) {
        return database::sessions(path);
    }
    if tree::is_session(path) {
        return Ok(vec![tree::listed(path)?]);
    }
    Ok(vec![HistoryFile::of(path, meta)])
}

/// Returns the sources that a path stands for, which may be a session in a database.
pub(crate) fn list_path(path: &Path) -> Result<Vec<HistoryFile>, Error> {
    if let Some((database, session)) = row_of(path) {
        return Ok(vec![database::session(database, &session)?]);
    }
    let meta = path.metadata().map_err(|error| file_error(path, &error))?;
    list(path, &meta)
}
