//! Sources in a folder or a database, without reading their content.

use super::member::HistoryFile;
use super::{database, export, tree};
use crate::base::error::{Error, file_error};
use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::Path;

/// Endings of files that are not examined for whether they are databases.
const TEXTS: [&str; 5] = ["json", "jsonl", "ndjson", "traj", "md"];

/// Returns the sources that a file contains: itself, the session of OpenCode to which it belongs, or the sessions in
/// the database or the export that it is.
pub(crate) fn list(path: &Path, meta: &Metadata) -> Result<Vec<HistoryFile>, Error> {
    // Opening each of 100,000 files would take longer than listing them.
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    if !TEXTS.contains(&ending) && database::is_database(path) {
        return database::sessions(path);
    }
    if tree::is_session(path) {
        return Ok(vec![tree::listed(path)?]);
    }
    if export::is_export(path) {
        return export::sessions(path);
    }
    Ok(vec![HistoryFile::of(path, meta)])
}

/// Returns the sources that a path names, which may be a session in a database or in an export.
pub(crate) fn list_path(path: &Path) -> Result<Vec<HistoryFile>, Error> {
    if let Some((database, session)) = row_of(path) {
        return Ok(vec![database::session(database, &session)?]);
    }
    if let Some((export, session)) = conversation_of(path) {
        return Ok(vec![export::session(export, &session)?]);
    }
    let meta = path.metadata().map_err(|error| file_error(path, &error))?;
    list(path, &meta)
}

/// Returns the database and the session's id, if a path is that of a session in a database.
pub(super) fn row_of(path: &Path) -> Option<(&Path, String)> {
    let database = path.parent().filter(|database| database::is_database(database))?;
    Some((database, path.file_name()?.to_string_lossy().into_owned()))
}

/// Returns the export and the conversation's id, if a path is that of a conversation in an export.
pub(super) fn conversation_of(path: &Path) -> Option<(&Path, String)> {
    let export = path.parent().filter(|export| export::is_export(export))?;
    Some((export, path.file_name()?.to_string_lossy().into_owned()))
}
