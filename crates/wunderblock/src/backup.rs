//! Copies of the ledger, and putting one in its place.

use crate::engine::{Config, Engine, unexpected};
use crate::error::Error;
use crate::store::sqlite::{Access, Sqlite};
use crate::store::{Answer, Marked, Query, StoreError};
use std::path::{Path, PathBuf};
use wunderblock_core::event::Fact;
use wunderblock_core::id::{StreamId, TenantId};
use wunderblock_core::units::Seq;

/// What a restore did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Where the ledger is that was there before.
    pub kept: Option<PathBuf>,
    /// Events that were erased again, because they had been erased since the backup was made.
    pub erased_again: u64,
}

impl Engine {
    /// Copies the ledger, as of one moment, into a new file. Answers its size.
    ///
    /// # Errors
    /// When the file exists or cannot be written, or the ledger is not in a file.
    pub async fn backup(&self, to: &Path) -> Result<u64, Error> {
        let Some(file) = &self.file else {
            return Err(Error::Config("only a ledger in a file can be copied into one".to_owned()));
        };
        // Beside its place first: what bears the backup's name is a whole backup.
        let partial = beside(to, ".partial");
        if to.exists() {
            return Err(Error::Store(StoreError::Io(format!(
                "{} exists already; give a path where nothing is",
                to.display()
            ))));
        }
        let _ = std::fs::remove_file(&partial);
        file.backup(&partial).await?;
        let synced = std::fs::File::open(&partial).and_then(|file| file.sync_all());
        synced.and_then(|()| std::fs::rename(&partial, to)).map_err(|error| file_error(to, &error))?;
        Ok(to.metadata().map_err(|error| file_error(to, &error))?.len())
    }

    /// Puts a backup in a ledger's place. It is examined first; a ledger that is there is kept beside it, and what was
    /// erased from that one is erased from the restored one, too.
    ///
    /// # Errors
    /// When the backup is no ledger or is damaged, or a ledger is there and `replace` is not given.
    pub async fn restore(from: &Path, to: &Path, replace: bool, config: Config) -> Result<Restored, Error> {
        examine(from).await?;
        let there = to.metadata().is_ok_and(|meta| meta.len() > 0);
        if there && !replace {
            let why = format!("{} exists; --replace keeps it beside the restored one", to.display());
            return Err(Error::Config(why));
        }
        let receipts = if there { receipts(to, &config).await? } else { Vec::new() };
        if let Some(folder) = to.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| file_error(folder, &error))?;
        }
        let partial = beside(to, ".restoring");
        std::fs::copy(from, &partial).map_err(|error| file_error(&partial, &error))?;
        let mut restored = Restored { kept: None, erased_again: forget(&partial, &receipts, &config).await? };
        let synced = std::fs::File::open(&partial).and_then(|file| file.sync_all());
        synced.map_err(|error| file_error(&partial, &error))?;
        if there {
            // Opening it for writing and closing it again leaves one file without a log beside it.
            drop(Sqlite::open(to, Access::Write));
            let kept = free_name(to);
            std::fs::rename(to, &kept).map_err(|error| file_error(&kept, &error))?;
            for suffix in ["-wal", "-shm"] {
                let _ = std::fs::rename(beside(to, suffix), beside(&kept, suffix));
            }
            restored.kept = Some(kept);
        }
        std::fs::rename(&partial, to).map_err(|error| file_error(to, &error))?;
        Ok(restored)
    }
}

async fn examine(path: &Path) -> Result<(), Error> {
    let backup = Sqlite::open(path, Access::Read)?;
    let found = backup.check().await?.found;
    match found.iter().find(|found| !found.derived) {
        Some(found) => Err(Error::Store(StoreError::Damaged(format!("{}: {}", found.rule, found.detail)))),
        None => Ok(()),
    }
}

/// Every erasure a ledger has a receipt for.
async fn receipts(path: &Path, config: &Config) -> Result<Vec<(StreamId, Seq, Seq)>, Error> {
    let Ok(engine) = Engine::open(path, Access::Read, config.clone()).await else { return Ok(Vec::new()) };
    let mut receipts = Vec::new();
    for info in engine.streams("", u64::from(u32::MAX)).await? {
        let query = Query::Marked {
            tenant: engine.tenant.no,
            stream: info.id.clone(),
            what: Marked::Kind("content.erased"),
            to: info.head,
            limit: u64::from(u32::MAX),
        };
        let Answer::Events(rows) = engine.one(query).await? else { return Err(unexpected()) };
        for row in rows {
            if let Some(Fact::ContentErased(erased)) = engine.event(&info.id, &row)?.fact {
                receipts.push((info.id.clone(), erased.from_seq, erased.to_seq));
            }
        }
    }
    Ok(receipts)
}

async fn forget(path: &Path, receipts: &[(StreamId, Seq, Seq)], config: &Config) -> Result<u64, Error> {
    if receipts.is_empty() {
        return Ok(0);
    }
    let engine = Engine::open(path, Access::Write, config.clone()).await?;
    let mut again = 0;
    for (stream, from, to) in receipts {
        let Some(info) = engine.info(stream).await? else { continue };
        if *from <= info.head {
            again += engine
                .session(stream.clone())
                .erase(*from, *to, Some("erased before the restore"))
                .await?
                .events;
        }
    }
    Ok(again)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn free_name(path: &Path) -> PathBuf {
    (1u32..)
        .map(|number| beside(path, &format!(".before-restore-{number}")))
        .find(|name| !name.exists())
        .unwrap_or_default()
}

fn file_error(path: &Path, error: &std::io::Error) -> Error {
    Error::File { path: path.display().to_string(), why: error.to_string() }
}

impl Engine {
    /// The tenant the engine works for.
    #[must_use]
    pub fn tenant(&self) -> &TenantId {
        &self.config.tenant
    }
}
