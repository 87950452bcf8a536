//! One lane of a session.

pub(crate) mod built;

use crate::compact::state::{LaneState, read_lane_state};
use crate::compact::undo::{Undone, undo_compaction};
use crate::context::due_for;
use crate::error::Error;
use crate::future::BoxFuture;
use crate::memory::{MemoryLane, lane_in_memory};
use crate::request::options::ContextOptions;
use crate::session::Session;
use built::{LaneBuilt, built_lanes, resumed};
use wunderblock_core::compact::Due;
use wunderblock_core::id::LaneId;

/// One lane of a session: what a consumer of it is shown. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SessionLane {
    session: Session,
    id: Option<LaneId>,
}

impl Session {
    /// A lane of the session, whether or not a request was built for it yet. Without an id it is the one that was built last,
    /// by the time something is asked of it; the main lane before the first.
    #[must_use]
    pub fn lane(&self, id: impl Into<Option<LaneId>>) -> SessionLane {
        SessionLane { session: self.clone(), id: id.into() }
    }
}

impl SessionLane {
    /// What the lane was built for last; none before its first request.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn built(&self) -> BoxFuture<'_, Option<LaneBuilt>> {
        Box::pin(async move {
            let mut lanes = built_lanes(&self.session).await?.into_iter();
            Ok(lanes.find(|built| self.id.as_ref().is_none_or(|id| *id == built.lane)))
        })
    }

    /// Undoes the lane's newest compaction that is not undone yet: what was shown before it is shown again.
    ///
    /// # Errors
    /// When there is none.
    pub fn undo<'a>(&'a self) -> BoxFuture<'a, Undone> {
        Box::pin(async move { undo_compaction(&self.session, &self.found().await?).await })
    }

    /// Whether the lane's next request makes it due for a compaction by the options' policy, and why.
    ///
    /// # Errors
    /// When the ledger cannot be used.
    pub fn due(&self, options: impl Into<ContextOptions>) -> BoxFuture<'_, Option<Due>> {
        let options = options.into();
        Box::pin(async move {
            let lane = self.id.clone().or(options.lane.clone());
            let options = resumed(&self.session, &ContextOptions { lane, ..options }).await?;
            due_for(&self.session, &options).await
        })
    }

    /// What the lane is doing.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn state<'a>(&'a self) -> BoxFuture<'a, LaneState> {
        Box::pin(async move { read_lane_state(&self.session, &self.found().await?).await })
    }

    /// A copy of the session with this lane, in memory. What happens to the copy does not happen to the session.
    ///
    /// # Errors
    /// When there is no such session, or it cannot be read.
    pub fn in_memory<'a>(&'a self) -> BoxFuture<'a, MemoryLane> {
        Box::pin(async move { lane_in_memory(&self.session, self.found().await?).await })
    }

    /// Its id.
    async fn found(&self) -> Result<LaneId, Error> {
        match &self.id {
            Some(id) => Ok(id.clone()),
            None => Ok(self.built().await?.map(|built| built.lane).unwrap_or_default()),
        }
    }
}
