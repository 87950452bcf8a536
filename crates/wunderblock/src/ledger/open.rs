//! Opens an engine on a ledger file.

use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::engine::{Config, Engine};
use crate::ledger::recording::authors::settle_authors;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wunderblock_store::sqlite::{Access, Sqlite};

impl Engine {
    /// Opens the ledger in a SQLite file, and creates the file if it does not exist.
    ///
    /// # Errors
    /// Fails if the file cannot be opened; see [`Error::hint`].
    pub fn open(path: impl AsRef<Path>) -> BoxFuture<'static, Self> {
        Self::open_with(path, Access::Create, Config::default())
    }

    /// Opens the ledger in a SQLite file with the given access and configuration.
    ///
    /// # Errors
    /// Fails if the file cannot be opened; see [`Error::hint`].
    pub fn open_with(path: impl AsRef<Path>, access: Access, config: Config) -> BoxFuture<'static, Self> {
        open_file(path.as_ref().to_owned(), access, config)
    }

    /// Returns an engine on an open file. If `creates` is true, a missing tenant may be created.
    pub(crate) async fn with(file: Sqlite, creates: bool, config: Config) -> Result<Self, Error> {
        let file = Arc::new(file);
        let engine = Self::on(file.clone(), creates, config).await?;
        let engine = Self { file: Some(file), ..engine };
        if creates {
            settle_authors(&engine).await?;
        }
        Ok(engine)
    }
}

fn open_file(path: PathBuf, access: Access, config: Config) -> BoxFuture<'static, Engine> {
    Box::pin(async move { Engine::with(Sqlite::open(&path, access)?, access != Access::Read, config).await })
}
