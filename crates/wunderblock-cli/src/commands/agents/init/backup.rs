//! Backups of agents' settings: each file as it was before the first change, until the change is undone.

use crate::output::atomic_file::replace;
use crate::output::exit::{FAILED, Failure, unwritten};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use wunderblock::machine::settings::SettingsChange;
use wunderblock_settings::input::read_usual;
use wunderblock_settings::state_folder;

/// A change of a file. Settings are UTF-8; a file that is not is never changed.
#[derive(Serialize, Deserialize)]
struct BackupRow {
    path: PathBuf,
    before: Option<String>,
    after: Option<String>,
}

/// The changes that were made and not undone.
pub(super) struct Backups {
    path: PathBuf,
    pub(super) changes: Vec<SettingsChange>,
}

impl Backups {
    /// Reads the backups.
    pub(super) fn read() -> Result<Self, Failure> {
        let folder = state_folder().ok_or_else(|| {
            Failure::Door(FAILED, "no home directory, so there is no place for a backup".to_owned())
        })?;
        let path = folder.join("settings-backup.json");
        let rows: Vec<BackupRow> = match read_usual(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                Failure::Door(
                    FAILED,
                    format!("{} is damaged ({error}); move it away and try again", path.display()),
                )
            })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(Failure::Door(FAILED, format!("{}: {error}", path.display()))),
        };
        let bytes = |text: Option<String>| text.map(String::into_bytes);
        let changes = rows.into_iter();
        let changes = changes.map(|row| SettingsChange {
            path: row.path,
            before: bytes(row.before),
            after: bytes(row.after),
        });
        Ok(Self { path, changes: changes.collect() })
    }

    /// Adds changes that are about to be made. A file that was changed before keeps its first backup.
    pub(super) fn add(&mut self, changes: &[SettingsChange]) -> Result<(), Failure> {
        for change in changes {
            let earlier = self.changes.iter().position(|earlier| earlier.path == change.path);
            let earlier = earlier.map(|at| self.changes.remove(at));
            self.changes.push(match earlier {
                Some(earlier) => change.clone().following(&earlier),
                None => change.clone(),
            });
        }
        self.write()
    }

    /// Removes the backups of files whose changes are undone.
    pub(super) fn remove(&mut self, changes: &[SettingsChange]) -> Result<(), Failure> {
        self.changes.retain(|kept| !changes.iter().any(|undone| undone.path == kept.path));
        self.write()
    }

    fn write(&self) -> Result<(), Failure> {
        let text = |bytes: &Option<Vec<u8>>| {
            bytes.as_deref().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        };
        let row = |change: &SettingsChange| BackupRow {
            path: change.path.clone(),
            before: text(&change.before),
            after: text(&change.after),
        };
        let rows: Vec<BackupRow> = self.changes.iter().map(row).collect();
        let failed = |error: std::io::Error| unwritten(&self.path, &error);
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        // Settings may contain secrets, so only their owner may read the backup.
        replace(&self.path, &serde_json::to_vec_pretty(&rows)?).map_err(failed)
    }
}
