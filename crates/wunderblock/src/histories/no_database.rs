//! Takes the place of [`database`](super::database) in a build without databases.

use super::member::{HistoryFile, Member};
use crate::base::error::Error;
use crate::histories::rows_read::RowsRead;
use std::path::Path;

/// Returns whether a path is that of a database that can be read: none can.
pub(crate) fn is_database(_: &Path) -> bool {
    false
}

pub(crate) fn has(_: &Path, _: &str) -> bool {
    false
}

fn unread(path: &Path) -> Error {
    let why = "this build cannot read databases".to_owned();
    Error::File { path: path.display().to_string(), why }
}

pub(crate) fn sessions(path: &Path) -> Result<Vec<HistoryFile>, Error> {
    Err(unread(path))
}

pub(crate) fn session(path: &Path, _: &str) -> Result<HistoryFile, Error> {
    Err(unread(path))
}

pub(crate) fn members(path: &Path, _: &str) -> Result<(Vec<Member>, Option<RowsRead>), Error> {
    Err(unread(path))
}

pub(crate) fn gained(path: &Path, _: &str, _: &RowsRead) -> Result<Option<(Vec<Member>, RowsRead)>, Error> {
    Err(unread(path))
}
