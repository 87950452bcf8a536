//! Files and folders that a reading of definitions looked at.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Length and time of change of a file or folder.
type FileStamp = (u64, SystemTime);

/// Files and folders that a reading looked at; `None` for those that do not exist.
#[derive(Debug, Default)]
pub(super) struct Inputs(BTreeMap<PathBuf, Option<FileStamp>>);

impl Inputs {
    /// Notes that a file or a folder is going to be read. The time of change of a folder covers the names in it.
    pub(super) fn note(&mut self, path: &Path) {
        if !self.0.contains_key(path) {
            self.0.insert(path.to_owned(), stamp(path));
        }
    }

    pub(super) fn are_unchanged(&self) -> bool {
        self.0.iter().all(|(path, known)| stamp(path) == *known)
    }

    pub(super) fn are_older_than(&self, time: SystemTime) -> bool {
        self.0.values().flatten().all(|(_, changed)| *changed < time)
    }
}

fn stamp(path: &Path) -> Option<FileStamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}
