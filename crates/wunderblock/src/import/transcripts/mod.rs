//! Importing transcripts: raw bytes go into a source, records become events, and branches become forks.
//!
//! ```text
//! file ─► lines ─► gate ─► look up ─► sessions ─► outbox ─► events of a stream per branch
//!  │      records  until    in the    a place      └──────► chunks (verbatim, for export and proof)
//!  │               the      ledger    for each
//!  └ change, claim session  at once   record                account: what was done with each record
//! ```
//! A file that has already been imported is compared with its stored bytes. If the file grew, the import continues
//! where the last one stopped. If the file was rewritten, it becomes a new revision with separate bytes. Records that
//! are already stored are recognised by their ids, in any file; records without ids are recognised by offset and
//! content. Only one import at a time writes the data of a file; other imports of that file wait.

mod account;
mod batch;
mod feed;
pub(crate) mod files;
mod folder;
mod imported;
pub(crate) mod known;
mod lines;
pub(crate) mod placing;
mod tree;
pub(crate) mod twin;

use crate::base::apart::apart_with;
use crate::base::future::BoxFuture;
use crate::base::parallel::pause;
use crate::ledger::reading::originals::{newest_source, source_handle};
use crate::ledger::reading::query_batch::QueryBatch;
pub(crate) use files::change::is_same;
use files::change::{FileChange, find_change};
use files::claim::{Claim, ToWrite, claim_source, give_back};
pub use folder::{Transcripts, transcripts};
pub use imported::{ImportNotice, Imported, OnBytes};
use placing::take::finish_import;

use crate::base::error::{Error, ImportReason, refused};
use crate::histories::{Place, holds_sessions};
use crate::ledger::engine::Engine;
use crate::limits::{IMPORT_ATTEMPTS, IMPORT_POLL, IMPORT_WAIT, MAX_DOCUMENT};
use feed::{Feed, ReadFile};
use files::opened::{OpenedFile, read_head};
use files::saved::Saved;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;
use wunderblock_store::{
    Answer, Commit, Epoch, Query, SourceBy, SourceFilter, SourceInfo, StoreError, Write,
};
use wunderblock_wire::transcript::{FileShape, Format, Unrecognised, detect};

/// Options of an import.
#[derive(Clone, Copy)]
struct ImportMode {
    format: Option<Format>,
    verify: bool,
}

impl Engine {
    /// Imports one transcript: a file, or a session of several members, named by its own file or by the path of a
    /// database and the session's id. Waits while another import of the same source is running.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is not a transcript, or if the ledger cannot be written.
    pub fn import<'a>(
        &'a self,
        path: &'a Path,
        format: Option<Format>,
        progress: OnBytes<'a>,
    ) -> BoxFuture<'a, Imported> {
        import_apart(self, path, ImportMode { format, verify: false }, progress)
    }
}

/// Imports one transcript file, and compares all of it with the stored bytes.
pub(crate) fn verify_import<'a>(
    engine: &'a Engine,
    path: &'a Path,
    format: Option<Format>,
    progress: OnBytes<'a>,
) -> BoxFuture<'a, Imported> {
    import_apart(engine, path, ImportMode { format, verify: true }, progress)
}

fn import_apart<'a>(
    engine: &'a Engine,
    path: &'a Path,
    how: ImportMode,
    progress: OnBytes<'a>,
) -> BoxFuture<'a, Imported> {
    let (engine, path) = (engine.clone(), path.to_owned());
    Box::pin(async move {
        let mut on_bytes = |(done, total)| {
            progress(done, total);
            ControlFlow::Continue(())
        };
        apart_with(&mut on_bytes, move |teller| async move {
            import_file(&engine, &path, how, &mut |done, total| teller.latest((done, total))).await
        })
        .await
    })
}

async fn import_file(
    engine: &Engine,
    path: &Path,
    how: ImportMode,
    progress: OnBytes<'_>,
) -> Result<Imported, Error> {
    let place = Place::of(&engine.exports, path)?;
    let path = place.key();
    let mut attempts = 0;
    let mut waiting: Option<(u64, Instant)> = None;
    let mut whole = how.verify || how.format.is_some();
    loop {
        let stamp = place.stamp()?;
        let stored = StoredFile::read(engine, &path).await?;
        let old = &stored.old;
        if let Some(old) = old.as_ref().filter(|old| !how.verify && is_same(old, stamp)) {
            return Imported::unchanged(&path, old);
        }
        let mut opened = place.open(engine, (&path, stamp), old.as_ref(), whole).await?;
        match import_once(engine, &mut opened, &stored, how, progress).await {
            Err(Error::Store(StoreError::Held { .. })) => {
                // The wait continues as long as the other import makes progress.
                let len = old.as_ref().map_or(0, |old| old.revision.len);
                let since = waiting.filter(|(before, _)| *before == len).map(|(_, since)| since);
                let since = since.unwrap_or_else(Instant::now);
                waiting = Some((len, since));
                if since.elapsed() > IMPORT_WAIT {
                    return Err(Error::Store(StoreError::Held { until: engine.now() }));
                }
                progress(0, opened.len);
                drop(opened);
                pause(IMPORT_POLL).await?;
            }
            // Another import has done part of the work, or a record was erased, so the rest is checked again.
            Err(Error::Store(
                StoreError::Disowned | StoreError::SourceMoved | StoreError::EpochMoved { .. },
            )) if attempts < IMPORT_ATTEMPTS => {
                attempts += 1;
                whole = true;
            }
            other => return other,
        }
    }
}

/// What the ledger has of a file.
struct StoredFile {
    old: Option<SourceInfo>,
    /// Epoch of the snapshot in which it was read.
    epoch: Epoch,
}

impl StoredFile {
    async fn read(engine: &Engine, path: &Path) -> Result<Self, Error> {
        let (tenant, by) = (engine.tenant.no, SourceBy::Key(path.to_string_lossy().into_owned()));
        let mut batch = QueryBatch::default();
        let old = batch.ask(Query::Source { tenant, by, revision: None }, Answer::source);
        let epoch = batch.ask(Query::Epoch { tenant }, Answer::epoch);
        let mut answers = engine.ask_all(batch).await?;
        Ok(Self { old: answers.take(old)?.map(|info| *info), epoch: answers.take(epoch)? })
    }
}

async fn import_once(
    engine: &Engine,
    opened: &mut OpenedFile<'_>,
    StoredFile { old, epoch }: &StoredFile,
    how: ImportMode,
    progress: OnBytes<'_>,
) -> Result<Imported, Error> {
    let (path, old, epoch) = (opened.path, old.as_ref(), *epoch);
    let change = match old {
        Some(old) => find_change(engine, old, opened, how.verify).await?,
        None => FileChange::Rewritten,
    };
    if let Some(old) = old.filter(|_| change == FileChange::None) {
        note_time(engine, old, epoch, opened).await?;
        return Imported::unchanged(path, old);
    }
    let head = if opened.continues() { Vec::new() } else { read_head(&mut opened.file, path)? };
    let known = old.filter(|_| opened.continues()).and_then(|old| Format::from_name(&old.revision.format));
    let format = match how.format.or(known) {
        Some(format) => format,
        None => detect(&opened.name, &head).map_err(|no| unrecognised(path, &no))?,
    };
    let is_document = format.shape(&head) == FileShape::Document;
    if is_document && opened.len > MAX_DOCUMENT {
        let len = opened.len;
        let why = format!(
            "the document has {len} bytes, the maximum is {MAX_DOCUMENT}, because documents are read whole; convert it to JSON lines, which have no limit"
        );
        return Err(refused(path, &why));
    }
    // Another format yields different records, so the old revision keeps its records.
    let grown = old.filter(|old| change == FileChange::Grown && old.revision.format == format.name());
    let newest = old.map_or(0, |old| old.revision.no);
    let grow = grown.map(|old| (old.revision.no, old.revision.len));
    let claim = claim_source(
        engine,
        ToWrite { path, format: format.name(), grow, newest, locked: opened.locked, epoch },
    )
    .await?;
    let saved = grown.and_then(|old| old.revision.reader.as_deref()).and_then(Saved::decode);
    let mut feed = {
        let (path, name, handle) = (path.to_owned(), opened.name.clone(), source_handle(engine, path));
        Feed::begin(engine, ReadFile { path, name, format, handle, is_document }, claim)
    };
    let done = match is_document {
        true => lines::document(&mut feed, opened).await,
        false => lines::lines(&mut feed, opened, saved, progress).await,
    };
    let done = match done {
        Ok(saved) => finish_import(&mut feed, saved, opened.stamp.modified).await,
        Err(error) => Err(error),
    };
    if done.is_err() {
        give_back(engine, &feed.outbox.claim).await;
    }
    let imported = done?;
    progress(opened.len, opened.len);
    Ok(imported)
}

/// Records the modification time of a file that was compared completely and is unchanged, so that the next import
/// does not have to compare it.
async fn note_time(
    engine: &Engine,
    old: &SourceInfo,
    epoch: Epoch,
    opened: &OpenedFile<'_>,
) -> Result<(), Error> {
    let modified = opened.stamp.modified;
    if modified.is_none() || modified == old.revision.modified || old.revision.owner.is_some() {
        return Ok(());
    }
    let revision = &old.revision;
    let grow = Some((revision.no, revision.len));
    let again = ToWrite {
        path: opened.path,
        format: &revision.format,
        grow,
        newest: revision.no,
        locked: false,
        epoch,
    };
    // Without the time, the next import only has to compare the file again.
    let Ok(claim) = claim_source(engine, again).await else {
        return Ok(());
    };
    let Claim { source, revision: number, token, .. } = claim;
    let reader = revision.reader.clone();
    let write = Write::Whole { source, revision: number, token: token.clone(), modified, reader, leaf: None };
    match engine.storage.commit(Commit::derived(epoch, vec![write])).await {
        Err(StoreError::EpochMoved { .. }) => {
            give_back(engine, &Claim { source, revision: number, token, len: 0, epoch }).await;
            Ok(())
        }
        done => done.map(drop).map_err(Error::from),
    }
}

/// Returns whether a file was imported into the ledger, by any tenant: the file itself, or sessions in the database or the
/// export that it is. `false` for a path that does not exist.
///
/// # Errors
/// Returns an error if the ledger cannot be read.
pub fn was_imported<'a>(engine: &'a Engine, path: &'a Path) -> BoxFuture<'a, bool> {
    Box::pin(async move {
        let Ok(path) = dunce::canonicalize(path) else { return Ok(false) };
        let has_members = holds_sessions(&path);
        for engine in engine.every_tenant().await? {
            if newest_source(&engine, &path).await?.is_some() {
                return Ok(true);
            }
            if has_members {
                let query = Query::Sources { tenant: engine.tenant.no, filter: SourceFilter::default() };
                let all = engine.ask(query, Answer::sources).await?;
                if all.iter().any(|source| Path::new(&*source.key).parent() == Some(&path)) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    })
}

fn unrecognised(path: &Path, why: &Unrecognised) -> Error {
    let reason = ImportReason::NotATranscript;
    Error::Import { path: path.display().to_string(), reason, why: why.to_string() }
}
