//! Restores a backup in place of a ledger.
//!
//! A private copy of the backup is examined and upgraded, and content that was erased after the backup was made is
//! erased from the copy, too. Finally, one SQLite transaction replaces the ledger's content. Before the replacement,
//! other writers are locked out and a copy of the old content is kept: every acknowledged event is in that copy, and
//! later writes are rejected, because the file then holds another ledger. If the process is killed, the path holds
//! either the old ledger or the new one. Only a file that is not a readable ledger is moved aside.

use crate::base::error::{Error, file_error};
use crate::base::future::BoxFuture;
use crate::base::lossy;
use crate::import::records::find::{RecordQuery, find_records};
use crate::import::records::lost::LostContent;
use crate::keeping::doctor::examine_all;
use crate::keeping::maintenance::Ledger;
use crate::ledger::engine::{Config, Engine};
use crate::ledger::reading::lineage::native;
use crate::ledger::reading::originals::list_revisions;
use crate::ledger::reading::query_batch::{EVERY, marked};
use crate::ledger::reading::stored::decode_event;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wunderblock_core::event::{EventSource, Fact};
use wunderblock_core::id::{StreamId, TenantId};
use wunderblock_core::units::Seq;
use wunderblock_store::sqlite::place::{FolderLock, KEEPING, beside, folder, place, sync_folder};
use wunderblock_store::sqlite::{Access, KEPT, RESTORING, Replacement, Sqlite, copy_file, only_name, renew};
use wunderblock_store::{Answer, Commit, Erasure, Marked, Query, SourceSpan, StoreError, Write};

/// Maximum time that a restore waits for another restore, or for a ledger that is being created in the folder.
const PATIENCE: Duration = Duration::from_secs(20);
/// Maximum number of times that a restore starts again because content was erased while it was being prepared.
const TRIES: usize = 20;

/// Result of a restore.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Restored {
    /// Path of the old ledger, if a ledger existed.
    #[serde(serialize_with = "lossy::optional_path")]
    pub kept: Option<PathBuf>,
    /// Number of events that were erased after the backup was made and are therefore erased again.
    pub erased_again: u64,
    /// Whether the old ledger was too damaged to list everything that had been erased from it.
    pub erasures_unread: bool,
}

impl Ledger<'_> {
    /// Restores a backup in place of a ledger. The backup is examined first, for every tenant. An existing ledger is
    /// kept beside the restored one, and content that was erased from the existing ledger is erased from the restored
    /// one, too.
    ///
    /// # Errors
    /// Returns an error if the backup is not a ledger, is damaged or comes from a newer program, or if a ledger
    /// exists and `replace` is false. If an error is returned, the existing ledger remains in place.
    pub fn restore<'a>(
        from: &'a Path,
        to: &'a Path,
        replace: bool,
        config: Config,
    ) -> BoxFuture<'a, Restored> {
        Box::pin(async move {
            let restoring = beside(to, RESTORING);
            if same(from, &restoring) {
                let why = format!("`{}` is not a backup: an unfinished restore left it", from.display());
                return Err(Error::Config(why));
            }
            if to.metadata().is_ok_and(|meta| meta.len() > 0) && !replace {
                return Err(Error::Store(StoreError::Exists(to.display().to_string())));
            }
            std::fs::create_dir_all(folder(to)).map_err(|error| file_error(folder(to), &error))?;
            let lock = FolderLock::take(to, PATIENCE).map_err(|_| Error::Store(StoreError::Locked))?;
            // Files of an interrupted restore may still exist.
            remove(&restoring);
            remove(&beside(to, KEEPING));
            let done = restore(from, to, &lock, config).await;
            remove(&restoring);
            remove(&beside(to, KEEPING));
            done
        })
    }
}

async fn restore(from: &Path, to: &Path, lock: &FolderLock, config: Config) -> Result<Restored, Error> {
    let restoring = beside(to, RESTORING);
    // The backup is copied unchanged, and only the copy is upgraded.
    copy_file(from, &restoring)?;
    let new = Engine::with(Sqlite::open(&restoring, Access::Write)?, false, config.clone()).await?;
    let examined = examine_all(&new, &mut |_| {}).await?;
    drop(new);
    if let Some(problem) = examined.problems.iter().find(|problem| !problem.derived) {
        let why = format!("{}: {}: {}", from.display(), problem.rule, problem.detail);
        return Err(Error::Store(StoreError::Damaged(why)));
    }
    match Sqlite::open(to, Access::Read) {
        Ok(opened) => {
            drop(opened);
            only_name(to, lock)?;
            replaced(to, &restoring, &config).await
        }
        Err(error) if is_damage(&error) => set_aside(to, &restoring, Restored::default()),
        Err(StoreError::Missing(_) | StoreError::Unrestored { .. }) => {
            renew(&restoring)?;
            let placed = if to.exists() { over(to, &restoring) } else { place(&restoring, to) };
            placed.map_err(|error| file_error(to, &error))?;
            Ok(Restored::default())
        }
        Err(error) => Err(error.into()),
    }
}

/// Replaces a ledger's content with the content of a prepared ledger.
async fn replaced(to: &Path, restoring: &Path, config: &Config) -> Result<Restored, Error> {
    let mut restored = Restored::default();
    for _ in 0..TRIES {
        let erasures = Erasures::of(to, config).await?;
        restored.erased_again += carry_erasures(&erasures, restoring, config).await?;
        restored.erasures_unread = erasures.unread;
        // The new generation tells processes that have the old ledger open that the file now holds another ledger.
        renew(restoring)?;
        // From here on, no other process can write, and the kept copy contains everything that was written before.
        let replacement = match Replacement::lock(to, restoring) {
            Err(error) if is_damage(&error) => return set_aside(to, restoring, restored),
            replacement => replacement?,
        };
        // Content erased before the lock was taken has not been erased from the prepared ledger yet, so the restore
        // starts again.
        if Erasures::of(to, config).await? != erasures {
            continue;
        }
        match kept(to).await.and_then(|kept| Ok((kept, replacement.finish()?))) {
            Ok((kept, ())) => restored.kept = Some(kept),
            Err(Error::Store(error)) if is_damage(&error) => return set_aside(to, restoring, restored),
            Err(error) => return Err(error),
        }
        return Ok(restored);
    }
    Err(Error::Store(StoreError::Locked))
}

/// Returns whether an error means that the old ledger cannot be read or replaced in place, however often it is tried.
fn is_damage(error: &StoreError) -> bool {
    matches!(error, StoreError::Damaged(_) | StoreError::Foreign(_))
}

/// Moves the old file aside instead of replacing its content.
fn set_aside(to: &Path, restoring: &Path, restored: Restored) -> Result<Restored, Error> {
    renew(restoring)?;
    let kept = moved(to, restoring)?;
    Ok(Restored { kept: Some(kept), erasures_unread: true, ..restored })
}

/// Keeps a copy of the ledger beside it. Returns the path of the copy.
async fn kept(to: &Path) -> Result<PathBuf, Error> {
    let keeping = beside(to, KEEPING);
    Sqlite::open(to, Access::Read)?.backup(&keeping).await?;
    free_name(to, |name| place(&keeping, name))
}

/// Moves a file that is not a ledger aside, and the prepared ledger into its place. Where hard links work, a file
/// exists at the path at all times.
fn moved(to: &Path, restoring: &Path) -> Result<PathBuf, Error> {
    // First, a hard link gives the old file a second name. Without hard links, the path briefly has no file.
    let aside = |from: &Path, name: &Path| match std::fs::hard_link(from, name) {
        Err(error) if !matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {
            std::fs::rename(from, name)
        }
        other => other,
    };
    let kept = free_name(to, |name| aside(to, name))?;
    let log = beside(to, "-wal");
    let linked = if log.exists() { aside(&log, &beside(&kept, "-wal")) } else { Ok(()) };
    linked
        .and_then(|()| sync_folder(to))
        .and_then(|()| over(to, restoring))
        .map_err(|error| file_error(to, &error))?;
    Ok(kept)
}

/// Renames a prepared ledger over a file that is worthless or already has another name.
fn over(to: &Path, restoring: &Path) -> std::io::Result<()> {
    // The log of the old ledger must not remain: SQLite would apply the old log to the new ledger.
    for suffix in ["-wal", "-shm", "-journal"] {
        match std::fs::remove_file(beside(to, suffix)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    std::fs::rename(restoring, to)?;
    sync_folder(to)
}

/// Calls `give` with numbered names for the old ledger until one is free, and returns that name.
fn free_name(to: &Path, give: impl Fn(&Path) -> std::io::Result<()>) -> Result<PathBuf, Error> {
    for number in 1u32.. {
        let name = beside(to, &format!("{KEPT}{number}"));
        match give(&name) {
            Ok(()) => return Ok(name),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(file_error(&name, &error)),
        }
    }
    Err(Error::Store(StoreError::Exists(beside(to, KEPT).display().to_string())))
}

fn remove(path: &Path) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let _ = std::fs::remove_file(beside(path, suffix));
    }
}

fn same(one: &Path, other: &Path) -> bool {
    dunce::canonicalize(one).is_ok_and(|one| dunce::canonicalize(other).is_ok_and(|other| one == other))
}

/// Content of all tenants that was erased from a ledger.
#[derive(Default, PartialEq, Eq)]
struct Erasures {
    ranges: BTreeMap<TenantId, BTreeSet<(StreamId, Seq, Seq)>>,
    /// Erasures that imports must respect, and overwritten bytes of imported files.
    coordinates: BTreeMap<TenantId, Coordinates>,
    /// Copies of the ledger, which later erasures name.
    backups: Vec<PathBuf>,
    /// Whether the ledger is too damaged to list everything.
    unread: bool,
}

/// Erasures of one tenant, in coordinates that are valid for every copy of its ledger.
#[derive(Default, PartialEq, Eq)]
struct Coordinates {
    /// Secret of the tenant: the same in all copies of a ledger, and different in any other ledger.
    key: [u8; 32],
    erasures: Vec<Erasure>,
    spans: Vec<SourceSpan>,
}

impl Erasures {
    async fn of(path: &Path, config: &Config) -> Result<Self, Error> {
        let mut erasures = Self::default();
        let opened = Sqlite::open(path, Access::Read).map_err(Error::Store);
        let engine = match erasures.read(opened)? {
            Some(file) => erasures.read(Engine::with(file, false, config.clone()).await)?,
            None => None,
        };
        let Some(engine) = engine else { return Ok(erasures) };
        if let Some(file) = &engine.file {
            let backups = file.backups().await.map_err(Error::Store);
            erasures.backups = erasures.read(backups)?.unwrap_or_default();
        }
        for engine in erasures.read(engine.every_tenant().await)?.unwrap_or_default() {
            let coordinates = find_coordinates(&engine).await;
            if let Some(coordinates) = erasures.read(coordinates)? {
                erasures.coordinates.insert(engine.config.tenant.clone(), coordinates);
            }
            let streams = engine.every_stream().await;
            for info in erasures.read(streams)?.unwrap_or_default() {
                let ranges = erased_ranges(&engine, &info.id, info.head).await;
                if let Some(ranges) = erasures.read(ranges)? {
                    erasures.ranges.entry(engine.config.tenant.clone()).or_default().extend(ranges);
                }
            }
        }
        Ok(erasures)
    }

    /// Unwraps a result. Damage is noted instead of returned, because a damaged ledger must still be replaceable.
    fn read<T>(&mut self, read: Result<T, Error>) -> Result<Option<T>, Error> {
        match read {
            Ok(read) => Ok(Some(read)),
            // Only a lock or the like ends by itself. Everything else is damage in one form or another: a session
            // without its parent, an invalid id, a record that cannot be decoded.
            Err(Error::Store(
                error @ (StoreError::Locked
                | StoreError::Full
                | StoreError::ReadOnly
                | StoreError::Replaced
                | StoreError::TooNew { .. }
                | StoreError::TooOld { .. }),
            )) => Err(error.into()),
            Err(_) => {
                self.unread = true;
                Ok(None)
            }
        }
    }
}

async fn find_coordinates(engine: &Engine) -> Result<Coordinates, Error> {
    let (tenant, sessions) = (engine.tenant.no, Vec::new());
    let erasures = engine.ask(Query::Erasures { tenant, sessions }, Answer::erasures).await?;
    let mut spans = Vec::new();
    for info in list_revisions(engine).await? {
        let (source, revision) = (info.handle, info.revision.no);
        let ranges = info.revision.erased.into_iter();
        spans.extend(ranges.map(|(offset, end)| SourceSpan { source, revision, offset, len: end - offset }));
    }
    Ok(Coordinates { key: engine.tenant.key, erasures, spans })
}

/// Returns the ranges of a session that were erased according to its receipts.
pub(crate) async fn erased_ranges(
    engine: &Engine,
    stream: &StreamId,
    to: Seq,
) -> Result<Vec<(StreamId, Seq, Seq)>, Error> {
    let what = Marked::Kind("content.erased");
    let rows = engine.ask(marked(engine, stream, what, to, EVERY), Answer::events).await?;
    let mut ranges = Vec::new();
    for row in rows {
        if let Some(Fact::ContentErased(erased)) = decode_event(engine, stream, &row)?.fact {
            ranges.push((stream.clone(), erased.from_seq, erased.to_seq));
        }
    }
    Ok(ranges)
}

/// Erases content of imported files that was erased from the old ledger. Also records the erasures, so that imports
/// do not bring the content back.
async fn forget_again(engine: &Engine, old: &Coordinates) -> Result<(), Error> {
    let Coordinates { erasures, spans, .. } = old;
    if erasures.is_empty() && spans.is_empty() {
        return Ok(());
    }
    let mut spans = spans.clone();
    // The old ledger may never have held a file of the backup. A ledger that never held a file has no erased ranges
    // for it, so the records themselves are searched.
    let wanted = RecordQuery { records: LostContent::of(&old.key, erasures), ..RecordQuery::default() };
    for source in list_revisions(engine).await? {
        spans.extend(find_records(engine, source, wanted.clone()).await?.into_iter().map(|hit| hit.span));
    }
    let write = Write::Erase {
        tenant: engine.tenant.no,
        stream: StreamId::new("restore")?,
        events: Vec::new(),
        spans,
        erasures: erasures.clone(),
    };
    engine.storage.commit(Commit::raw(vec![write])).await?;
    Ok(())
}

async fn erase_again(engine: &Engine, stream: &StreamId, from: Seq, to: Seq) -> Result<u64, Error> {
    match engine.stream(stream).await? {
        Some(info) if from <= info.head => {
            let session = engine.session_by_id(stream.clone());
            Ok(session.erase(from, to, Some("erased before the restore")).await?.events)
        }
        _ => Ok(0),
    }
}

/// Finds positions that have content although events with their ids were erased. Receipts are not sufficient: an old
/// ledger that was itself restored and then lacked the session has no receipt for it.
async fn returning_ranges(
    engine: &Engine,
    erasures: &[Erasure],
) -> Result<Vec<(StreamId, (Seq, Seq))>, Error> {
    let mut found: Vec<(StreamId, (Seq, Seq))> = Vec::new();
    let lost = LostContent::of(&engine.tenant.key, erasures);
    for info in engine.every_stream().await? {
        let Some(lost) = lost.get(native(&info.id)).filter(|lost| lost.has_events()) else {
            continue;
        };
        let session = engine.session_by_id(info.id.clone());
        let from = info.base().next();
        let mut pages = session.pages(from, info.head);
        while let Some(events) = pages.next().await? {
            for event in events.iter().filter(|event| event.fact.is_some()) {
                if matches!(event.source, EventSource::Engine) || !lost.has_event(&event.id) {
                    continue;
                }
                match found.last_mut() {
                    Some((stream, range)) if *stream == info.id && range.1.next() == event.seq => {
                        range.1 = event.seq;
                    }
                    _ => found.push((info.id.clone(), (event.seq, event.seq))),
                }
            }
        }
    }
    Ok(found)
}

/// Erases from a prepared ledger what was erased from the old one. Returns the number of erased events.
async fn carry_erasures(old: &Erasures, new: &Path, config: &Config) -> Result<u64, Error> {
    let known = Erasures::of(new, config).await?;
    let engine = Engine::with(Sqlite::open(new, Access::Write)?, false, config.clone()).await?;
    for path in old.backups.iter().filter_map(|path| path.to_str()) {
        if let Some(file) = &engine.file {
            file.note_backup(path, engine.now()).await?;
        }
    }
    let mut again = 0;
    for engine in engine.every_tenant().await? {
        let tenant = &engine.config.tenant;
        // Coordinates are valid only in copies of the same ledger, which share the tenant's secret.
        let coordinates = old.coordinates.get(tenant).filter(|old| old.key == engine.tenant.key);
        if let Some(old) = coordinates {
            forget_again(&engine, old).await?;
        }
        let has = known.ranges.get(tenant);
        let ranges = old.ranges.get(tenant).into_iter().flatten();
        for (stream, from, to) in ranges.filter(|range| !has.is_some_and(|has| has.contains(range))) {
            again += erase_again(&engine, stream, *from, *to).await?;
        }
        for (stream, (from, to)) in
            returning_ranges(&engine, coordinates.map_or(&[], |old| &old.erasures)).await?
        {
            again += erase_again(&engine, &stream, from, to).await?;
        }
    }
    Ok(again)
}
