//! The storage port in memory: the reference for other implementations, and the ledger of fast tests.
//!
//! Nothing survives the process. One lock guards all tables, so each call sees and leaves a consistent state. A
//! refused commit is undone row by row.

mod basis;
mod erase;
mod reach;
mod read;
mod rows;
mod sources;
mod table;
mod write;

use rows::LedgerTables;
use std::sync::{Mutex, MutexGuard, PoisonError};
use wunderblock_store::{Answer, Answering, Commit, Query, Reach, Storage, Written};

/// A ledger in memory.
#[derive(Debug, Default)]
pub struct MemoryStorage {
    state: Mutex<LedgerTables>,
}

impl MemoryStorage {
    /// Creates an empty ledger.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, LedgerTables> {
        // A poisoned lock is still usable: no code that holds it can panic halfway through a change that matters.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Storage for MemoryStorage {
    fn commit(&self, commit: Commit) -> Answering<'_, Vec<Written>> {
        Box::pin(async move {
            let mut state = self.state();
            let written = state.holds(&commit.basis).and_then(|()| {
                let erasing = commit.erasing();
                let written = commit.writes.into_iter().map(|write| state.write(write)).collect();
                erasing.into_iter().for_each(|tenant| state.begin_epoch(tenant));
                written
            });
            match &written {
                Ok(_) => state.settle(),
                Err(_) => state.roll_back(),
            }
            written
        })
    }

    fn query(&self, queries: Vec<Query>) -> Answering<'_, Vec<Answer>> {
        Box::pin(async move {
            let state = self.state();
            queries.into_iter().map(|query| state.answer(&Reach::tenant(), query)).collect()
        })
    }
}
