//! The ledger's threads: one writer and several readers.

use super::failure::{StoreResult, failure};
use super::file::log;
use super::rows::write;
use crate::sqlite::file::open::{OpenedLedger, is_exclusive, still};
use crate::sqlite::rows::ancestor_ids::AncestorIds;
use crate::write::{Write, Written};
use crate::{Commit, StoreError};
use futures_channel::oneshot;
use rusqlite::{Connection, TransactionBehavior};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Maximum number of jobs that share one transaction.
const GROUP: usize = 256;
/// Time without writes after which the log is emptied.
const IDLE: Duration = Duration::from_secs(5);
/// Maximum length in bytes of a log that a process with [`Access::Brief`](super::Access::Brief) leaves behind. The next
/// process has to read all of it; emptying it takes two syncs, and the next process then creates it with three more.
const BRIEF_LOG: u64 = 1 << 20;

pub(super) type ReplySender<T> = oneshot::Sender<StoreResult<T>>;
/// A caller's writes, as sent to the writer thread.
pub(super) struct WriteJob {
    pub(super) commit: Commit,
    /// Whether to wait until no erased content remains in the files.
    pub(super) scrub: bool,
    pub(super) reply: ReplySender<Vec<Written>>,
}

pub(super) type ReadJob = Box<dyn FnOnce(&Connection) + Send>;

/// Work of the writer thread.
pub(super) enum WriterJob {
    Write(WriteJob),
    /// Work on the writer's connection: a read of a process that has no reader threads, or a single statement.
    Read(ReadJob),
}

pub(super) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> StoreResult<thread::JoinHandle<()>> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map_err(|error| StoreError::Io(error.to_string()))
}

pub(super) fn gone() -> StoreError {
    StoreError::Io("the ledger's thread has ended".to_owned())
}

/// Maximum number of reader threads.
const READERS: usize = 2;

/// Pool of reader threads. The first reader starts with the ledger, and another starts whenever all are busy. Each
/// reader needs its own connection, and opening it and reading the schema takes 1.1 of the 4.6 ms that `sessions`
/// needs.
pub(super) struct ReaderPool {
    /// Sender of jobs; `None` once the pool has ended.
    sender: Option<Sender<ReadJob>>,
    jobs: Arc<Mutex<Receiver<ReadJob>>>,
    /// Number of jobs that are waiting or running.
    open: Arc<AtomicUsize>,
    threads: Mutex<Vec<thread::JoinHandle<()>>>,
    maximum: usize,
    connect: Arc<dyn Fn() -> StoreResult<Connection> + Send + Sync>,
}

impl ReaderPool {
    pub(super) fn new(connect: impl Fn() -> StoreResult<Connection> + Send + Sync + 'static) -> Self {
        let (sender, jobs) = channel();
        let jobs = Arc::new(Mutex::new(jobs));
        Self {
            sender: Some(sender),
            jobs,
            open: Arc::default(),
            threads: Mutex::default(),
            maximum: READERS,
            connect: Arc::new(connect),
        }
    }

    /// Starts a thread that reads through the given connection. No other thread follows if the connection excludes all
    /// others.
    pub(super) fn start(&mut self, connection: Connection) -> StoreResult<()> {
        if is_exclusive(&connection) {
            self.maximum = 1;
        }
        self.begin(move || Ok(connection))
    }

    /// Returns whether the readers' connection excludes all others.
    pub(super) fn excludes_others(&self) -> bool {
        self.maximum == 1
    }

    fn begin(&self, connect: impl FnOnce() -> StoreResult<Connection> + Send + 'static) -> StoreResult<()> {
        let jobs = Arc::clone(&self.jobs);
        // If the connection cannot be opened, the other threads do the jobs.
        let work = move || connect().map_or((), |connection| read_loop(&connection, &jobs));
        self.threads().push(spawn("ledger reader", work)?);
        Ok(())
    }

    /// Queues a job for the next free reader, and starts another reader if all are busy.
    pub(super) fn send<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> T + Send + 'static,
        reply: oneshot::Sender<T>,
    ) -> StoreResult<()> {
        let open = Arc::clone(&self.open);
        let busy = open.fetch_add(1, Ordering::Relaxed);
        let job = move |connection: &Connection| {
            let done = job(connection);
            // The counter changes before the reply, because the caller may send its next job immediately.
            open.fetch_sub(1, Ordering::Relaxed);
            let _ = reply.send(done);
        };
        let running = self.threads().len();
        if busy >= running && running < self.maximum {
            let connect = Arc::clone(&self.connect);
            // A failure to start is ignored: the job then waits for a running reader.
            let _ = self.begin(move || connect());
        }
        let sender = self.sender.as_ref().ok_or_else(gone)?;
        sender.send(Box::new(job)).map_err(|_| gone())
    }

    /// Ends the threads after they have finished the queued jobs.
    pub(super) fn end(&mut self) {
        self.sender = None;
        for thread in self.threads().drain(..) {
            let _ = thread.join();
        }
    }

    fn threads(&self) -> MutexGuard<'_, Vec<thread::JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
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

/// State of the writer thread.
pub(super) struct WriterState {
    pub(super) connection: Connection,
    /// Ids of the events that forks share.
    pub(super) shared: AncestorIds,
    pub(super) log: PathBuf,
    /// Maximum time that a transaction waits for another process's transaction.
    pub(super) patience: Duration,
    /// The ledger that was opened.
    pub(super) opened: OpenedLedger,
    /// Set while an erasure waits for readers of the log.
    pub(super) waiting: Arc<AtomicBool>,
    /// Whether a short log is left behind.
    pub(super) brief: bool,
}

impl WriterState {
    pub(super) fn run(mut self, jobs: &Receiver<WriterJob>) {
        let mut written = false;
        loop {
            let next = if written {
                jobs.recv_timeout(IDLE)
            } else {
                jobs.recv().map_err(|_| RecvTimeoutError::Disconnected)
            };
            match next {
                Ok(WriterJob::Read(read)) => read(&self.connection),
                Ok(WriterJob::Write(first)) => {
                    let (mut group, mut read) = (vec![first], None);
                    while read.is_none()
                        && group.len() < GROUP
                        && let Ok(next) = jobs.try_recv()
                    {
                        match next {
                            WriterJob::Write(next) => group.push(next),
                            WriterJob::Read(next) => read = Some(next),
                        }
                    }
                    self.write(group);
                    written = true;
                    if let Some(read) = read {
                        read(&self.connection);
                    }
                }
                // Emptying the log is not needed for safety, but an empty log cannot be damaged.
                Err(RecvTimeoutError::Timeout) => written = !self.tidy(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let is_long = || self.log.metadata().is_ok_and(|meta| meta.len() > BRIEF_LOG);
        let due = if self.brief { is_long() } else { written };
        if due {
            self.tidy();
        }
    }

    /// Runs work without waiting for locks.
    fn at_once<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let _ = self.connection.busy_timeout(Duration::ZERO);
        let done = work(self);
        let _ = self.connection.busy_timeout(self.patience);
        done
    }

    /// Empties the log and finishes earlier erasures, unless another connection is in the way. Returns whether the
    /// log is empty and the erasures are finished.
    pub(super) fn tidy(&mut self) -> bool {
        self.at_once(|writer| {
            let scrubbed = log::scrub(&mut writer.connection).unwrap_or(false);
            log::empty(&writer.connection).unwrap_or(false) && scrubbed
        })
    }

    /// Writes a group of jobs in one transaction, and replies once it is on disk.
    fn write(&mut self, group: Vec<WriteJob>) {
        let has = |wanted: fn(&Write) -> bool| group.iter().flat_map(|job| &job.commit.writes).any(wanted);
        let erases = has(|write| matches!(write, Write::Erase { .. }));
        let drops = has(|write| matches!(write, Write::DropDerived { .. }));
        let (outcome, results) = self.transact(group.iter().map(|job| &job.commit), erases);
        // The log still contains the deleted rows.
        if erases || drops {
            let _ = self.at_once(|writer| log::empty(&writer.connection));
        }
        let mut results = results.into_iter();
        let mut scrubs = Vec::new();
        for WriteJob { scrub, reply, .. } in group {
            let answer = match (results.next(), &outcome) {
                // A caller's own error is more specific than that of the transaction.
                (Some(Err(error)), _) => Err(error),
                (_, Err(error)) => Err(error.clone()),
                (Some(written), Ok(())) => written,
                (None, Ok(())) => Err(gone()),
            };
            if scrub && answer.is_ok() {
                scrubs.push(reply);
            } else {
                let _ = reply.send(answer);
            }
        }
        if scrubs.is_empty() {
            return;
        }
        let scrubbed = self.at_once(|writer| log::scrub_waiting(&mut writer.connection, &writer.waiting));
        for reply in scrubs {
            let _ = reply.send(match &scrubbed {
                Ok(true) => Ok(Vec::new()),
                Ok(false) => Err(StoreError::Unscrubbed(self.log.display().to_string())),
                Err(error) => Err(error.clone()),
            });
        }
    }

    /// Returns the outcome of the transaction, and that of each caller's writes.
    fn transact<'w>(
        &mut self,
        group: impl Iterator<Item = &'w Commit>,
        erases: bool,
    ) -> (StoreResult<()>, Vec<StoreResult<Vec<Written>>>) {
        let mut results = Vec::new();
        // An immediate transaction takes the write lock before it reads heads and positions, so that no other process
        // can change them before the commit.
        let begun = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let begun = begun.map_err(|error| failure(&error));
        let mut transaction = match begun.and_then(|begun| still(&begun, &self.opened).map(|()| begun)) {
            Ok(transaction) => transaction,
            Err(error) => return (Err(error), results),
        };
        for commit in group {
            let result = write::all(&mut transaction, &mut self.shared, commit);
            let error = result.as_ref().err().cloned();
            results.push(result);
            // A full disk rolls back the whole transaction. The remaining writes must not run outside a transaction.
            if let Some(error) = error.filter(|_| transaction.is_autocommit()) {
                return (Err(error), results);
            }
        }
        let noted = if erases { log::unscrubbed(&transaction) } else { Ok(()) };
        let ended = noted.and_then(|()| transaction.commit().map_err(|error| failure(&error)));
        if ended.is_err() {
            self.shared.clear();
        }
        (ended, results)
    }
}
