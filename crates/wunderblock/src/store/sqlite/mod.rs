//! The ledger in one SQLite file: one writer thread with group commit, readers on snapshots.
//!
//! WAL with `synchronous = FULL`: what has been acknowledged survives a power cut. All writes of this process go through
//! one thread, which puts whatever is waiting into one transaction, so that the disk's sync is paid once for all of it;
//! each caller's writes stand in a savepoint of their own and succeed or fail alone. Other processes may use the same
//! file: positions are given inside the transaction, under SQLite's write lock. Deleted content is overwritten
//! (`secure_delete`), and the log is emptied after an erasure, so that nothing of it stays in the files.

mod append;
mod check;
mod erase;
mod lease;
mod read;
mod source;
mod sql;
mod upgrade;
mod write;

use super::{Answer, Answering, Query, Storage, StoreError, Write, Written};
use futures_channel::oneshot;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

pub use check::{Checked, Found};

/// The format this program writes, as `PRAGMA user_version`.
pub const FORMAT: i64 = 2;
/// `PRAGMA application_id`: "WBlk".
const APPLICATION_ID: i64 = 0x5742_6c6b;
/// How long a write waits for another process's transaction.
const BUSY: Duration = Duration::from_secs(20);
/// Writes that may wait before senders block.
const QUEUE: usize = 256;
/// Writes that share one transaction at most.
const GROUP: usize = 256;
/// Reader threads.
const READERS: usize = 2;

/// How a database is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read and write; create it if it is not there.
    Create,
    /// Read and write; it must be there.
    Write,
    /// Read only; it must be there.
    Read,
}

type Outcome<T> = Result<T, StoreError>;
type Reply<T> = oneshot::Sender<Outcome<T>>;
type WriteJob = (Vec<Write>, Reply<Vec<Written>>);
type ReadJob = Box<dyn FnOnce(&Connection) + Send>;

/// A ledger in a SQLite file.
pub struct Sqlite {
    path: PathBuf,
    writer: Option<SyncSender<WriteJob>>,
    readers: Sender<ReadJob>,
    threads: Vec<thread::JoinHandle<()>>,
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
    /// When the file is missing, damaged, not ours, or written by a newer program, or cannot be opened.
    pub fn open(path: &Path, access: Access) -> Result<Self, StoreError> {
        Self::open_for(path, access, BUSY)
    }

    /// Opens a ledger; each call waits so long for another process's transaction before it says
    /// [`StoreError::Locked`].
    ///
    /// # Errors
    /// As [`Sqlite::open`].
    pub fn open_for(path: &Path, access: Access, patience: Duration) -> Result<Self, StoreError> {
        if access == Access::Create {
            create(path, patience)?;
        }
        let mut first = connect(path, access, patience)?;
        check_format(&mut first, path, access)?;
        let (readers, jobs) = channel::<ReadJob>();
        let jobs = Arc::new(Mutex::new(jobs));
        let mut threads = Vec::new();
        let mut spare = Some(first);
        let writer = if access == Access::Read {
            None
        } else {
            let connection = spare.take().map_or_else(|| connect(path, access, patience), Ok)?;
            let (sender, receiver) = sync_channel(QUEUE);
            threads.push(spawn("ledger writer", move || write_loop(connection, &receiver))?);
            Some(sender)
        };
        for _ in 0..READERS {
            let reading = if access == Access::Read { Access::Read } else { Access::Write };
            let connection = spare.take().map_or_else(|| connect(path, reading, patience), Ok)?;
            let jobs = Arc::clone(&jobs);
            threads.push(spawn("ledger reader", move || read_loop(&connection, &jobs))?);
        }
        Ok(Self { path: path.to_owned(), writer, readers, threads })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether this handle can write.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        self.writer.is_some()
    }

    fn read<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Answering<'_, T> {
        let (reply, answer) = oneshot::channel();
        let sent = self.readers.send(Box::new(move |connection| {
            let _ = reply.send(job(connection));
        }));
        Box::pin(async move {
            sent.map_err(|_| gone())?;
            answer.await.map_err(|_| gone())?
        })
    }

    /// Copies the ledger, as of one moment, into a new file.
    ///
    /// # Errors
    /// When the copy cannot be written, or something stands at `to` already.
    pub fn backup(&self, to: &Path) -> Answering<'_, ()> {
        let to = to.to_owned();
        self.read(move |connection| {
            if to.exists() {
                return Err(StoreError::Io(format!("{} exists already", to.display())));
            }
            let mut target = Connection::open(&to).map_err(|error| failure(&error))?;
            let copy =
                rusqlite::backup::Backup::new(connection, &mut target).map_err(|error| failure(&error))?;
            let done = copy.run_to_completion(1024, Duration::ZERO, None).map_err(|error| failure(&error));
            drop(copy);
            target.close().map_err(|(_, error)| failure(&error))?;
            done
        })
    }

    /// What SQLite itself finds wrong with the file, and what the ledger's own counters disagree on.
    ///
    /// # Errors
    /// When the file cannot be read at all.
    pub fn check(&self) -> Answering<'_, Checked> {
        self.read(check::check)
    }
}

impl Storage for Sqlite {
    fn commit(&self, writes: Vec<Write>) -> Answering<'_, Vec<Written>> {
        let (reply, answer) = oneshot::channel();
        let sent = match &self.writer {
            Some(writer) => writer.send((writes, reply)).map_err(|_| gone()),
            None => Err(StoreError::ReadOnly),
        };
        Box::pin(async move {
            sent?;
            answer.await.map_err(|_| gone())?
        })
    }

    fn query(&self, queries: Vec<Query>) -> Answering<'_, Vec<Answer>> {
        self.read(move |connection| {
            let snapshot = connection.unchecked_transaction().map_err(|error| failure(&error))?;
            queries.iter().map(|query| read::answer(&snapshot, query)).collect()
        })
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.writer = None;
        // The readers end when no sender is left.
        let (closed, _) = channel();
        self.readers = closed;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<thread::JoinHandle<()>, StoreError> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map_err(|error| StoreError::Io(error.to_string()))
}

fn gone() -> StoreError {
    StoreError::Io("the ledger's thread has ended".to_owned())
}

fn read_loop(connection: &Connection, jobs: &Mutex<Receiver<ReadJob>>) {
    loop {
        let job = match jobs.lock() {
            Ok(jobs) => jobs.recv(),
            Err(_) => return,
        };
        match job {
            Ok(job) => job(connection),
            Err(_) => return,
        }
    }
}

fn write_loop(mut connection: Connection, jobs: &Receiver<WriteJob>) {
    while let Ok(first) = jobs.recv() {
        let mut group = vec![first];
        while group.len() < GROUP
            && let Ok(next) = jobs.try_recv()
        {
            group.push(next);
        }
        write_group(&mut connection, group);
    }
    // Not needed for safety: it leaves one tidy file behind, if nobody else is at it.
    let _ = connection.busy_timeout(Duration::ZERO);
    let _ = connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
}

/// One transaction for all that waits; acknowledged when it is on the disk.
fn write_group(connection: &mut Connection, group: Vec<WriteJob>) {
    let erases = |writes: &[Write]| {
        writes.iter().any(|write| matches!(write, Write::Erase { .. } | Write::DropDerived { .. }))
    };
    let erases = group.iter().any(|(writes, _)| erases(writes));
    let (outcome, results) = transact(connection, group.iter().map(|(writes, _)| writes.as_slice()));
    if erases && outcome.is_ok() {
        let _ = connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
    }
    let mut results = results.into_iter();
    for (_, reply) in group {
        let answer = match (results.next(), &outcome) {
            // Its own refusal tells a caller more than what became of the rest.
            (Some(Err(error)), _) => Err(error),
            (_, Err(error)) => Err(error.clone()),
            (Some(written), Ok(())) => written,
            (None, Ok(())) => Err(gone()),
        };
        let _ = reply.send(answer);
    }
}

/// What became of the transaction, and of each caller's writes in it.
fn transact<'w>(
    connection: &mut Connection,
    group: impl Iterator<Item = &'w [Write]>,
) -> (Outcome<()>, Vec<Outcome<Vec<Written>>>) {
    let mut results = Vec::new();
    let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
    let mut transaction = match begun.map_err(|error| failure(&error)) {
        Ok(transaction) => transaction,
        Err(error) => return (Err(error), results),
    };
    for writes in group {
        let result = write::all(&mut transaction, writes);
        let error = result.as_ref().err().cloned();
        results.push(result);
        // A full disk rolls back everything at once; without a transaction the rest must not be written.
        if let Some(error) = error.filter(|_| transaction.is_autocommit()) {
            return (Err(error), results);
        }
    }
    (transaction.commit().map_err(|error| failure(&error)), results)
}

/// Makes the file a ledger unless it is one. Several processes may do so at once: SQLite does not wait where each of two
/// could wait for the other, as they do who both turn a new file's log on, so whoever is turned away tries again.
fn create(path: &Path, patience: Duration) -> Result<(), StoreError> {
    let end = Instant::now() + patience;
    loop {
        match try_create(path, patience) {
            Err(StoreError::Locked) if Instant::now() < end => std::thread::sleep(Duration::from_millis(5)),
            other => return other,
        }
    }
}

fn try_create(path: &Path, patience: Duration) -> Result<(), StoreError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)
            .map_err(|error| StoreError::Io(format!("{}: {error}", folder.display())))?;
    }
    if path.is_dir() {
        return Ok(());
    }
    let is_new = path.metadata().map_or(true, |meta| meta.len() == 0);
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(|error| failure(&error))?;
    connection.busy_timeout(patience).map_err(|error| failure(&error))?;
    // What is no database, or has something in it already, is for `check_format` to judge.
    if !is_new && !is_blank(&connection).unwrap_or(false) {
        return Ok(());
    }
    // Both must be set while the file is empty. Pages of 8 KiB hold most compressed bodies without overflow pages.
    connection
        .execute_batch("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL")
        .map_err(|error| failure(&error))?;
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(|error| failure(&error))?;
    if is_blank(&transaction)? {
        transaction.execute_batch(include_str!("schema.sql")).map_err(|error| failure(&error))?;
        let stamp = format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT}");
        transaction.execute_batch(&stamp).map_err(|error| failure(&error))?;
        let sql = "INSERT INTO ledger (one, generation, unscrubbed) VALUES (1, ?1, 0)";
        sql::run(&transaction, sql, rusqlite::params![generation()?])?;
    }
    transaction.commit().map_err(|error| failure(&error))
}

/// Whether nobody has put anything into the file, or another process is about to.
fn is_blank(connection: &Connection) -> Result<bool, StoreError> {
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
        .map_err(|error| failure(&error))?;
    Ok(tables == 0 && pragma(connection, "application_id")? == 0 && pragma(connection, "user_version")? == 0)
}

fn connect(path: &Path, access: Access, patience: Duration) -> Result<Connection, StoreError> {
    if !path.exists() {
        return Err(StoreError::Missing(path.display().to_string()));
    }
    if path.is_dir() {
        return Err(StoreError::Foreign(format!("{} (a folder)", path.display())));
    }
    let mode = if access == Access::Read {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    } else {
        OpenFlags::SQLITE_OPEN_READ_WRITE
    };
    let flags = mode | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| failure(&error))?;
    match settle(&connection, access, patience) {
        Err(error) if access == Access::Read && !with_suffix(path, "-wal").exists() => {
            // A folder that cannot be written has no room for the shared-memory file. Without a log beside it the file
            // is complete and nobody is writing, so it can be read as it stands.
            let uri = format!("file:{}?immutable=1", uri_path(path));
            let flags = flags | OpenFlags::SQLITE_OPEN_URI;
            let connection = Connection::open_with_flags(uri, flags).map_err(|_| error.clone())?;
            settle(&connection, access, patience).map_err(|_| error)?;
            Ok(connection)
        }
        other => other.map(|()| connection),
    }
}

fn settle(connection: &Connection, access: Access, patience: Duration) -> Result<(), StoreError> {
    let settings = if access == Access::Read {
        "PRAGMA query_only = ON"
    } else {
        // A log of 32 MiB before it is copied into the file: bulk writes touch the same pages again and again.
        "PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA journal_size_limit = 67108864;
         PRAGMA wal_autocheckpoint = 4096"
    };
    connection
        .busy_timeout(patience)
        .and_then(|()| connection.execute_batch(settings))
        .and_then(|()| connection.execute_batch("PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY"))
        .map_err(|error| failure(&error))?;
    // Every query goes by a key. Otherwise SQLite would plan a statement anew whenever it is given other values.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(|error| failure(&error))?;
    connection.set_prepared_statement_cache_capacity(96);
    pragma(connection, "user_version").map(|_: i64| ())
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn uri_path(path: &Path) -> String {
    let mut out = String::new();
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'%' | b'?' | b'#' => out.push_str(&format!("%{byte:02x}")),
            byte => out.push(char::from(byte)),
        }
    }
    out
}

fn pragma(connection: &Connection, name: &str) -> Result<i64, StoreError> {
    connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0)).map_err(|error| failure(&error))
}

fn check_format(connection: &mut Connection, path: &Path, access: Access) -> Result<(), StoreError> {
    let (application, format) = (pragma(connection, "application_id")?, pragma(connection, "user_version")?);
    if application != APPLICATION_ID {
        return Err(StoreError::Foreign(path.display().to_string()));
    }
    match format {
        FORMAT => {}
        newer if newer > FORMAT => return Err(StoreError::TooNew { found: newer, known: FORMAT }),
        1 if access == Access::Read => {
            // Reading needs the new tables. Where the file can be written, it is upgraded on the way.
            let mut writer = connect(path, Access::Write, BUSY)?;
            upgrade::upgrade(&mut writer, generation()?)?;
        }
        1 => upgrade::upgrade(connection, generation()?)?,
        older => return Err(StoreError::Damaged(format!("it states format {older}, which never existed"))),
    }
    if access != Access::Read {
        // Kept from another journal mode, a file would lose what readers and several processes rely on.
        let _: String = connection
            .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
            .map_err(|error| failure(&error))?;
    }
    Ok(())
}

/// 16 random bytes.
fn generation() -> Result<[u8; 16], StoreError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| StoreError::Io(format!("the system gives no random bytes: {error}")))?;
    Ok(bytes)
}

fn extended(error: &rusqlite::Error) -> Option<i32> {
    match error {
        rusqlite::Error::SqliteFailure(code, _) => Some(code.extended_code),
        _ => None,
    }
}

/// SQLite's errors in our words.
fn failure(error: &rusqlite::Error) -> StoreError {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType};
    if matches!(error, FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..)) {
        return StoreError::Damaged(error.to_string());
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked,
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly,
        Some(ErrorCode::DiskFull) => StoreError::Full,
        // A quota or a limit on file sizes ends writes where a full disk would; SQLite calls that a failed write.
        Some(ErrorCode::SystemIoFailure) if extended(error) == Some(rusqlite::ffi::SQLITE_IOERR_WRITE) => {
            StoreError::Full
        }
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged(error.to_string()),
        Some(ErrorCode::NotADatabase) => StoreError::Foreign("the file".to_owned()),
        _ => StoreError::Io(error.to_string()),
    }
}
