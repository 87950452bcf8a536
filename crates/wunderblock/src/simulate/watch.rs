//! Telling how far a simulation is, and hearing whether to go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Told how many requests of how many have been built, over all policies and windows of the histories read so far; it answers
/// whether to go on.
pub type OnSimulated = Arc<dyn Fn(u64, u64) -> bool + Send + Sync>;

/// Who watches a simulation.
pub(super) struct Watch {
    progress: Option<OnSimulated>,
    done: AtomicU64,
    of: AtomicU64,
    stopped: AtomicBool,
}

impl Watch {
    /// Begins.
    pub(super) fn new(progress: Option<OnSimulated>) -> Self {
        Self { progress, done: AtomicU64::new(0), of: AtomicU64::new(0), stopped: AtomicBool::new(false) }
    }

    /// Adds requests that are to be built: how many a history has is known when it was read.
    pub(super) fn expect(&self, requests: u64) {
        self.of.fetch_add(requests, Ordering::Relaxed);
    }

    /// Tells of another request. Whether to go on.
    pub(super) fn tell(&self) -> bool {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let on =
            self.progress.as_ref().is_none_or(|progress| progress(done, self.of.load(Ordering::Relaxed)));
        self.stopped.fetch_or(!on, Ordering::Relaxed);
        !self.stopped.load(Ordering::Relaxed)
    }
}
