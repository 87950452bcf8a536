//! The storage port in memory: what other implementations are compared with, and the ledger of fast tests.
//!
//! Nothing survives the process. One lock guards everything, so each call sees and makes one state; a refused commit
//! is undone row by row.

mod erase;
mod read;
mod rows;
mod sources;
mod table;
mod write;

use rows::LedgerTables;
use std::sync::{Mutex, MutexGuard, PoisonError};
use wunderblock::store::{Answer, Answering, Query, Storage, Write, Written};

/// A ledger in memory.
#[derive(Debug, Default)]
pub struct MemoryStorage {
    state: Mutex<LedgerTables>,
}

impl MemoryStorage {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, LedgerTables> {
        // No code that holds the lock can panic half-way through a change that matters.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Storage for MemoryStorage {
    fn commit(&self, writes: Vec<Write>) -> Answering<'_, Vec<Written>> {
        Box::pin(async move {
            let mut state = self.state();
            let ends = writes.iter().any(Write::ends_epoch);
            let written = writes.into_iter().map(|write| state.write(write)).collect();
            match &written {
                Ok(_) => {
                    state.epoch += u64::from(ends);
                    state.settle();
                }
                Err(_) => state.roll_back(),
            }
            written
        })
    }

    fn query(&self, queries: Vec<Query>) -> Answering<'_, Vec<Answer>> {
        Box::pin(async move {
            let state = self.state();
            queries.into_iter().map(|query| state.answer(query)).collect()
        })
    }
}
