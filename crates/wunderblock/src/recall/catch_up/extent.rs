//! Extent of the background work.

use crate::base::parallel;
use crate::ledger::session::PageLimit;
use crate::limits::{CATCH_UP_BYTES, CATCH_UP_EVENTS, SEARCH_BATCH_BYTES};
use wunderblock_core::units::{Millis, Seq};
use wunderblock_store::{DerivedTable, StreamInfo};

/// Extent of the background work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Derived tables that are continued.
    pub(crate) tables: &'static [DerivedTable],
    /// Time from which no further batch is started.
    pub(crate) until: Option<Millis>,
}

impl Extent {
    pub(crate) const ALL: Self = Self { tables: &DerivedTable::ALL, until: None };

    /// Returns whether the time limit has passed at `now`.
    pub(super) fn is_over(self, now: impl FnOnce() -> Millis) -> bool {
        self.until.is_some_and(|until| now() >= until)
    }

    /// Returns the last position of a stream whose work is complete.
    pub(super) fn done(self, info: &StreamInfo) -> Seq {
        self.tables.iter().map(|table| info.reach(*table)).min().unwrap_or(info.head)
    }

    /// Returns the maximum number of events and the maximum amount of text in a batch if `total` events are waiting.
    pub(super) fn room(self, total: u64) -> PageLimit {
        match self.until {
            None => {
                let events = (total / parallel::workers() as u64).clamp(BATCH_MIN, CATCH_UP_EVENTS);
                PageLimit { events, text: CATCH_UP_BYTES }
            }
            Some(_) => PageLimit { events: BATCH_MIN, text: SEARCH_BATCH_BYTES },
        }
    }
}

/// Minimum events per batch. Smaller batches leave more segments to join, which costs more than their parallel work
/// saves.
pub(super) const BATCH_MIN: u64 = 256;
