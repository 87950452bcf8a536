//! Copies the whole ledger to another file.

use crate::base::error::{Error, file_error};
use crate::base::future::BoxFuture;
use crate::keeping::maintenance::Ledger;
use std::path::Path;
use wunderblock_core::units::Millis;
use wunderblock_store::StoreError;
use wunderblock_store::sqlite::place::{PARTIAL, beside, place, remove_ours};
use wunderblock_store::sqlite::{Access, Sqlite};

/// A complete backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackedUp {
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Whether the ledger notes the file, so that later erasures look into it. A ledger that cannot be written notes
    /// nothing.
    pub noted: bool,
}

impl Ledger<'_> {
    /// Copies a consistent state of the ledger to a new file.
    ///
    /// The ledger notes the backup's path, because a later erasure names the copies that it does not reach. The copy
    /// is written under a temporary name and renamed when it is complete. A file with the backup's name is
    /// therefore always whole, flushed to disk, and readable by its owner only.
    ///
    /// # Errors
    /// Returns an error if the file exists or cannot be written, or if the ledger is not stored in a file.
    pub fn backup<'a>(&'a self, to: &'a Path) -> BoxFuture<'a, BackedUp> {
        Box::pin(async move {
            let Some(file) = &self.0.file else {
                return Err(Error::Config(
                    "the ledger cannot be backed up: it is not stored in a file".to_owned(),
                ));
            };
            let exists = || Error::Store(StoreError::Exists(to.display().to_string()));
            // `symlink_metadata` also finds a dangling link, which `exists` would miss.
            if to.symlink_metadata().is_ok() {
                return Err(exists());
            }
            let noted = note(file, to, self.0.now()).await?;
            let partial = beside(to, PARTIAL);
            // An interrupted backup may have left this file behind.
            remove_ours(&partial);
            let done = file.backup(&partial).await.map_err(Error::from).and_then(|()| {
                place(&partial, to).map_err(|error| match error.kind() {
                    std::io::ErrorKind::AlreadyExists => exists(),
                    _ => file_error(to, &error),
                })
            });
            remove_ours(&partial);
            done?;
            let bytes = to.metadata().map_err(|error| file_error(to, &error))?.len();
            Ok(BackedUp { bytes, noted })
        })
    }
}

/// Notes a backup, and finishes earlier erasures, because a copy would take along what they have left in free bytes. A
/// ledger that cannot be written, or has an older format, stays as it is. Returns whether the backup was noted.
async fn note(file: &Sqlite, to: &Path, now: Millis) -> Result<bool, Error> {
    let opened = match file.is_writable() || !file.is_current().await? {
        true => None,
        false => Sqlite::open(file.path(), Access::Write).ok(),
    };
    let writer = opened.as_ref().unwrap_or(file);
    let path = std::path::absolute(to).map_err(|error| file_error(to, &error))?;
    let Some(path) = path.to_str().filter(|_| writer.is_writable()) else { return Ok(false) };
    writer.scrub().await?;
    writer.note_backup(path, now).await?;
    Ok(true)
}
