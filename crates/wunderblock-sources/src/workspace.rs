//! Location of the work: the working directory, the root of its project, and the identity of the project.

use super::file::describe_error;
use crate::limits::MAX_POINTER;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// A working directory and its project. All paths are canonical.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// Working directory.
    pub cwd: PathBuf,
    /// Root of the project: the nearest directory at or above `cwd` that contains a marker, or `cwd` if there is no
    /// marker.
    pub root: PathBuf,
    /// Identity of the project: the repository that all its worktrees share, or the root if there is no repository.
    pub project: PathBuf,
}

/// Reason why a directory is not a valid workspace.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}; give a directory that exists", path.display())]
pub struct SourceError {
    /// Path given by the caller.
    pub path: PathBuf,
    /// Description of the problem.
    pub why: String,
}

impl Workspace {
    /// Finds the workspace of a directory. A marker is the name of a file or directory; without markers, the root is
    /// `cwd`.
    ///
    /// A worktree belongs to the project of its repository only if the repository lists the worktree. A `.git` file
    /// alone proves nothing, because anyone can write one that points to another repository.
    ///
    /// # Errors
    /// Fails if `cwd` is not a directory or cannot be read.
    pub fn find(cwd: &Path, markers: &[String]) -> Result<Self, SourceError> {
        let refuse = |why| SourceError { path: cwd.to_owned(), why };
        let cwd = dunce::canonicalize(cwd).map_err(|error| refuse(describe_error(&error)))?;
        if !cwd.is_dir() {
            return Err(refuse("is not a directory".to_owned()));
        }
        let marked = |directory: &&Path| {
            markers
                .iter()
                .any(|marker| !marker.is_empty() && fs::symlink_metadata(directory.join(marker)).is_ok())
        };
        let root = cwd.ancestors().find(marked).unwrap_or(&cwd).to_owned();
        let project = repository(&root).unwrap_or_else(|| root.clone());
        Ok(Self { cwd, root, project })
    }

    /// Returns a path for display: relative to the root if inside it, otherwise complete, with `/` as separator.
    pub(super) fn name(&self, path: &Path) -> String {
        match path.strip_prefix(&self.root) {
            Ok(inside) => slashes(inside),
            Err(_) => path.to_string_lossy().into_owned(),
        }
    }
}

/// Returns a relative path with `/` as separator.
pub(super) fn slashes(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// Removes `.` and `..` from a path without reading the file system.
pub(super) fn normalised(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// Returns the directories from `top` down to `bottom`, including both; empty if `bottom` is not inside `top`.
pub(super) fn downward(top: &Path, bottom: &Path) -> Vec<PathBuf> {
    if !bottom.starts_with(top) {
        return Vec::new();
    }
    let mut way: Vec<PathBuf> =
        bottom.ancestors().take_while(|directory| directory.starts_with(top)).map(Path::to_owned).collect();
    way.reverse();
    way
}

fn repository(root: &Path) -> Option<PathBuf> {
    let git = dunce::canonicalize(root.join(".git")).ok()?;
    if git.is_dir() { Some(git) } else { Some(common(root, &git).unwrap_or(git)) }
}

/// Returns the repository to which a `.git` file leads: the common directory of a worktree registered there.
fn common(root: &Path, git: &Path) -> Option<PathBuf> {
    let text = pointer(git).ok()?;
    let worktree = dunce::canonicalize(root.join(text.strip_prefix("gitdir:")?.trim())).ok()?;
    let shared =
        dunce::canonicalize(worktree.join(pointer(&worktree.join("commondir")).ok()?.trim())).ok()?;
    let back = dunce::canonicalize(worktree.join(pointer(&worktree.join("gitdir")).ok()?.trim())).ok()?;
    (back == git && worktree.starts_with(&shared)).then_some(shared)
}

/// Reads a short file of git that names a path. A pipe is not opened, because that may block.
pub fn pointer(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut text = String::new();
    fs::File::open(path)?.take(MAX_POINTER).read_to_string(&mut text)?;
    Ok(text)
}
