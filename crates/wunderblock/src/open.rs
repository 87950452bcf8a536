//! An engine on a file.

use crate::engine::{Config, Engine};
use crate::error::Error;
use crate::store::sqlite::{Access, Sqlite};
use std::path::Path;
use std::sync::Arc;

impl Engine {
    /// Opens the ledger in a SQLite file, and creates it if it is not there.
    ///
    /// # Errors
    /// When it cannot be opened; see [`Error::hint`].
    pub async fn open(path: impl AsRef<Path> + Send) -> Result<Self, Error> {
        Self::open_with(path, Access::Create, Config::default()).await
    }

    /// Opens the ledger in a SQLite file with a configuration of one's own.
    ///
    /// # Errors
    /// When it cannot be opened; see [`Error::hint`].
    pub async fn open_with(
        path: impl AsRef<Path> + Send,
        access: Access,
        config: Config,
    ) -> Result<Self, Error> {
        let path = path.as_ref();
        Self::with(Sqlite::open(path, access)?, access != Access::Read, config).await
    }

    /// Uses an open file; `creates` says whether the tenant is created where it is not there.
    pub(crate) async fn with(file: Sqlite, creates: bool, config: Config) -> Result<Self, Error> {
        let file = Arc::new(file);
        let engine = Self::on(file.clone(), creates, config).await?;
        Ok(Self { file: Some(file), ..engine })
    }
}
