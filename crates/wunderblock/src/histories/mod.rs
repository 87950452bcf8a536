//! Sources of several members: a session in a tree of files, in a database or in an export, as one text of lines.
//!
//! ```text
//! tree, database, export ─► lines as they are now ─┐
//! stored text ─────────────────────────────────────┴─► stored text + lines that it lacks
//! ```
//! The text only grows, so its import is that of a file that has grown. See `docs/design/0016`.

mod conversation;
#[cfg(feature = "sqlite")]
mod cursor;
#[cfg_attr(not(feature = "sqlite"), path = "no_database.rs")]
pub(crate) mod database;
mod elements;
pub(crate) mod export;
mod json;
pub(crate) mod listed;
pub(crate) mod member;
#[cfg(feature = "sqlite")]
mod rows;
pub(crate) mod rows_read;
pub(crate) mod stamp;
pub(crate) mod text;
pub(crate) mod tree;

use crate::base::error::{Error, file_error, refused};
use export::{Entry, ExportCache};
use listed::{conversation_of, row_of};
use stamp::Stamp;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Where the bytes of a source come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A file.
    File(PathBuf),
    /// A session of OpenCode in a tree of files, named by the session's own file.
    Tree(PathBuf),
    /// A session in a database.
    Row { database: PathBuf, session: String },
    /// A conversation of an export.
    Conversation { export: PathBuf, key: PathBuf, entry: Entry },
}

/// Returns whether a path is that of a file that may hold many sessions: an SQLite database, or an export of ChatGPT or
/// claude.ai. The path of a session in it is the file's path followed by the session's id.
#[must_use]
pub fn holds_sessions(path: &Path) -> bool {
    database::is_database(path) || export::is_export(path)
}

/// Finds a session of OpenCode in the folder of its data by the session's id, without listing other sessions: in a
/// database, or else in the tree of files that OpenCode moves into the database.
pub(crate) fn find(folder: &Path, id: &str) -> Option<PathBuf> {
    // An id that is a path would lead to another file.
    if Path::new(id).file_name() != Some(OsStr::new(id)) {
        return None;
    }
    let is_database = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        name.starts_with("opencode") && name.ends_with(".db")
    };
    let databases = entries(folder).filter(is_database);
    let mut rows = databases.filter(|path| database::has(path, id)).map(|path| path.join(id));
    let files = || entries(&folder.join("storage/session")).map(|project| project.join(format!("{id}.json")));
    rows.next().or_else(|| files().find(|file| tree::is_session(file)))
}

/// Returns the paths of what a folder holds; nothing if it cannot be read.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

impl Place {
    /// Finds the place that a path names, with all links resolved, so that a source that is imported through a link
    /// counts as the same source.
    pub(crate) fn of(exports: &ExportCache, path: &Path) -> Result<Self, Error> {
        if let Some((database, session)) = row_of(path) {
            let database = dunce::canonicalize(database).map_err(|error| file_error(database, &error))?;
            return Ok(Self::Row { database, session });
        }
        if let Some((export, session)) = conversation_of(path) {
            let export = dunce::canonicalize(export).map_err(|error| file_error(export, &error))?;
            let entry = exports.index(&export)?.entry(&export, &session)?.clone();
            return Ok(Self::Conversation { key: export.join(session), export, entry });
        }
        let path = dunce::canonicalize(path).map_err(|error| file_error(path, &error))?;
        if database::is_database(&path) {
            let count = database::sessions(&path)?.len();
            let why = format!("a database with {count} sessions: name one of them, as {}/ID", path.display());
            return Err(refused(&path, &why));
        }
        if tree::is_session(&path) {
            return Ok(Self::Tree(path));
        }
        if export::is_export(&path) {
            let count = exports.index(&path)?.len();
            let why =
                format!("an export with {count} conversations: name one of them, as {}/ID", path.display());
            return Err(refused(&path, &why));
        }
        Ok(Self::File(path))
    }

    /// Returns the path under which the source is stored.
    pub(crate) fn key(&self) -> PathBuf {
        match self {
            Self::File(path) | Self::Tree(path) => path.clone(),
            Self::Row { database, session } => database.join(session),
            Self::Conversation { key, .. } => key.clone(),
        }
    }

    /// Returns what reveals a change of the source.
    pub(crate) fn stamp(&self) -> Result<Stamp, Error> {
        match self {
            Self::File(path) => {
                let meta = path.metadata().map_err(|error| file_error(path, &error))?;
                if !meta.is_file() {
                    let why = "it is not a file; give a transcript, or a folder of them";
                    return Err(refused(path, why));
                }
                Ok(Stamp::of(&meta))
            }
            Self::Tree(path) => Ok(tree::listed(path)?.stamp),
            Self::Row { database, session } => Ok(database::session(database, session)?.stamp),
            Self::Conversation { entry, .. } => Ok(entry.stamp()),
        }
    }
}
