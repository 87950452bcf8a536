//! An engine on a file.

use crate::engine::{Config, Engine};
use crate::error::Error;
use crate::future::BoxFuture;
use crate::store::sqlite::{Access, Sqlite};
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Engine {
    /// Opens the ledger in a SQLite file, and creates it if it is not there.
    ///
    /// # Errors
    /// When it cannot be opened; see [`Error::hint`].
    pub fn open(path: impl AsRef<Path>) -> BoxFuture<'static, Self> {
        Self::open_with(path, Access::Create, Config::default())
    }

    /// Opens the ledger in a SQLite file with a configuration of one's own.
    ///
    /// # Errors
    /// When it cannot be opened; see [`Error::hint`].
    pub fn open_with(path: impl AsRef<Path>, access: Access, config: Config) -> BoxFuture<'static, Self> {
        open_file(path.as_ref().to_owned(), access, config)
    }

    /// Uses an open file; `creates` says whether the tenant is created where it is not there.
    pub(crate) async fn with(file: Sqlite, creates: bool, config: Config) -> Result<Self, Error> {
        let file = Arc::new(file);
        let engine = Self::on(file.clone(), creates, config).await?;
        Ok(Self { file: Some(file), ..engine })
    }
}

fn open_file(path: PathBuf, access: Access, config: Config) -> BoxFuture<'static, Engine> {
    Box::pin(async move { Engine::with(Sqlite::open(&path, access)?, access != Access::Read, config).await })
}
