//! A copy of the whole ledger in another file.

use crate::error::{Error, file_error};
use crate::future::BoxFuture;
use crate::maintenance::Ledger;
use crate::store::StoreError;
use crate::store::sqlite::place::{beside, place};
use std::path::Path;

impl Ledger<'_> {
    /// Copies the ledger, as of one moment, into a new file. Answers its size in bytes.
    ///
    /// The file that bears the backup's name is a whole backup, on the disk, that only its owner can read.
    ///
    /// # Errors
    /// When the file exists or cannot be written, or the ledger is not in a file.
    pub fn backup<'a>(&'a self, to: &'a Path) -> BoxFuture<'a, u64> {
        Box::pin(async move {
            let Some(file) = &self.0.file else {
                return Err(Error::Config("only a ledger in a file can be copied into one".to_owned()));
            };
            let exists = || Error::Store(StoreError::Exists(to.display().to_string()));
            if to.symlink_metadata().is_ok() {
                return Err(exists());
            }
            let partial = beside(to, ".partial");
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
