//! Brings the documents of files and folders up to date.

use super::known::{KnownDocument, documents_at};
use super::version::{ReadDocument, Version, is_conflict, remove, store};
use crate::base::error::Error;
use crate::base::parallel;
use crate::base::progress::Progress;
use crate::histories::stamp::Stamp;
use crate::import::transcripts::is_same;
use crate::ledger::engine::Engine;
use crate::ledger::reading::originals::copy_source;
use crate::limits::{DOCUMENT_BATCH, DOCUMENT_BATCH_BYTES, MAX_SKIPPED};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use wunderblock_core::id::Scope;
use wunderblock_core::units::Millis;
use wunderblock_sources::documents::{FolderFiles, MAX_DOCUMENTS, NotADocument, read_file, text_of};

/// Number of files after which progress is told. The work waits until the caller has seen it.
const TOLD: u64 = 32;

/// Number of times that files are read which another process stores at the same time.
const ATTEMPTS: usize = 3;

/// What indexing files and folders did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IndexedDocuments {
    /// Number of documents that are new.
    pub new: u64,
    /// Number of documents with a new version.
    pub changed: u64,
    /// Number of documents whose files are as they were.
    pub unchanged: u64,
    /// Number of documents whose files are gone, are ignored now, or have no text any more.
    pub removed: u64,
    /// Number of files that are as they were when their documents were erased. They are not added again.
    pub erased: u64,
    /// Number of sections that were stored.
    pub sections: u64,
    /// Number of files that are not documents, by the kind of the reason: `png`, `empty`, `link`, `encrypted PDF`.
    pub skipped: BTreeMap<String, u64>,
    /// Skipped files that should have had text; at most 50.
    pub problems: Vec<SkippedDocument>,
}

/// File that was skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkippedDocument {
    /// Path of the file; empty if it is not known.
    pub path: PathBuf,
    /// Reason in words that follow the path.
    pub why: String,
}

/// Files that are being indexed.
pub(super) struct Indexing<'e> {
    engine: &'e Engine,
    scope: Scope,
    progress: &'e mut (dyn FnMut(Progress) + Send),
    done: u64,
    total: u64,
    /// Path whose files are being indexed.
    root: PathBuf,
    /// Documents of the scope below the root that were not met yet.
    known: HashMap<PathBuf, KnownDocument>,
    gone: Vec<KnownDocument>,
    report: IndexedDocuments,
}

impl<'e> Indexing<'e> {
    pub(super) fn new(
        engine: &'e Engine,
        scope: Scope,
        progress: &'e mut (dyn FnMut(Progress) + Send),
    ) -> Self {
        let (known, gone, report) = (HashMap::new(), Vec::new(), IndexedDocuments::default());
        Self { engine, scope, progress, done: 0, total: 0, root: PathBuf::new(), known, gone, report }
    }

    /// Indexes everything at some resolved paths.
    pub(super) async fn run(mut self, roots: &[PathBuf]) -> Result<IndexedDocuments, Error> {
        self.total = roots.iter().map(|root| FolderFiles::of(root).count() as u64).sum();
        for root in roots {
            self.root(root).await?;
        }
        Ok(self.report)
    }

    async fn root(&mut self, root: &Path) -> Result<(), Error> {
        self.root = root.to_owned();
        self.known = self.known_now().await?;
        let (mut batch, mut size, mut files, mut is_whole) = (Vec::new(), 0, 0, true);
        for found in FolderFiles::of(root) {
            self.done += 1;
            if self.done.is_multiple_of(TOLD) || self.done == self.total {
                (self.progress)(Progress { done: self.done, total: self.total.max(self.done) });
            }
            files += u64::from(found.is_ok());
            match found {
                Ok(path) if files > MAX_DOCUMENTS => self.skip(&path, &NotADocument::TooMany, None),
                Ok(path) => {
                    let known = self.known.remove(&path);
                    let stamp = path.symlink_metadata().map(|meta| Stamp::of(&meta)).ok();
                    match known {
                        Some(known)
                            if known.is_current()
                                && stamp.is_some_and(|stamp| is_same(&known.source, stamp)) =>
                        {
                            self.keep(&known);
                        }
                        known => {
                            size += stamp.and_then(|stamp| stamp.len).unwrap_or_default();
                            batch.push((path, known));
                        }
                    }
                }
                Err((path, why)) => {
                    // What is below a folder that cannot be read may still be there.
                    is_whole &= !why.is_passing();
                    let known = path.as_ref().and_then(|path| self.known.remove(path));
                    self.skip(&path.unwrap_or_default(), &why, known);
                }
            }
            if batch.len() >= DOCUMENT_BATCH || size >= DOCUMENT_BATCH_BYTES {
                self.batch(std::mem::take(&mut batch)).await?;
                size = 0;
            }
        }
        self.batch(batch).await?;
        if files > MAX_DOCUMENTS {
            self.problem(root, &NotADocument::TooMany);
        }
        let left = std::mem::take(&mut self.known).into_values();
        // A file below a folder that may not be entered is not known to be gone.
        let is_gone =
            |document: &KnownDocument| is_whole && files <= MAX_DOCUMENTS || is_absent(&document.path);
        self.gone.extend(left.filter(|document| document.is_current() && is_gone(document)));
        self.report.removed += self.gone.len() as u64;
        remove(self.engine, &std::mem::take(&mut self.gone)).await
    }

    /// Returns the documents of the scope below the current root.
    async fn known_now(&mut self) -> Result<HashMap<PathBuf, KnownDocument>, Error> {
        let mut known = documents_at(self.engine, &self.root).await?;
        known.retain(|document| document.name.is_of(self.engine, &self.scope));
        Ok(known.into_iter().map(|document| (document.path.clone(), document)).collect())
    }

    /// Counts a document whose file is as it was.
    fn keep(&mut self, known: &KnownDocument) {
        let is_there = known.is_current() && !known.is_erased();
        *(if is_there { &mut self.report.unchanged } else { &mut self.report.erased }) += 1;
    }

    /// Counts a file that is not a document. One that was is removed, unless the file may be readable later.
    fn skip(&mut self, path: &Path, why: &NotADocument, known: Option<KnownDocument>) {
        *self.report.skipped.entry(why.kind().to_owned()).or_default() += 1;
        // A person who names a file wants to know what is wrong with it.
        if why.is_surprising() || path == self.root {
            self.problem(path, why);
        }
        self.gone.extend(known.filter(|known| known.is_current() && !why.is_passing()));
    }

    /// Names a file that was skipped.
    fn problem(&mut self, path: &Path, why: &NotADocument) {
        if self.report.problems.len() < MAX_SKIPPED {
            self.report.problems.push(SkippedDocument { path: path.to_owned(), why: why.to_string() });
        }
    }

    /// Reads files, and stores those that are new or have changed. If another process has stored some meanwhile, these
    /// are compared with what it has stored.
    async fn batch(&mut self, mut batch: Vec<(PathBuf, Option<KnownDocument>)>) -> Result<(), Error> {
        for _ in 0..ATTEMPTS {
            let overtaken = self.read(batch).await?;
            if overtaken.is_empty() {
                return Ok(());
            }
            let mut known = self.known_now().await?;
            batch = overtaken.into_iter().map(|path| (path.clone(), known.remove(&path))).collect();
        }
        batch.iter().for_each(|(path, _)| self.skip(path, &NotADocument::Changing, None));
        Ok(())
    }

    /// Reads files, and stores those that are new or have changed. Returns those that another process has stored.
    async fn read(&mut self, batch: Vec<(PathBuf, Option<KnownDocument>)>) -> Result<Vec<PathBuf>, Error> {
        let mut fresh = Vec::new();
        for (path, known) in batch {
            let (bytes, meta) = match read_file(&path) {
                Ok(read) => read,
                Err(why) => {
                    self.skip(&path, &why, known);
                    continue;
                }
            };
            if let Some(known) = &known
                && is_stored(self.engine, known, &bytes).await?
                && (known.is_current() || !known.source.revision.erased.is_empty())
            {
                self.keep(known);
                continue;
            }
            let since = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let at = since.and_then(|since| i64::try_from(since.as_millis()).ok()).map(Millis);
            let now = self.engine.now();
            let (at, path) = (at.unwrap_or(now).min(now), path.to_string_lossy().into_owned());
            fresh.push(ReadDocument { path, known, bytes, stamp: Stamp::of(&meta), at });
        }
        let (engine, scope) = (self.engine, &self.scope);
        let work = |read: ReadDocument| match text_of(Path::new(&read.path), &read.bytes) {
            Ok(text) => Ok(Ok(Version::of(engine, scope, read, text)?)),
            Err(why) => Ok(Err((read.path, why, read.known))),
        };
        let versions = parallel::map(fresh, work)?;
        let mut ready = Vec::new();
        for version in versions {
            match version {
                Ok(version) => ready.push(version),
                Err((path, why, known)) => self.skip(Path::new(&path), &why, known),
            }
        }
        self.store(ready).await
    }

    /// Stores versions. If another process has stored one of them, the others are stored one by one. Returns the paths
    /// of those that were stored.
    async fn store(&mut self, versions: Vec<Version>) -> Result<Vec<PathBuf>, Error> {
        let (mut groups, mut overtaken) = (vec![versions], Vec::new());
        while let Some(mut group) = groups.pop().filter(|group| !group.is_empty()) {
            match store(self.engine, &self.scope, &mut group).await {
                Ok(()) => group.iter().for_each(|version| {
                    self.report.sections += version.sections();
                    *(if version.is_first() { &mut self.report.new } else { &mut self.report.changed }) += 1;
                }),
                Err(error) if is_conflict(&error) => match group.as_slice() {
                    [one] => overtaken.push(PathBuf::from(&one.path)),
                    _ => groups.extend(group.into_iter().map(|one| vec![one])),
                },
                Err(error) => return Err(error),
            }
        }
        Ok(overtaken)
    }
}

/// Returns whether there is certainly nothing at a path.
fn is_absent(path: &Path) -> bool {
    let absent =
        |error: std::io::Error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
    path.symlink_metadata().is_err_and(absent)
}

/// Returns whether a document's newest revision has these bytes, except where it was erased.
async fn is_stored(engine: &Engine, known: &KnownDocument, bytes: &[u8]) -> Result<bool, Error> {
    let revision = &known.source.revision;
    if !revision.whole || revision.len != bytes.len() as u64 {
        return Ok(false);
    }
    let mut stored = Vec::with_capacity(bytes.len());
    copy_source(engine, &known.source, 0, revision.len, &mut stored).await?;
    let is_erased = |at: u64| revision.erased.iter().any(|(from, to)| (*from..*to).contains(&at));
    let differs =
        stored.iter().zip(bytes).zip(0..).find(|((stored, now), at)| stored != now && !is_erased(*at));
    Ok(differs.is_none() && stored.len() == bytes.len())
}
