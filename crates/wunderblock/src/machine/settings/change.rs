//! Changes of files, as values.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Files as they are, with their bytes. A missing file is left out.
pub type ExistingFiles = BTreeMap<PathBuf, Vec<u8>>;

/// A planned change of a file. It is also the backup: [`Installation::undo`](super::Installation::undo) restores
/// `before` as long as the file is still `after`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsChange {
    /// The file.
    pub path: PathBuf,
    /// Bytes before the change. `None` if there is no file.
    pub before: Option<Vec<u8>>,
    /// Bytes after the change. `None` if the file is to be removed.
    pub after: Option<Vec<u8>>,
}

impl SettingsChange {
    /// Returns this change with the backup of an earlier one of the same file, so that one backup covers both.
    ///
    /// If the file changed between them, the backup is the file as this change found it.
    #[must_use]
    pub fn following(mut self, earlier: &Self) -> Self {
        if self.path == earlier.path && self.before == earlier.after {
            self.before.clone_from(&earlier.before);
        }
        self
    }
}
