//! Finds the histories of agents: folders and the files in them that may be transcripts.

use crate::histories::find;
use crate::histories::listed::list;
pub use crate::histories::member::HistoryFile;
use crate::rules::agent::{Agent, HistoryPlace};
use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use wunderblock_sources::places::Places;

/// History of an agent in one folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentHistory {
    /// Agent that wrote the history.
    pub agent: &'static Agent,
    /// Folder that contains all of the files.
    pub folder: PathBuf,
    /// Files that may be transcripts, sorted by path.
    pub files: Vec<HistoryFile>,
    /// Files and folders that could not be read, each with the reason, sorted by path.
    pub unread: Vec<(PathBuf, String)>,
}

/// Finds the histories of `agents`. Folders without a matching file are left out.
/// Symbolic links below a folder are not followed, because they may lead anywhere.
#[must_use]
pub fn histories(agents: &[&'static Agent], places: &Places) -> Vec<AgentHistory> {
    let mut found = Vec::new();
    for agent in agents {
        for place in &agent.history {
            for base in places.folders(&place.base) {
                found.extend(search(agent, place, &base));
            }
        }
    }
    found
}

/// Finds one session of OpenCode by OpenCode's id of it, without a search of the whole history. Returns the path that
/// [`histories`] gives to the session; `None` if OpenCode has not stored it.
#[must_use]
pub fn find_session(agent: &Agent, places: &Places, id: &str) -> Option<PathBuf> {
    if *agent.name != *"opencode" {
        return None;
    }
    agent.history.iter().flat_map(|place| places.folders(&place.base)).find_map(|folder| find(&folder, id))
}

/// Searches one folder. Returns `None` if it does not exist.
fn search(agent: &'static Agent, place: &HistoryPlace, base: &Path) -> Option<AgentHistory> {
    let mut history = AgentHistory { agent, folder: base.to_owned(), files: Vec::new(), unread: Vec::new() };
    let wanted = patterns(&place.files);
    let starts: BTreeSet<&str> = place.files.iter().map(|pattern| literal(pattern)).collect();
    for start in &starts {
        walk(&mut history, &base.join(start), base, &wanted);
    }
    if let [only] = starts.into_iter().collect::<Vec<_>>()[..] {
        history.folder = if only.is_empty() { base.to_owned() } else { base.join(only) };
    }
    history.files.sort();
    history.unread.sort();
    let exists = !history.files.is_empty() || !history.unread.is_empty();
    exists.then_some(history)
}

/// Returns the leading part of a pattern that names one folder.
fn literal(pattern: &str) -> &str {
    let special = pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len());
    pattern.get(..special).and_then(|start| start.rfind('/').map(|end| &start[..end])).unwrap_or_default()
}

fn patterns(files: &[Box<str>]) -> GlobSet {
    let glob =
        |pattern: &str| -> Option<Glob> { GlobBuilder::new(pattern).literal_separator(true).build().ok() };
    let mut set = GlobSetBuilder::new();
    for pattern in files.iter().filter_map(|pattern| glob(pattern)) {
        set.add(pattern);
    }
    set.build().unwrap_or_else(|_| GlobSet::empty())
}

fn walk(history: &mut AgentHistory, start: &Path, base: &Path, wanted: &GlobSet) {
    // A pattern without a folder names files of the base itself, so the folders below need not be read.
    let is_deep = start != base;
    let mut folders = vec![start.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => continue,
            Err(error) => {
                history.unread.push((folder, error.to_string()));
                continue;
            }
        };
        for entry in entries.flatten() {
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                folders.extend(is_deep.then_some(path));
            } else if kind.is_file() && path.strip_prefix(base).is_ok_and(|inner| wanted.is_match(inner)) {
                let found = match entry.metadata() {
                    Ok(meta) => list(&path, &meta).map_err(|error| error.to_string()),
                    Err(error) => Err(error.to_string()),
                };
                match found {
                    Ok(files) => history.files.extend(files),
                    Err(why) => history.unread.push((path, why)),
                }
            }
        }
    }
}
