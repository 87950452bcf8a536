//! One state of a ledger, for examinations that compare many parts of it with each other.

use super::Sqlite;
use super::failure::{StoreResult, failure};
use super::rows::answer;
use crate::query::{Answer, Query};
use crate::sqlite::file::access::Access;
use crate::sqlite::file::open::{connect, still};
use crate::write::Written;
use crate::{Answering, Commit, Storage, StoreError};
use rusqlite::Connection;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Maximum time that a snapshot waits for a lock. Only a restore, or a reader on a full disk, holds one against readers.
const PATIENCE: Duration = Duration::from_secs(1);

/// A ledger as of one moment: a read transaction on a connection of its own. It keeps the log from being emptied, so an
/// erasure waits for its end.
struct Snapshot(Mutex<Connection>);

impl Sqlite {
    /// Begins a read transaction that lasts until the snapshot is dropped.
    ///
    /// # Errors
    /// Fails if the file cannot be opened a second time, or contains another ledger.
    pub fn snapshot(&self) -> StoreResult<Arc<dyn Storage>> {
        let connection = connect(&self.path, Access::Read, PATIENCE)?;
        connection.execute_batch("BEGIN").map_err(|error| failure(&error))?;
        // The transaction begins with the first read.
        still(&connection, &self.opened)?;
        Ok(Arc::new(Snapshot(Mutex::new(connection))))
    }
}

impl Storage for Snapshot {
    fn commit(&self, _: Commit) -> Answering<'_, Vec<Written>> {
        Box::pin(async { Err(StoreError::ReadOnly) })
    }

    fn query(&self, queries: Vec<Query>) -> Answering<'_, Vec<Answer>> {
        let connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let answers = queries.iter().map(|query| answer::answer(&connection, query)).collect();
        Box::pin(async { answers })
    }
}
