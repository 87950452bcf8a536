//! Counts the files of each folder, so that a folder's name says what is in it.

use crate::modules::packages;
use crate::{refuse, root};
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of Rust files directly in a folder.
const MAX_FILES: usize = 15;

#[test]
fn no_folder_has_more_than_15_files() {
    let mut broken = Vec::new();
    for package in packages() {
        let parent = if package.name == "xtask" { root() } else { root().join("crates") };
        for (folder, files) in folders(&parent.join(&package.name).join("src")) {
            if files > MAX_FILES {
                broken.push(format!("{}: {files} files; the maximum is {MAX_FILES}", folder.display()));
            }
        }
    }
    refuse(&broken);
}

/// Returns a folder and all folders in it, each with its number of Rust files, tests included.
fn folders(folder: &Path) -> Vec<(PathBuf, usize)> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = open.pop() {
        let entries = fs::read_dir(&next).expect("a folder of sources").flatten();
        let (folders, files): (Vec<_>, Vec<_>) =
            entries.map(|entry| entry.path()).partition(|path| path.is_dir());
        open.extend(folders);
        found.push((
            next,
            files.iter().filter(|path| path.extension().is_some_and(|end| end == "rs")).count(),
        ));
    }
    found
}
