//! Putting a backup in a ledger's place.
//!
//! A private copy of the backup is examined, upgraded and made to forget what was erased since. Then the ledger's content
//! is replaced in one transaction of SQLite, after a copy of it was kept, and with writers locked out from before that
//! copy: what was acknowledged is in the copy, and what comes later is refused, because it is another ledger. A kill at
//! any moment leaves the old ledger at the path or the new one. Only a file that is no ledger any more is moved instead.

use crate::doctor::examine_all;
use crate::engine::{Config, Engine};
use crate::erase::native;
use crate::error::{Error, file_error};
use crate::future::BoxFuture;
use crate::imported_records::{Lost, RecordQuery, find_records};
use crate::maintenance::Ledger;
use crate::originals::list_revisions;
use crate::query_batch::{EVERY, marked};
use crate::report::lossy;
use crate::store::sqlite::place::{FolderLock, beside, folder, place, sync_folder};
use crate::store::sqlite::{Access, KEPT, RESTORING, Replacement, Sqlite, copy_file, renew};
use crate::store::{Answer, Erasure, Marked, Query, SourceSpan, StoreError, Write};
use crate::stored::decode_event;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wunderblock_core::event::{EventSource, Fact};
use wunderblock_core::id::{StreamId, TenantId};
use wunderblock_core::units::Seq;

/// What a restore adds to a ledger's name for the copy of what was there, until that is whole.
const KEEPING: &str = ".keeping";
/// How long a restore waits for another one, or for a ledger that is being created in the folder.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often a restore begins again because something was erased while it was being prepared.
const TRIES: usize = 20;

/// What a restore did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Restored {
    /// Where the ledger is that was there before.
    #[serde(serialize_with = "lossy::optional_path")]
    pub kept: Option<PathBuf>,
    /// Events that were erased again, because they had been erased since the backup was made.
    pub erased_again: u64,
    /// Whether the ledger that was there could not tell all that had been erased from it, because it was damaged.
    pub erasures_unread: bool,
}

impl Ledger<'_> {
    /// Puts a backup in a ledger's place. It is examined first, for every tenant. A ledger that is there is kept beside
    /// it, and what was erased from that one is erased from the restored one, too.
    ///
    /// # Errors
    /// When the backup is no ledger, damaged or from a newer program, or a ledger is there and `replace` is not given.
    /// Then the ledger that was there is still there.
    pub fn restore<'a>(
        from: &'a Path,
        to: &'a Path,
        replace: bool,
        config: Config,
    ) -> BoxFuture<'a, Restored> {
        Box::pin(async move {
            let restoring = beside(to, RESTORING);
            if same(from, &restoring) {
                let why = format!("{} is what an unfinished restore left, not a backup", from.display());
                return Err(Error::Config(why));
            }
            if to.metadata().is_ok_and(|meta| meta.len() > 0) && !replace {
                return Err(Error::Store(StoreError::Exists(to.display().to_string())));
            }
            std::fs::create_dir_all(folder(to)).map_err(|error| file_error(folder(to), &error))?;
            let _lock = FolderLock::take(to, PATIENCE).map_err(|_| Error::Store(StoreError::Locked))?;
            remove(&restoring);
            remove(&beside(to, KEEPING));
            let done = restore(from, to, config).await;
            remove(&restoring);
            remove(&beside(to, KEEPING));
            done
        })
    }
}

async fn restore(from: &Path, to: &Path, config: Config) -> Result<Restored, Error> {
    let restoring = beside(to, RESTORING);
    // As it is: a backup of an older format is upgraded in the copy only.
    copy_file(from, &restoring)?;
    let new = Engine::with(Sqlite::open(&restoring, Access::Write)?, false, config.clone()).await?;
    let examined = examine_all(&new, &mut |_| {}).await?;
    drop(new);
    if let Some(problem) = examined.problems.iter().find(|problem| !problem.derived) {
        let why = format!("{}: {}: {}", from.display(), problem.rule, problem.detail);
        return Err(Error::Store(StoreError::Damaged(why)));
    }
    match Sqlite::open(to, Access::Read) {
        Ok(_) => replaced(to, &restoring, &config).await,
        Err(StoreError::Damaged(_) | StoreError::Foreign(_)) => {
            renew(&restoring)?;
            let kept = moved(to, &restoring)?;
            Ok(Restored { kept: Some(kept), erasures_unread: true, ..Restored::default() })
        }
        Err(StoreError::Missing(_) | StoreError::Unrestored { .. }) => {
            renew(&restoring)?;
            let placed = if to.exists() { over(to, &restoring) } else { place(&restoring, to) };
            placed.map_err(|error| file_error(to, &error))?;
            Ok(Restored::default())
        }
        Err(error) => Err(error.into()),
    }
}

/// Replaces a ledger's content by that of a prepared one.
async fn replaced(to: &Path, restoring: &Path, config: &Config) -> Result<Restored, Error> {
    let mut restored = Restored::default();
    for _ in 0..TRIES {
        let erasures = Erasures::of(to, config).await?;
        restored.erased_again += carry_erasures(&erasures, restoring, config).await?;
        restored.erasures_unread = erasures.unread;
        renew(restoring)?;
        // From here on nobody else writes, and what they wrote before is in the copy that is kept.
        let replacement = Replacement::lock(to, restoring)?;
        if Erasures::of(to, config).await? != erasures {
            continue;
        }
        restored.kept = Some(kept(to).await?);
        replacement.finish()?;
        return Ok(restored);
    }
    Err(Error::Store(StoreError::Locked))
}

/// Keeps a copy of the ledger beside it. Answers where.
async fn kept(to: &Path) -> Result<PathBuf, Error> {
    let keeping = beside(to, KEEPING);
    Sqlite::open(to, Access::Read)?.backup(&keeping).await?;
    free_name(to, |name| place(&keeping, name))
}

/// Moves what is no ledger aside, and a prepared one in its place. At each instant the old file is there or the new one.
fn moved(to: &Path, restoring: &Path) -> Result<PathBuf, Error> {
    // A second name first. Where files have one name only, there is an instant without any.
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

/// Gives a prepared ledger the name of a file that is worth nothing, or has another name by now.
fn over(to: &Path, restoring: &Path) -> std::io::Result<()> {
    // The new ledger must not find the old one's log: SQLite would take it for its own.
    for suffix in ["-wal", "-shm", "-journal"] {
        match std::fs::remove_file(beside(to, suffix)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    std::fs::rename(restoring, to)?;
    sync_folder(to)
}

/// Gives something the first free name for a ledger that was there before.
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
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// What was erased from a ledger, of every tenant.
#[derive(Default, PartialEq, Eq)]
struct Erasures {
    ranges: BTreeMap<TenantId, BTreeSet<(StreamId, Seq, Seq)>>,
    /// What is not to come back by an import, and what of imported files was overwritten.
    coordinates: BTreeMap<TenantId, Coordinates>,
    /// Whether the ledger is too damaged to tell all.
    unread: bool,
}

/// What one tenant has erased, in places that hold for every copy of its ledger.
#[derive(Default, PartialEq, Eq)]
struct Coordinates {
    /// The secret of the tenant: the same in copies of one ledger, and in no other.
    key: [u8; 32],
    erasures: Vec<Erasure>,
    spans: Vec<SourceSpan>,
}

impl Erasures {
    async fn of(path: &Path, config: &Config) -> Result<Self, Error> {
        let engine = Engine::with(Sqlite::open(path, Access::Read)?, false, config.clone()).await?;
        let mut erasures = Self::default();
        for engine in erasures.read(engine.every_tenant().await)?.unwrap_or_default() {
            let coordinates = find_coordinates(&engine).await;
            if let Some(coordinates) = erasures.read(coordinates)? {
                erasures.coordinates.insert(engine.config.tenant.clone(), coordinates);
            }
            let streams = engine.streams("", u64::from(u32::MAX)).await;
            for info in erasures.read(streams)?.unwrap_or_default() {
                let ranges = erased_ranges(&engine, &info.id, info.head).await;
                if let Some(ranges) = erasures.read(ranges)? {
                    erasures.ranges.entry(engine.config.tenant.clone()).or_default().extend(ranges);
                }
            }
        }
        Ok(erasures)
    }

    /// What cannot be read of a damaged ledger must not keep it from being replaced.
    fn read<T>(&mut self, read: Result<T, Error>) -> Result<Option<T>, Error> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(Error::Store(StoreError::Damaged(_)) | Error::Codec(_)) => {
                self.unread = true;
                Ok(None)
            }
            Err(error) => Err(error),
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

/// The ranges a session has receipts for.
async fn erased_ranges(
    engine: &Engine,
    stream: &StreamId,
    to: Seq,
) -> Result<Vec<(StreamId, Seq, Seq)>, Error> {
    let what = Marked::Kind("content.erased");
    let rows = engine.ask(marked(engine, stream, what, (to, EVERY)), Answer::events).await?;
    let mut ranges = Vec::new();
    for row in rows {
        if let Some(Fact::ContentErased(erased)) = decode_event(engine, stream, &row)?.fact {
            ranges.push((stream.clone(), erased.from_seq, erased.to_seq));
        }
    }
    Ok(ranges)
}

/// Erases what was erased of imported files from a copy of the ledger, and keeps it from coming back.
async fn forget_again(engine: &Engine, old: &Coordinates) -> Result<(), Error> {
    let Coordinates { erasures, spans, .. } = old;
    if erasures.is_empty() && spans.is_empty() {
        return Ok(());
    }
    let mut spans = spans.clone();
    // The ledger that is replaced may have had no such file: then it knows no ranges of it.
    let wanted = RecordQuery { records: Lost::by_session(erasures), ..RecordQuery::default() };
    for source in list_revisions(engine).await? {
        spans.extend(find_records(engine, source, wanted.clone()).await?.into_iter().map(|hit| hit.span));
    }
    let write = Write::Erase {
        tenant: engine.tenant.no,
        stream: StreamId::new("restore")?,
        seqs: Vec::new(),
        spans,
        erasures: erasures.clone(),
    };
    engine.storage.commit(vec![write]).await?;
    Ok(())
}

async fn erase_again(engine: &Engine, stream: &StreamId, (from, to): (Seq, Seq)) -> Result<u64, Error> {
    match engine.info(stream).await? {
        Some(info) if from <= info.head => {
            let session = engine.session_by_id(stream.clone());
            Ok(session.erase(from, to, Some("erased before the restore")).await?.events)
        }
        _ => Ok(0),
    }
}

/// Positions whose content is here and was erased, by the ids of events. Receipts do not say all: a ledger that was
/// restored in between, and had no such session, has none of it.
async fn returning_ranges(
    engine: &Engine,
    erasures: &[Erasure],
) -> Result<Vec<(StreamId, (Seq, Seq))>, Error> {
    let mut found: Vec<(StreamId, (Seq, Seq))> = Vec::new();
    let lost = Lost::by_session(erasures);
    for info in engine.streams("", u64::from(u32::MAX)).await? {
        let Some(lost) = lost.get(native(&info.id)).filter(|lost| !lost.events.is_empty()) else {
            continue;
        };
        let session = engine.session_by_id(info.id.clone());
        let from = info.fork.as_ref().map_or(Seq(1), |(_, base)| base.next());
        let mut pages = session.pages(from, info.head);
        while let Some(events) = pages.next().await? {
            for event in events.iter().filter(|event| event.fact.is_some()) {
                if matches!(event.source, EventSource::Engine) || !lost.events.contains(event.id.as_str()) {
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

/// Erases from a prepared ledger what was erased from the one it replaces. Answers how many events.
async fn carry_erasures(old: &Erasures, new: &Path, config: &Config) -> Result<u64, Error> {
    let known = Erasures::of(new, config).await?;
    let engine = Engine::with(Sqlite::open(new, Access::Write)?, false, config.clone()).await?;
    let mut again = 0;
    for engine in engine.every_tenant().await? {
        let tenant = &engine.config.tenant;
        let coordinates = old.coordinates.get(tenant).filter(|old| old.key == engine.tenant.key);
        if let Some(old) = coordinates {
            forget_again(&engine, old).await?;
        }
        let has = known.ranges.get(tenant);
        let ranges = old.ranges.get(tenant).into_iter().flatten();
        for (stream, from, to) in ranges.filter(|range| !has.is_some_and(|has| has.contains(range))) {
            again += erase_again(&engine, stream, (*from, *to)).await?;
        }
        for (stream, range) in returning_ranges(&engine, coordinates.map_or(&[], |old| &old.erasures)).await?
        {
            again += erase_again(&engine, &stream, range).await?;
        }
    }
    Ok(again)
}
