//! Where work happens: the working directory, the project's root above it, and which project that is.

use super::file::describe_error;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// The longest `.git` or `commondir` file.
const MAX_POINTER: u64 = 16 << 10;

/// A working directory and its project. All paths are canonical.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// The working directory.
    pub cwd: PathBuf,
    /// The project's root: the nearest directory at or above `cwd` that has a marker, `cwd` itself if none has.
    pub root: PathBuf,
    /// What makes it that project: the repository all its worktrees share; without one, the root.
    pub project: PathBuf,
}

/// Why there is no workspace.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}; give a directory that exists", path.display())]
pub struct SourceError {
    /// The path that was given.
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: String,
}

impl Workspace {
    /// The workspace of a directory. A marker is the name of a file or directory; without any, the root is `cwd`.
    ///
    /// A worktree belongs to the project of its repository if the repository says so too. A `.git` file alone proves
    /// nothing: anybody can write one that points to somebody else's repository.
    ///
    /// # Errors
    /// `cwd` is no directory, or cannot be looked at.
    pub fn find(cwd: &Path, markers: &[String]) -> Result<Self, SourceError> {
        let refuse = |why| SourceError { path: cwd.to_owned(), why };
        let cwd = fs::canonicalize(cwd).map_err(|error| refuse(describe_error(&error)))?;
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

    /// A path as it is shown: relative to the root inside it, whole elsewhere; with `/` between its parts.
    pub(super) fn name(&self, path: &Path) -> String {
        match path.strip_prefix(&self.root) {
            Ok(inside) => slashes(inside),
            Err(_) => path.to_string_lossy().into_owned(),
        }
    }
}

/// A relative path with `/` between its parts.
pub(super) fn slashes(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// A path without `.` and `..`, by its words alone.
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

/// The directories from `top` down to `bottom`, both included; none if `bottom` is not inside `top`.
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
    let git = fs::canonicalize(root.join(".git")).ok()?;
    if git.is_dir() { Some(git) } else { Some(common(root, &git).unwrap_or(git)) }
}

/// The repository a `.git` file leads to: the common directory of a worktree it has registered.
fn common(root: &Path, git: &Path) -> Option<PathBuf> {
    let text = pointer(git).ok()?;
    let worktree = fs::canonicalize(root.join(text.strip_prefix("gitdir:")?.trim())).ok()?;
    let shared = fs::canonicalize(worktree.join(pointer(&worktree.join("commondir")).ok()?.trim())).ok()?;
    let back = fs::canonicalize(worktree.join(pointer(&worktree.join("gitdir")).ok()?.trim())).ok()?;
    (back == git && worktree.starts_with(&shared)).then_some(shared)
}

fn pointer(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut text = String::new();
    fs::File::open(path)?.take(MAX_POINTER).read_to_string(&mut text)?;
    Ok(text)
}
