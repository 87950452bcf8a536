//! Progress of a simulation, and its cancellation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Callback that receives the number of requests built and the number to build, over all policies and windows of the
/// histories already read. Returns whether to continue.
pub type OnSimulated = Arc<dyn Fn(u64, u64) -> bool + Send + Sync>;

/// Progress of a simulation, shared by its threads.
pub(super) struct Watch {
    progress: Option<OnSimulated>,
    done: AtomicU64,
    of: AtomicU64,
    stopped: AtomicBool,
}

impl Watch {
    pub(super) fn new(progress: Option<OnSimulated>) -> Self {
        Self { progress, done: AtomicU64::new(0), of: AtomicU64::new(0), stopped: AtomicBool::new(false) }
    }

    /// Adds requests to the expected number. The number of a history's requests is known once the history is read.
    pub(super) fn expect(&self, requests: u64) {
        self.of.fetch_add(requests, Ordering::Relaxed);
    }

    /// Reports one more request. Returns whether to continue.
    pub(super) fn tell(&self) -> bool {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let on =
            self.progress.as_ref().is_none_or(|progress| progress(done, self.of.load(Ordering::Relaxed)));
        self.stopped.fetch_or(!on, Ordering::Relaxed);
        !self.stopped.load(Ordering::Relaxed)
    }
}
