//! A ledger in one SQLite file: one writer thread with group commit, and readers on snapshots.
//!
//! The database uses WAL with `synchronous = FULL`, so acknowledged writes survive a power failure. All writes of
//! this process go through one thread. The thread puts all waiting writes into one transaction, so that they share
//! one disk sync. Each caller's writes run in a separate savepoint and succeed or fail independently. Other processes
//! may use the same file: positions are assigned inside the transaction, under SQLite's write lock. Deleted content
//! is overwritten (`secure_delete`). After an erasure, the log is emptied and free bytes are overwritten, so that no
//! erased content remains in the files.
mod conditions;
mod copy;
mod failure;
mod file;
mod rows;
mod snapshot;
mod sql;
mod threads;

use super::{Answering, Storage, StoreError};
use crate::Commit;
use crate::query::{Answer, Query};
use crate::write::Written;
use failure::failure;
use file::access::BUSY;
use file::open::OpenedLedger;
use futures_channel::oneshot;
use rows::ancestor_ids::AncestorIds;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;
use threads::{ReaderPool, WriteJob, WriterJob, WriterState, gone, spawn};
use wunderblock_core::units::Millis;

pub use copy::{Replacement, copy_file, renew};
pub use file::access::{Access, FORMAT};
pub use file::check::{Checked, OPEN_TO_OTHERS, UNSCRUBBED};
pub use file::open::{guard, only_name};
pub use file::place;
pub use file::place::is_of_ledger;
pub use file::place::{KEPT, RESTORING};
/// Maximum number of queued writes before senders block.
const QUEUE: usize = 256;

/// A ledger in a SQLite file.
pub struct Sqlite {
    path: PathBuf,
    writer: Option<SyncSender<WriterJob>>,
    /// Handle of the writer thread; `None` for a read-only ledger, or once the ledger is closing.
    writing: Option<thread::JoinHandle<()>>,
    readers: ReaderPool,
    /// Whether the writer thread also reads, instead of reader threads.
    brief: bool,
    /// The ledger that was opened. A restore puts another ledger with another generation into the file.
    opened: OpenedLedger,
    waiting: Arc<AtomicBool>,
}

impl std::fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sqlite").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Sqlite {
    /// Opens a ledger.
    ///
    /// # Errors
    /// Fails if the file is missing, damaged, not a ledger, or written by a newer program, or if it cannot be opened.
    pub fn open(path: &Path, access: Access) -> Result<Self, StoreError> {
        Self::open_for(path, access, BUSY)
    }

    /// Opens a ledger. Each call waits up to `patience` for another process's transaction before it fails with
    /// [`StoreError::Locked`].
    ///
    /// # Errors
    /// Fails in the same cases as [`Sqlite::open`].
    pub fn open_for(path: &Path, access: Access, patience: Duration) -> Result<Self, StoreError> {
        if matches!(access, Access::Create | Access::Brief) {
            file::create::create(path, patience)?;
        }
        let opened = file::open::connect(path, access, patience).and_then(|mut first| {
            file::open::check_format(&mut first, path, access)?;
            Ok(first)
        });
        let first = opened.map_err(|error| file::open::reason(path, error))?;
        let file::open::FileState { generation, unscrubbed } = file::open::standing(&first)?;
        let ledger = OpenedLedger::new(path, generation);
        let waiting = Arc::new(AtomicBool::new(false));
        let reading = if access == Access::Read { Access::Read } else { Access::Write };
        let place = path.to_owned();
        let connect = move || file::open::connect(&place, reading, patience);
        let mut opened = Self {
            path: path.to_owned(),
            writer: None,
            writing: None,
            readers: ReaderPool::new(connect),
            brief: false,
            opened: ledger.clone(),
            waiting: Arc::clone(&waiting),
        };
        if access == Access::Read {
            opened.readers.start(first)?;
            return Ok(opened);
        }
        let log = file::place::beside(path, "-wal");
        let brief = access == Access::Brief;
        let shared = AncestorIds::default();
        let mut writer =
            WriterState { connection: first, shared, log, patience, opened: ledger, waiting, brief };
        if unscrubbed > 0 {
            writer.tidy();
        }
        let (sender, receiver) = sync_channel(QUEUE);
        opened.writing = Some(spawn("ledger writer", move || writer.run(&receiver))?);
        opened.writer = Some(sender);
        opened.brief = brief;
        if !brief {
            let reader = file::open::connect(path, Access::Write, patience)?;
            opened.readers.start(reader)?;
        }
        Ok(opened)
    }

    /// Returns the path of the ledger's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether this handle can write.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        self.writer.is_some()
    }

    /// Returns whether other processes cannot open the ledger as long as this handle is open: on a full disk, a reader
    /// cannot share what is in the log.
    #[must_use]
    pub fn excludes_others(&self) -> bool {
        self.readers.excludes_others()
    }

    /// Returns whether an erasure is waiting for another process that reads the log.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Runs a job on one snapshot. Fails if the path no longer leads to the ledger that was opened.
    fn read<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Answering<'_, T> {
        let (reply, answer) = oneshot::channel();
        let opened = self.opened.clone();
        let job = move |connection: &Connection| {
            let snapshot = connection.unchecked_transaction().map_err(|error| failure(&error))?;
            file::open::still(&snapshot, &opened)?;
            job(&snapshot)
        };
        let sent = match &self.writer {
            Some(writer) if self.brief => {
                let job = move |connection: &Connection| drop(reply.send(job(connection)));
                writer.send(WriterJob::Read(Box::new(job))).map_err(|_| gone())
            }
            _ => self.readers.send(job, reply),
        };
        Box::pin(async move {
            sent?;
            answer.await.map_err(|_| gone())?
        })
    }

    /// Copies the ledger, as of one moment, into a new file that only its owner can read, and syncs the file.
    ///
    /// # Errors
    /// Fails if the copy cannot be written, or if a file already exists at `to`.
    pub fn backup(&self, to: &Path) -> Answering<'_, ()> {
        let to = to.to_owned();
        self.read(move |connection| copy::copy(connection, &to))
    }

    /// Notes the absolute path of a copy.
    ///
    /// # Errors
    /// Fails if the ledger cannot be written.
    pub fn note_backup(&self, path: &str, at: Millis) -> Answering<'_, ()> {
        let (reply, answer) = oneshot::channel();
        let (path, opened) = (path.to_owned(), self.opened.clone());
        let job = move |connection: &Connection| {
            let noted = file::open::still(connection, &opened)
                .and_then(|()| file::backups::note(connection, &path, at));
            drop(reply.send(noted));
        };
        let sent = match &self.writer {
            Some(writer) => writer.send(WriterJob::Read(Box::new(job))).map_err(|_| gone()),
            None => Err(StoreError::ReadOnly),
        };
        Box::pin(async move {
            sent?;
            answer.await.map_err(|_| gone())?
        })
    }

    /// Returns whether the ledger has the format that this program writes.
    ///
    /// # Errors
    /// Fails if the ledger cannot be read.
    pub fn is_current(&self) -> Answering<'_, bool> {
        self.read(|snapshot| Ok(file::open::pragma(snapshot, "user_version")? == FORMAT))
    }

    /// Returns the paths of the copies that were noted, oldest first.
    ///
    /// # Errors
    /// Fails if the ledger cannot be read.
    pub fn backups(&self) -> Answering<'_, Vec<PathBuf>> {
        self.read(file::backups::list)
    }

    /// Returns the copies of the ledger that are known and exist: the ledgers that restores kept, and backups, also
    /// those that are being made.
    ///
    /// # Errors
    /// Fails if the ledger cannot be read.
    pub fn copies(&self) -> Answering<'_, Vec<PathBuf>> {
        let noted = self.backups();
        Box::pin(async move {
            let partial = |backup: PathBuf| [file::place::beside(&backup, file::place::PARTIAL), backup];
            let noted = noted.await?.into_iter().flat_map(partial).filter(|copy| copy.exists());
            Ok(file::backups::kept(&self.path).into_iter().chain(noted).collect())
        })
    }

    /// Waits up to ten seconds until no erased content remains in the files.
    ///
    /// # Errors
    /// Fails with [`StoreError::Unscrubbed`] if another process is still reading the log after ten seconds.
    pub fn scrub(&self) -> Answering<'_, ()> {
        let done = self.send(Commit::raw(Vec::new()), true);
        Box::pin(async move { done.await.map(|_| ()) })
    }

    fn send(&self, commit: Commit, scrub: bool) -> Answering<'_, Vec<Written>> {
        let (reply, answer) = oneshot::channel();
        let sent = match &self.writer {
            Some(writer) => {
                writer.send(WriterJob::Write(WriteJob { commit, scrub, reply })).map_err(|_| gone())
            }
            None => Err(StoreError::ReadOnly),
        };
        Box::pin(async move {
            sent?;
            answer.await.map_err(|_| gone())?
        })
    }

    /// Returns the number of erasures whose content may still be in the files.
    pub fn unscrubbed(&self) -> Answering<'_, u64> {
        self.read(|connection| Ok(file::open::standing(connection)?.unscrubbed))
    }

    /// Checks the file with SQLite's own integrity check, and the ledger's counters for consistency.
    ///
    /// # Errors
    /// Fails if the file cannot be read at all.
    pub fn check(&self) -> Answering<'_, Checked> {
        let path = self.path.clone();
        self.read(move |connection| file::check::check(connection, &path))
    }
}

impl Sqlite {
    /// Repairs problems that a check found under a rule. Returns whether the rule concerns the file rather than its
    /// content.
    pub async fn repair(&self, rule: &str) -> Result<bool, StoreError> {
        match rule {
            OPEN_TO_OTHERS => {
                file::place::make_private(&self.path)
                    .map_err(|error| StoreError::Io(format!("{}: {error}", self.path.display())))?;
            }
            UNSCRUBBED => match self.scrub().await {
                // The problem remains, and the next check reports it again.
                Ok(()) | Err(StoreError::Unscrubbed(_)) => {}
                Err(error) => return Err(error),
            },
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Storage for Sqlite {
    fn commit(&self, commit: Commit) -> Answering<'_, Vec<Written>> {
        self.send(commit, false)
    }

    fn query(&self, queries: Vec<Query>) -> Answering<'_, Vec<Answer>> {
        self.read(move |snapshot| queries.iter().map(|query| rows::answer::answer(snapshot, query)).collect())
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        // The writer's connection must be closed last. SQLite empties and removes the log when the last connection is
        // closed, which does not happen if several are closed at the same time.
        self.readers.end();
        self.writer = None;
        if let Some(writing) = self.writing.take() {
            let _ = writing.join();
        }
    }
}
