//! The files of a folder, in the order in which the system lists them, without those that git would ignore.

use super::parts::NotADocument;
use ignore::{DirEntry, Walk, WalkBuilder};
use std::path::{Path, PathBuf};

/// A file that was found, or the reason why something is not one, with its path if it has one.
pub type FolderFile = Result<PathBuf, (Option<PathBuf>, NotADocument)>;

/// Files of a folder and the folders in it. Ignore files hold also outside of a repository; `.git` is not entered, and
/// links are not followed. A path that is a file has itself.
pub struct FolderFiles(Walk);

impl FolderFiles {
    /// Returns the files at a resolved path.
    #[must_use]
    pub fn of(root: &Path) -> Self {
        // The user's own ignore file of git is left out: its place depends on the environment.
        let mut walk = WalkBuilder::new(root);
        walk.hidden(false).git_global(false).require_git(false).follow_links(false);
        walk.filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git");
        Self(walk.build())
    }
}

impl Iterator for FolderFiles {
    type Item = FolderFile;

    fn next(&mut self) -> Option<FolderFile> {
        loop {
            match self.0.next()? {
                Err(error) => return Some(Err((None, NotADocument::Failed(error.to_string())))),
                Ok(entry) => match file_of(entry) {
                    None => {}
                    found => return found,
                },
            }
        }
    }
}

/// Returns the file of an entry; `None` for a folder.
fn file_of(entry: DirEntry) -> Option<FolderFile> {
    let kind = entry.file_type()?;
    if kind.is_dir() {
        return None;
    }
    let path = entry.into_path();
    Some(if kind.is_file() {
        match path.to_str() {
            Some(_) => Ok(path),
            None => Err((Some(path), NotADocument::Failed("has a name that is not UTF-8".to_owned()))),
        }
    } else {
        let what = if kind.is_symlink() { "link" } else { "pipe, socket or device" };
        Err((Some(path), NotADocument::NotAFile(what)))
    })
}
