//! Copies of a ledger in other files, which an erasure in the ledger does not change.

use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::keeping::erase::{TextFound, has_content};
use crate::keeping::maintenance::Ledger;
use crate::keeping::restore::erased_ranges;
use crate::ledger::engine::Engine;
use crate::ledger::reading::lineage::{Streams, own_streams};
use crate::ledger::reading::query_batch::NEWEST;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wunderblock_core::id::StreamId;
use wunderblock_core::units::Seq;
use wunderblock_store::sqlite::Access;
use wunderblock_store::sqlite::place::{
    FolderLock, KEEPING, PARTIAL, RESTORING, beside, has_current_header, remove_ours,
};

/// Content that was erased from a ledger, to be looked for in its copies.
#[derive(Clone, Copy, Debug)]
pub enum ErasedPart<'a> {
    /// A session with its branches.
    Session(&'a StreamId),
    /// Positions of a session.
    Positions(&'a StreamId, Seq, Seq),
    /// The documents at a path.
    Documents(&'a Path),
    /// An exact text.
    Text(&'a str),
}

/// Positions of a stream.
type Place = (StreamId, Seq, Seq);

/// Content to be looked for in a copy.
enum Wanted<'a> {
    Places(Vec<Place>),
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

    /// Returns the copies of the ledger that have some of the erased content, or cannot be read as they are.
    ///
    /// # Errors
    /// Fails if the ledger cannot be read.
    pub fn copies_with<'a>(&'a self, part: ErasedPart<'a>) -> BoxFuture<'a, Vec<PathBuf>> {
        Box::pin(async move {
            let copies = self.copies().await?;
            if copies.is_empty() {
                return Ok(copies);
            }
            let streams = self.0.every_stream().await?;
            let wanted = match part {
                ErasedPart::Text(text) => Wanted::Text(text),
                ErasedPart::Documents(path) => {
                    let known = self.0.documents().at(path).await?;
                    let whole = known.iter().map(|document| (document.stream().clone(), Seq(1), NEWEST));
                    Wanted::Places(whole.collect())
                }
                ErasedPart::Session(id) => {
                    let all = Streams::new(&streams);
                    let first = |id: &StreamId| all.get(id).map_or(Seq(1), |info| info.base().next());
                    let own = own_streams(id, &streams).into_iter();
                    Wanted::Places(
                        own.map(|id| (first(&id), id)).map(|(from, id)| (id, from, NEWEST)).collect(),
                    )
                }
                ErasedPart::Positions(id, from, to) => {
                    Wanted::Places(places(&Streams::new(&streams), id, from, to))
                }
            };
            copies_holding(self.0, copies, &wanted).await
        })
    }

    /// Returns the copies of the ledger that have some of the content that any erasure removed, or cannot be read as
    /// they are.
    ///
    /// # Errors
    /// Fails if the ledger cannot be read.
    pub(crate) async fn outdated_copies(&self) -> Result<Vec<PathBuf>, Error> {
        let Some(file) = &self.0.file else { return Ok(Vec::new()) };
        let copies = file.copies().await?;
        if copies.is_empty() {
            return Ok(copies);
        }
        let streams = self.0.every_stream().await?;
        let (all, mut erased) = (Streams::new(&streams), Vec::new());
        for info in &streams {
            for (id, from, to) in erased_ranges(self.0, &info.id, info.head).await? {
                erased.extend(places(&all, &id, from, to));
            }
        }
        copies_holding(self.0, copies, &Wanted::Places(erased)).await
    }

    /// Returns whether another ledger is a copy of this one, so that a position means the same in both.
    #[must_use]
    pub fn has_copy(&self, other: &Engine) -> bool {
        self.0.tenant.key == other.tenant.key
    }
}

/// Returns the positions of a session by the streams that hold them.
fn places(all: &Streams<'_>, id: &StreamId, from: Seq, to: Seq) -> Vec<Place> {
    let line = all.get(id).map(|info| all.line(info, from)).unwrap_or_default();
    let parts =
        line.into_iter().map(|(holder, first, last)| (holder.id.clone(), from.max(first), to.min(last)));
    parts.filter(|(_, from, to)| from <= to).collect()
}

/// Returns the copies that have some of the content, or cannot be read as they are.
async fn copies_holding(
    engine: &Engine,
    copies: Vec<PathBuf>,
    wanted: &Wanted<'_>,
) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for path in copies {
        if holds(&path, engine, wanted).await.unwrap_or(true) {
            found.push(path);
        }
    }
    Ok(found)
}

/// Returns whether a copy has some of the content. Another ledger under the copy's name has none.
async fn holds(path: &Path, original: &Engine, wanted: &Wanted<'_>) -> Result<bool, Error> {
    // Opening a copy of an older format would upgrade it.
    if !has_current_header(path) {
        return Ok(true);
    }
    let engine = Engine::open_with(path, Access::Read, original.config.clone()).await?;
    if !original.ledger().has_copy(&engine) {
        return Ok(false);
    }
    let places = match wanted {
        Wanted::Text(text) => return Ok(!TextFound::of(&engine, text, &mut |_| {}).await?.is_empty()),
        Wanted::Places(places) => places,
    };
    for (stream, from, to) in places {
        let Some(info) = engine.stream(stream).await? else { continue };
        let session = engine.session_by_id(stream.clone());
        let mut pages = session.pages((*from).max(Seq(1)), (*to).min(info.head));
        while let Some(events) = pages.next().await? {
            if events.iter().any(has_content) {
                return Ok(true);
            }
        }
    }
    Ok(false)
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
    left.iter().for_each(|path| remove_ours(path));
}

/// Time after which a backup that has not grown counts as killed.
const BACKUP_PAUSE: Duration = Duration::from_secs(60);

fn is_fresh(path: &Path) -> bool {
    let modified = path.metadata().and_then(|meta| meta.modified()).ok();
    modified.and_then(|at| at.elapsed().ok()).is_some_and(|since| since < BACKUP_PAUSE)
}
