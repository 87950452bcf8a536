//! Copies of a whole ledger, and replacement of a ledger's content by another's.

use super::failure::{StoreResult, failure};
use super::threads::spawn;
use crate::StoreError;
use crate::sqlite::file::access::{Access, BUSY};
use crate::sqlite::file::create::at;
use crate::sqlite::file::log;
use crate::sqlite::file::open::{check_format, connect, format, guard};
use crate::sqlite::file::place::private;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Copies a ledger into a new file that only its owner can read, and syncs the file. The copy has no log.
pub(super) fn copy(from: &Connection, to: &Path) -> StoreResult<()> {
    let file = private(to).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => StoreError::Exists(to.display().to_string()),
        _ => at(to, &error),
    })?;
    // Closing any handle of a file drops SQLite's locks on it, so this handle stays open until SQLite has closed its
    // own.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut target = Connection::open_with_flags(to, flags).map_err(|error| failure(&error))?;
    guard(&target)?;
    // Nobody reads the copy before it is complete, and one sync at the end makes it durable.
    let settings = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF";
    target.execute_batch(settings).map_err(|error| failure(&error))?;
    Backup::new(from, &mut target)
        .and_then(|copy| copy.run_to_completion(i32::MAX, Duration::ZERO, None))
        .and_then(|()| target.execute_batch("PRAGMA journal_mode = DELETE"))
        .map_err(|error| failure(&error))?;
    target.close().map_err(|(_, error)| failure(&error))?;
    file.sync_all().map_err(|error| at(to, &error))
}

/// Copies the ledger in a file, regardless of the ledger's format, without upgrading the original.
pub fn copy_file(from: &Path, to: &Path) -> StoreResult<()> {
    let connection = connect(from, Access::Read, BUSY)?;
    format(&connection, from)?;
    copy(&connection, to)
}

/// Gives a ledger a new generation, so that processes that have another copy open detect the difference.
pub fn renew(path: &Path) -> StoreResult<()> {
    let connection = connect(path, Access::Write, BUSY)?;
    connection
        .execute("UPDATE ledger SET generation = randomblob(16) WHERE one = 1", [])
        .and_then(|_| connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(())))
        .map_err(|error| failure(&error))
}

/// A pending replacement of a ledger's content by another ledger's. The ledger is locked against writers, but
/// unchanged until [`Replacement::finish`].
///
/// SQLite's backup interface writes all pages in one transaction of the destination. Other processes see an ordinary
/// commit: their acknowledged writes precede the lock, and afterwards they find a different generation.
pub struct Replacement {
    go: Sender<()>,
    done: Receiver<StoreResult<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Replacement {
    /// Locks the ledger at `path` against writers. `with` replaces the ledger later, and must have no other writer.
    ///
    /// # Errors
    /// Fails if another process keeps writing, or if either ledger cannot be opened.
    pub fn lock(path: &Path, with: &Path) -> StoreResult<Self> {
        let (go, told) = channel();
        let (tell, done) = channel();
        let (path, with) = (path.to_owned(), with.to_owned());
        // The transaction borrows both connections, so it lives on the stack of a separate thread.
        let thread = spawn("ledger replacement", move || {
            let locked = || {
                let _ = tell.send(Ok(()));
                told.recv().is_ok()
            };
            let ended = replace(&path, &with, locked);
            let _ = tell.send(ended);
        })?;
        let replacement = Self { go, done, thread: Some(thread) };
        replacement.answer()?;
        Ok(replacement)
    }

    /// Replaces the content, and returns when the new content is on disk.
    ///
    /// # Errors
    /// Fails if the new content cannot be written, in which case the ledger is unchanged.
    pub fn finish(self) -> StoreResult<()> {
        let _ = self.go.send(());
        self.answer()
    }

    fn answer(&self) -> StoreResult<()> {
        self.done.recv().unwrap_or_else(|_| Err(super::gone()))
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        // Dropping the sender makes the thread give up and release the lock.
        self.go = channel().0;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn replace(path: &Path, with: &Path, locked: impl FnOnce() -> bool) -> StoreResult<()> {
    let source = connect(with, Access::Read, BUSY)?;
    let mut target = connect(path, Access::Write, BUSY)?;
    // WAL mode is required here: in the rollback journal of a restored ledger, the lock would also block readers,
    // including our own.
    check_format(&mut target, path, Access::Write)?;
    {
        let copy = Backup::new(&source, &mut target).map_err(|error| failure(&error))?;
        let end = Instant::now() + BUSY;
        // Copying the first page takes the lock. Readers see no change until the last page has been copied.
        loop {
            match copy.step(1).map_err(|error| failure(&error))? {
                StepResult::More => break,
                StepResult::Busy | StepResult::Locked if Instant::now() < end => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                StepResult::Busy | StepResult::Locked => return Err(StoreError::Locked),
                _ => return Err(StoreError::Damaged("the ledger to copy has only one page".to_owned())),
            }
        }
        if !locked() {
            return Ok(());
        }
        while copy.step(-1).map_err(|error| failure(&error))? != StepResult::Done {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let _ = target.busy_timeout(Duration::ZERO);
    log::empty(&target).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::Sqlite;

    /// A restored ledger has no log yet, and the restore itself reads the ledger that it is about to replace.
    #[test]
    fn a_ledger_without_a_log_can_be_read_while_it_is_being_replaced() {
        let home = tempfile::tempdir().unwrap();
        let (path, with) = (home.path().join("ledger.db"), home.path().join("with.db"));
        for file in [&path, &with] {
            drop(Sqlite::open(file, Access::Create).unwrap());
            renew(file).unwrap();
        }
        let replacement = Replacement::lock(&path, &with).unwrap();
        let reader = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        reader.busy_timeout(Duration::ZERO).unwrap();
        reader.query_row("SELECT generation FROM ledger", [], |_| Ok(())).unwrap();
        replacement.finish().unwrap();
    }
}
