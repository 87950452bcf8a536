//! Telling how far a simulation is, and hearing whether to go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Told how many requests of how many have been built, over all policies; it answers whether to go on.
pub type OnSimulated = Arc<dyn Fn(u64, u64) -> bool + Send + Sync>;

/// Who watches a simulation.
pub(super) struct Watch {
    progress: Option<OnSimulated>,
    done: AtomicU64,
    of: u64,
    stopped: AtomicBool,
}

impl Watch {
    /// Begins; `of` is the number of requests.
    pub(super) fn new(progress: Option<OnSimulated>, of: u64) -> Self {
        Self { progress, done: AtomicU64::new(0), of, stopped: AtomicBool::new(false) }
    }

    /// Tells of another request. Whether to go on.
    pub(super) fn tell(&self) -> bool {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let on = self.progress.as_ref().is_none_or(|progress| progress(done, self.of));
        self.stopped.fetch_or(!on, Ordering::Relaxed);
        !self.stopped.load(Ordering::Relaxed)
    }
}
