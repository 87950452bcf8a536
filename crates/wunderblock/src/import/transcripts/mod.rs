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
pub use imported::{ImportNotice, Imported, OnBytes};
use placing::take::finish_import;

use crate::base::error::{Error, ImportReason, file_error, refused};
use crate::histories::listed::{list, list_path};
use crate::histories::member::HistoryFile;
use crate::histories::tree::is_storage;
use crate::histories::{Place, holds_sessions};
use crate::ledger::engine::{Engine, unexpected};
use crate::limits::{IMPORT_ATTEMPTS, IMPORT_POLL, IMPORT_WAIT, MAX_DOCUMENT};
use feed::{Feed, ReadFile};
use files::opened::{OpenedFile, read_head};
use files::saved::Saved;
use std::fs::Metadata;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
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
            return unchanged_import(&path, old);
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
        return unchanged_import(path, old);
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

fn unchanged_import(path: &Path, old: &SourceInfo) -> Result<Imported, Error> {
    let format = Format::from_name(&old.revision.format);
    Ok(Imported {
        sessions: old.revision.leaf.clone().into_iter().collect(),
        bytes: old.revision.len,
        unchanged: true,
        ..Imported::of(path, format.ok_or_else(|| refused(path, "the format of its last import is unknown"))?)
    })
}

/// Transcripts in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcripts {
    /// Files that may be transcripts, and sessions of several members, sorted by path.
    pub files: Vec<HistoryFile>,
    /// Symbolic links to folders, and to files with a transcript's name. Links are not followed, because they may
    /// lead anywhere.
    pub links: Vec<PathBuf>,
}

/// Maximum number of files per query. One query per file took up two thirds of the time of an import of 10,000
/// unchanged files.
const TOGETHER: usize = 256;

impl Transcripts {
    /// Returns the outcome that an import would have for each file that has not changed since its last import, and
    /// `None` for the other files.
    ///
    /// # Errors
    /// Fails if the ledger cannot be read.
    pub fn unchanged<'a>(&'a self, engine: &'a Engine) -> BoxFuture<'a, Vec<Option<Imported>>> {
        Box::pin(async move {
            let mut all = Vec::with_capacity(self.files.len());
            let mut folder: Option<(&Path, PathBuf)> = None;
            for files in self.files.chunks(TOGETHER) {
                let mut paths = Vec::with_capacity(files.len());
                for HistoryFile { path: file, .. } in files {
                    // A listed file is not a link, so only the path of its folder has to be resolved.
                    let parent = file.parent().unwrap_or(file);
                    if folder.as_ref().is_none_or(|(known, _)| *known != parent) {
                        folder = dunce::canonicalize(parent).ok().map(|path| (parent, path));
                    }
                    paths.push(
                        folder.as_ref().zip(file.file_name()).map(|((_, folder), name)| folder.join(name)),
                    );
                }
                let keys =
                    paths.iter().map(|path| path.as_deref().unwrap_or(Path::new("")).to_string_lossy());
                let query = |key: std::borrow::Cow<'_, str>| {
                    let by = SourceBy::Key(key.into_owned());
                    Query::Source { tenant: engine.tenant.no, by, revision: None }
                };
                let answers = engine.storage.query(keys.map(query).collect()).await?;
                for ((path, file), answer) in paths.iter().zip(files).zip(answers) {
                    let info = answer.source().ok_or_else(unexpected)?;
                    let same = |(path, info): (&PathBuf, Box<SourceInfo>)| {
                        is_same(&info, file.stamp).then(|| unchanged_import(path, &info).ok()).flatten()
                    };
                    all.push(path.as_ref().zip(info).and_then(same));
                }
            }
            Ok(all)
        })
    }
}

/// Finds files under a folder that may be transcripts: JSON, JSON lines, and aider's Markdown history; and sessions of
/// several members, in OpenCode's storage, in databases and in exports. A path that is not a folder is the only file, or
/// the database or export, in which transcripts are sought.
///
/// # Errors
/// Fails if the path cannot be read, or if it is a database without sessions of a known agent.
pub fn transcripts(folder: &Path) -> Result<Transcripts, Error> {
    let mut found = Transcripts::default();
    if !folder.is_dir() {
        return Ok(Transcripts { files: list_path(folder)?, links: Vec::new() });
    }
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        // The other folders of OpenCode's storage hold the members of these sessions.
        let next = if is_storage(&next) { next.join("session") } else { next };
        let entries = std::fs::read_dir(&next).map_err(|error| file_error(&next, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| file_error(&next, &error))?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(|error| file_error(&next, &error))?);
            let name = entry.file_name().to_string_lossy().into_owned();
            if kind.is_dir() {
                folders.push(path);
                continue;
            }
            let is_named_so = [".jsonl", ".ndjson", ".json", ".traj", ".db", ".vscdb"]
                .iter()
                .any(|end| name.ends_with(end))
                || name.contains("chat.history");
            if kind.is_file() && is_named_so {
                let meta = entry.metadata().map_err(|error| file_error(&path, &error))?;
                found.files.extend(listed_in_folder(&path, &meta)?);
            } else if kind.is_symlink() && (is_named_so || path.is_dir()) {
                found.links.push(path);
            }
        }
    }
    found.files.sort();
    found.links.sort();
    Ok(found)
}

/// Lists the sources that a file in a folder contains. A database of another program is not a failure.
fn listed_in_folder(path: &Path, meta: &Metadata) -> Result<Vec<HistoryFile>, Error> {
    match list(path, meta) {
        Err(Error::Import { reason: ImportReason::NotATranscript, .. }) => Ok(Vec::new()),
        other => other,
    }
}

fn unrecognised(path: &Path, why: &Unrecognised) -> Error {
    let reason = ImportReason::NotATranscript;
    Error::Import { path: path.display().to_string(), reason, why: why.to_string() }
}
