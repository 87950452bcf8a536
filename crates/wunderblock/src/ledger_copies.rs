//! Copies of a ledger in other files, which an erasure in the ledger does not change.

use crate::engine::{Config, Engine};
use crate::erase::{TextFound, stays};
use crate::error::Error;
use crate::future::BoxFuture;
use crate::maintenance::Ledger;
use crate::store::sqlite::Access;
use crate::store::sqlite::place::{FolderLock, KEEPING, PARTIAL, RESTORING, beside};
use std::path::{Path, PathBuf};
use std::time::Duration;
use wunderblock_core::id::StreamId;
use wunderblock_core::units::Seq;

/// Content that was erased from a ledger, to be looked for in its copies.
#[derive(Clone, Copy, Debug)]
pub enum ErasedPart<'a> {
    /// Positions of a session.
    Positions(&'a StreamId, Seq, Seq),
    /// An exact text.
    Text(&'a str),
}

impl Ledger<'_> {
    /// Removes what killed restores and backups left, and returns the copies of the ledger that are known and exist:
    /// the ledgers that restores kept, and backups.
    ///
    /// # Errors
    /// Fails if the ledger cannot be read.
    pub fn copies(&self) -> BoxFuture<'_, Vec<PathBuf>> {
        Box::pin(async move {
            let Some(file) = &self.0.file else { return Ok(Vec::new()) };
            remove_leftovers(file.path(), &file.backups().await?);
            Ok(file.copies().await?)
        })
    }

    /// Returns the copies of the ledger that have some of the erased content, or cannot be read.
    ///
    /// # Errors
    /// Fails if the ledger cannot be read.
    pub fn copies_with<'a>(&'a self, part: ErasedPart<'a>) -> BoxFuture<'a, Vec<PathBuf>> {
        Box::pin(async move {
            let mut found = Vec::new();
            for path in self.copies().await? {
                if holds(&path, self.0.config.clone(), part).await.unwrap_or(true) {
                    found.push(path);
                }
            }
            Ok(found)
        })
    }
}

/// Returns whether a copy has erased content.
async fn holds(path: &Path, config: Config, part: ErasedPart<'_>) -> Result<bool, Error> {
    let engine = Engine::open_with(path, Access::Read, config).await?;
    match part {
        ErasedPart::Text(text) => Ok(!TextFound::of(&engine, text, &mut |_| {}).await?.is_empty()),
        ErasedPart::Positions(stream, from, to) => {
            let Some(info) = engine.info(stream).await? else { return Ok(false) };
            let session = engine.session_by_id(stream.clone());
            let mut pages = session.pages(from.max(Seq(1)), to.min(info.head));
            while let Some(events) = pages.next().await? {
                if events.iter().any(|event| !stays(event)) {
                    return Ok(true);
                }
            }
            Ok(false)
        }
    }
}

/// Removes the files of restores and backups that were killed. A running restore holds the folder's lock, and a running
/// backup writes into its file again.
fn remove_leftovers(ledger: &Path, backups: &[PathBuf]) {
    let parts = backups.iter().map(|backup| beside(backup, PARTIAL));
    let mut left: Vec<PathBuf> = parts.filter(|partial| !is_fresh(partial)).collect();
    let lock = FolderLock::take(ledger, Duration::ZERO).ok().filter(FolderLock::is_held);
    if lock.is_some() {
        left.extend([RESTORING, KEEPING].map(|suffix| beside(ledger, suffix)));
    }
    for path in left {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let _ = std::fs::remove_file(beside(&path, suffix));
        }
    }
}

/// Time after which a backup that has not grown counts as killed.
const BACKUP_PAUSE: Duration = Duration::from_secs(60);

fn is_fresh(path: &Path) -> bool {
    let modified = path.metadata().and_then(|meta| meta.modified()).ok();
    modified.and_then(|at| at.elapsed().ok()).is_some_and(|since| since < BACKUP_PAUSE)
}
