//! Finds the paths of the project that tool calls name.

use super::workspace::{Workspace, normalised, slashes};
use crate::limits::{MAX_TOUCHED, MAX_TOUCHED_WORDS};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Returns the paths inside the project that gists of tool calls name: relative to the root, sorted, each once.
///
/// A gist is a line of `wunderblock_wire::gist`: a path with lines, a command, or a pattern with a place. A word
/// is a path if it looks like a path and its directory exists, so that a file about to be written counts. A bare word
/// is a path only if it names an existing file, or if it is the only word and names a directory. This function reads
/// directories, but no files. At most 512 paths and 10,000 words are processed, so callers
/// should pass the latest gists first.
#[must_use]
pub fn touched<'a>(gists: impl Iterator<Item = &'a str>, workspace: &Workspace) -> Vec<String> {
    let mut looking = PathScan {
        workspace,
        base: workspace.cwd.clone(),
        directories: HashMap::new(),
        bare: HashSet::new(),
        found: BTreeSet::new(),
    };
    let mut left = MAX_TOUCHED_WORDS;
    for gist in gists {
        looking.base.clone_from(&workspace.cwd);
        let mut words = split_words(gist).peekable();
        let mut enters = false;
        let mut first = true;
        while let Some(word) = words.next() {
            if left == 0 || looking.found.len() >= MAX_TOUCHED {
                return looking.found.into_iter().collect();
            }
            left -= 1;
            let alone = first && words.peek().is_none();
            first = false;
            if enters {
                looking.enter(word);
            } else {
                looking.look(word, alone);
            }
            enters = word == "cd";
        }
    }
    looking.found.into_iter().collect()
}

struct PathScan<'a> {
    workspace: &'a Workspace,
    /// Directory to which relative words refer.
    base: PathBuf,
    /// Whether each directory exists, as far as known.
    directories: HashMap<PathBuf, bool>,
    /// Bare words that were looked up.
    bare: HashSet<PathBuf>,
    found: BTreeSet<String>,
}

impl PathScan<'_> {
    fn look(&mut self, word: &str, alone: bool) {
        let Some(word) = path_of(word) else { return };
        let Some(path) = self.inside(word) else { return };
        let is_path = word.contains('/') || has_ending(word) || (alone && path.is_dir());
        // Commands repeat the same few bare words, so each is looked up only once.
        if !is_path && !self.bare.insert(path.clone()) {
            return;
        }
        if (is_path && path.parent().is_some_and(|parent| self.is_dir(parent)))
            || (!is_path && path.is_file())
        {
            self.found.insert(slashes(path.strip_prefix(&self.workspace.root).unwrap_or(&path)));
        }
    }

    /// Changes the directory to which the following words refer.
    fn enter(&mut self, word: &str) {
        if let Some(word) = path_of(word) {
            self.look(word, true);
            self.base = normalised(&self.base.join(word));
        }
    }

    fn inside(&self, word: &str) -> Option<PathBuf> {
        let path = normalised(&self.base.join(word));
        (path.starts_with(&self.workspace.root) && path != self.workspace.root).then_some(path)
    }

    fn is_dir(&mut self, path: &Path) -> bool {
        // The parent of a path inside the root is either the root itself or a directory inside it.
        if let Some(known) = self.directories.get(path) {
            return *known;
        }
        let is_dir = path.is_dir();
        self.directories.insert(path.to_owned(), is_dir);
        is_dir
    }
}

fn split_words(gist: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '|' | '&' | '(' | ')' | '<' | '>' | ',' | '=')
    };
    gist.split(ends).filter(|word| !word.is_empty())
}

/// Returns the part of a word that may be a path: without line numbers, and up to its first wildcard.
fn path_of(word: &str) -> Option<&str> {
    if word.contains("://") || word.contains(['$', '`', '\\', '@', '…']) || word.starts_with(['~', '-']) {
        return None;
    }
    let is_lines = |tail: &str| tail.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let mut word = word;
    while let Some((path, tail)) = word.rsplit_once(':') {
        if !is_lines(tail) {
            break;
        }
        word = path;
    }
    if let Some(wild) = word.find(['*', '?', '[', '{']) {
        word = word.get(..wild)?.rsplit_once('/')?.0;
    }
    (!word.is_empty() && !word.contains('\0')).then_some(word)
}

fn has_ending(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(stem, ending)| {
        let plain = ending.len() <= 10 && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
        !stem.is_empty() && plain && ending.starts_with(|c: char| c.is_ascii_alphabetic())
    })
}
