//! Lists the transcripts in a folder.

use super::files::change::is_same;
use super::imported::Imported;
use crate::base::error::{Error, ImportReason, file_error};
use crate::base::future::BoxFuture;
use crate::histories::listed::{list, list_path};
use crate::histories::member::HistoryFile;
use crate::histories::tree::is_storage;
use crate::ledger::engine::{Engine, unexpected};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use wunderblock_store::{Query, SourceBy, SourceInfo};

/// Transcripts in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcripts {
    /// Files that may be transcripts, and sessions of several members, sorted by path.
    pub files: Vec<HistoryFile>,
    /// Symbolic links to folders, and to files with a transcript's name. Links are not followed, because they may
    /// lead anywhere.
    pub links: Vec<PathBuf>,
}

/// Maximum number of files per query. One query per file took up two thirds of the time of an import of 10,000
/// unchanged files.
const TOGETHER: usize = 256;

impl Transcripts {
    /// Returns the outcome that an import would have for each file that has not changed since its last import, and
    /// `None` for the other files.
    ///
    /// # Errors
    /// Fails if the ledger cannot be read.
    pub fn unchanged<'a>(&'a self, engine: &'a Engine) -> BoxFuture<'a, Vec<Option<Imported>>> {
        Box::pin(async move {
            let mut all = Vec::with_capacity(self.files.len());
            let mut folder: Option<(&Path, PathBuf)> = None;
            for files in self.files.chunks(TOGETHER) {
                let mut paths = Vec::with_capacity(files.len());
                for HistoryFile { path: file, .. } in files {
                    // A listed file is not a link, so only the path of its folder has to be resolved.
                    let parent = file.parent().unwrap_or(file);
                    if folder.as_ref().is_none_or(|(known, _)| *known != parent) {
                        folder = dunce::canonicalize(parent).ok().map(|path| (parent, path));
                    }
                    paths.push(
                        folder.as_ref().zip(file.file_name()).map(|((_, folder), name)| folder.join(name)),
                    );
                }
                let keys =
                    paths.iter().map(|path| path.as_deref().unwrap_or(Path::new("")).to_string_lossy());
                let query = |key: std::borrow::Cow<'_, str>| {
                    let by = SourceBy::Key(key.into_owned());
                    Query::Source { tenant: engine.tenant.no, by, revision: None }
                };
                let answers = engine.storage.query(keys.map(query).collect()).await?;
                for ((path, file), answer) in paths.iter().zip(files).zip(answers) {
                    let info = answer.source().ok_or_else(unexpected)?;
                    let same = |(path, info): (&PathBuf, Box<SourceInfo>)| {
                        is_same(&info, file.stamp).then(|| Imported::unchanged(path, &info).ok()).flatten()
                    };
                    all.push(path.as_ref().zip(info).and_then(same));
                }
            }
            Ok(all)
        })
    }
}

/// Finds files under a folder that may be transcripts: JSON, JSON lines, and aider's Markdown history; and sessions of
/// several members, in OpenCode's storage, in databases and in exports. A path that is not a folder is the only file, or
/// the database or export, in which transcripts are sought.
///
/// # Errors
/// Fails if the path cannot be read, or if it is a database without sessions of a known agent.
pub fn transcripts(folder: &Path) -> Result<Transcripts, Error> {
    let mut found = Transcripts::default();
    if !folder.is_dir() {
        return Ok(Transcripts { files: list_path(folder)?, links: Vec::new() });
    }
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        // The other folders of OpenCode's storage hold the members of these sessions.
        let next = if is_storage(&next) { next.join("session") } else { next };
        let entries = std::fs::read_dir(&next).map_err(|error| file_error(&next, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| file_error(&next, &error))?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(|error| file_error(&next, &error))?);
            let name = entry.file_name().to_string_lossy().into_owned();
            if kind.is_dir() {
                folders.push(path);
                continue;
            }
            let is_named_so = [".jsonl", ".ndjson", ".json", ".traj", ".db", ".vscdb"]
                .iter()
                .any(|end| name.ends_with(end))
                || name.contains("chat.history");
            if kind.is_file() && is_named_so {
                let meta = entry.metadata().map_err(|error| file_error(&path, &error))?;
                found.files.extend(listed_in_folder(&path, &meta)?);
            } else if kind.is_symlink() && (is_named_so || path.is_dir()) {
                found.links.push(path);
            }
        }
    }
    found.files.sort();
    found.links.sort();
    Ok(found)
}

/// Lists the sources that a file in a folder contains. A database of another program is not a failure.
fn listed_in_folder(path: &Path, meta: &Metadata) -> Result<Vec<HistoryFile>, Error> {
    match list(path, meta) {
        Err(Error::Import { reason: ImportReason::NotATranscript, .. }) => Ok(Vec::new()),
        other => other,
    }
}
