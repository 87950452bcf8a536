//! Copies the whole ledger to another file.

use crate::error::{Error, file_error};
use crate::future::BoxFuture;
use crate::maintenance::Ledger;
use crate::store::StoreError;
use crate::store::sqlite::place::{PARTIAL, beside, place};
use std::path::Path;

impl Ledger<'_> {
    /// Copies a consistent state of the ledger to a new file, and returns the size of that file in bytes.
    ///
    /// The copy is written under a temporary name and renamed when it is complete. A file with the backup's name is
    /// therefore always whole, flushed to disk, and readable by its owner only.
    ///
    /// # Errors
    /// Returns an error if the file exists or cannot be written, or if the ledger is not stored in a file.
    pub fn backup<'a>(&'a self, to: &'a Path) -> BoxFuture<'a, u64> {
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
            let partial = beside(to, PARTIAL);
            // An interrupted backup may have left this file behind.
            let _ = std::fs::remove_file(&partial);
            let done = file.backup(&partial).await.map_err(Error::from).and_then(|()| {
                place(&partial, to).map_err(|error| match error.kind() {
                    std::io::ErrorKind::AlreadyExists => exists(),
                    _ => file_error(to, &error),
                })
            });
            let _ = std::fs::remove_file(&partial);
            done?;
            Ok(to.metadata().map_err(|error| file_error(to, &error))?.len())
        })
    }
}
