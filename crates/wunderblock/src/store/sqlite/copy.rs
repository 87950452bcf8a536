//! Copies of a whole ledger, and another ledger's content in its place.

use super::access::{Access, BUSY};
use super::create::at;
use super::failure::{StoreResult, failure};
use super::log;
use super::open::{check_format, connect, format};
use super::place::private;
use super::threads::spawn;
use crate::store::StoreError;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Copies a ledger into a new file that only its owner can read, and syncs that. It needs no log to be read.
pub(super) fn copy(from: &Connection, to: &Path) -> StoreResult<()> {
    let file = private(to).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => StoreError::Exists(to.display().to_string()),
        _ => at(to, &error),
    })?;
    // SQLite's locks end when any handle of the file is closed: this one waits until SQLite is done with it.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut target = Connection::open_with_flags(to, flags).map_err(|error| failure(&error))?;
    // Nobody reads the copy before it is whole, and one sync at the end makes it durable.
    let settings = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF";
    target.execute_batch(settings).map_err(|error| failure(&error))?;
    Backup::new(from, &mut target)
        .and_then(|copy| copy.run_to_completion(i32::MAX, Duration::ZERO, None))
        .and_then(|()| target.execute_batch("PRAGMA journal_mode = DELETE"))
        .map_err(|error| failure(&error))?;
    target.close().map_err(|(_, error)| failure(&error))?;
    file.sync_all().map_err(|error| at(to, &error))
}

/// The same for a ledger in a file, whatever its format: the file itself is not upgraded.
pub(crate) fn copy_file(from: &Path, to: &Path) -> StoreResult<()> {
    let connection = connect(from, Access::Read, BUSY)?;
    format(&connection, from)?;
    copy(&connection, to)
}

/// Makes a file a ledger of its own: who has another copy of it open, or had, is told so.
pub(crate) fn renew(path: &Path) -> StoreResult<()> {
    let connection = connect(path, Access::Write, BUSY)?;
    connection
        .execute("UPDATE ledger SET generation = randomblob(16) WHERE one = 1", [])
        .and_then(|_| connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(())))
        .map_err(|error| failure(&error))
}

/// A ledger whose content is being replaced by another's: it is locked against writers, and nothing has happened yet.
///
/// SQLite's backup interface writes all pages in one transaction of the destination. Other processes see an ordinary
/// commit: what they acknowledged before is what was locked, and afterwards they find another generation.
pub(crate) struct Replacement {
    go: Sender<()>,
    done: Receiver<StoreResult<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Replacement {
    /// Locks the ledger at `path` against writers, to be replaced by `with`, which nobody else writes.
    ///
    /// # Errors
    /// When another process keeps writing, or one of the two cannot be opened.
    pub(crate) fn lock(path: &Path, with: &Path) -> StoreResult<Self> {
        let (go, told) = channel();
        let (tell, done) = channel();
        let (path, with) = (path.to_owned(), with.to_owned());
        // The transaction borrows both connections, so it lives on a stack of its own.
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

    /// Replaces the content, and returns when that is on the disk.
    ///
    /// # Errors
    /// When it cannot be written; then the ledger is what it was.
    pub(crate) fn finish(self) -> StoreResult<()> {
        let _ = self.go.send(());
        self.answer()
    }

    fn answer(&self) -> StoreResult<()> {
        self.done.recv().unwrap_or_else(|_| Err(super::gone()))
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        // Without a word to go on the thread lets go of the lock.
        self.go = channel().0;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn replace(path: &Path, with: &Path, locked: impl FnOnce() -> bool) -> StoreResult<()> {
    let source = connect(with, Access::Read, BUSY)?;
    let mut target = connect(path, Access::Write, BUSY)?;
    // In a log: in the journal that a restored ledger begins with, the lock would shut readers out, ourselves included.
    check_format(&mut target, path, Access::Write)?;
    {
        let copy = Backup::new(&source, &mut target).map_err(|error| failure(&error))?;
        let end = Instant::now() + BUSY;
        // The first page takes the lock. Nothing is seen of it before the last one.
        loop {
            match copy.step(1).map_err(|error| failure(&error))? {
                StepResult::More => break,
                StepResult::Busy | StepResult::Locked if Instant::now() < end => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                StepResult::Busy | StepResult::Locked => return Err(StoreError::Locked),
                _ => return Err(StoreError::Damaged("a ledger of one page".to_owned())),
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
    use crate::store::sqlite::Sqlite;

    /// A ledger that was just restored has no log yet. The restore itself reads what it is about to replace.
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
