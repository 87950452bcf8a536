//! How much of the background work is done, and how far it has come.

use crate::limits::{CATCH_UP_BYTES, CATCH_UP_EVENTS, SEARCH_BATCH_BYTES};
use crate::parallel;
use crate::store::StreamInfo;
use wunderblock_core::units::{Bytes, Millis, Seq};

/// How far the background has come, for a progress bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Events done.
    pub done: u64,
    /// Events in all.
    pub total: u64,
}

/// How much of the background's work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Whether texts are counted as well, which takes longer than indexing them.
    pub(crate) counting: bool,
    /// No batch is begun from this time on.
    pub(crate) until: Option<Millis>,
}

impl Extent {
    pub(crate) const ALL: Self = Self { counting: true, until: None };

    /// Whether its time has come to an end by `now`.
    pub(super) fn is_over(self, now: impl FnOnce() -> Millis) -> bool {
        self.until.is_some_and(|until| now() >= until)
    }

    /// Up to where a stream's work is done.
    pub(super) fn done(self, info: &StreamInfo) -> Seq {
        if self.counting { info.counted.min(info.indexed) } else { info.indexed }
    }

    /// Maximum events and text of a batch, where `total` events are waiting.
    pub(super) fn room(self, total: u64) -> (u64, Bytes) {
        match self.until {
            None => ((total / parallel::workers() as u64).clamp(BATCH_MIN, CATCH_UP_EVENTS), CATCH_UP_BYTES),
            Some(_) => (BATCH_MIN, SEARCH_BATCH_BYTES),
        }
    }
}

/// Minimum number of events in a batch: smaller ones leave more segments to be joined than they give threads to do.
pub(super) const BATCH_MIN: u64 = 256;
