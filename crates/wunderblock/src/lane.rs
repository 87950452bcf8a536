//! One lane of a session.

use crate::compact::state::{LaneState, read_lane_state};
use crate::compact::undo::{Undone, undo_compaction};
use crate::context::due_for;
use crate::future::BoxFuture;
use crate::memory::{MemoryLane, lane_in_memory};
use crate::request::options::ContextOptions;
use crate::session::Session;
use wunderblock_core::compact::Due;
use wunderblock_core::id::LaneId;

/// One lane of a session: what a consumer of it is shown. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SessionLane {
    session: Session,
    id: LaneId,
}

impl Session {
    /// A lane of the session, whether or not a request was built for it yet.
    #[must_use]
    pub fn lane(&self, id: LaneId) -> SessionLane {
        SessionLane { session: self.clone(), id }
    }
}

impl SessionLane {
    /// Undoes the lane's newest compaction that is not undone yet: what was shown before it is shown again.
    ///
    /// # Errors
    /// When there is none.
    pub fn undo<'a>(&'a self) -> BoxFuture<'a, Undone> {
        Box::pin(async move { undo_compaction(&self.session, &self.id).await })
    }

    /// Whether the lane's next request makes it due for a compaction by the options' policy, and why.
    ///
    /// # Errors
    /// When the ledger cannot be used.
    pub fn due(&self, options: impl Into<ContextOptions>) -> BoxFuture<'_, Option<Due>> {
        let options = ContextOptions { lane: Some(self.id.clone()), ..options.into() };
        Box::pin(async move { due_for(&self.session, &options).await })
    }

    /// What the lane is doing.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn state<'a>(&'a self) -> BoxFuture<'a, LaneState> {
        Box::pin(async move { read_lane_state(&self.session, &self.id).await })
    }

    /// A copy of the session with this lane, in memory. What happens to the copy does not happen to the session.
    ///
    /// # Errors
    /// When there is no such session, or it cannot be read.
    pub fn in_memory<'a>(&'a self) -> BoxFuture<'a, MemoryLane> {
        Box::pin(async move { lane_in_memory(&self.session, self.id.clone()).await })
    }
}
