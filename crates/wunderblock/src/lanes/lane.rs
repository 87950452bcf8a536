//! One lane of a session.

use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::compaction::compact::state::{LaneState, read_lane_state};
use crate::compaction::compact::undo::{Undone, undo_compaction};
use crate::compaction::drive::lanes::{LaneBuilt, built_lanes, resumed};
use crate::lanes::context::due_for;
use crate::lanes::in_memory::{MemoryLane, lane_in_memory};
use crate::ledger::session::Session;
use crate::request::input::options::ContextOptions;
use wunderblock_core::compact::Due;
use wunderblock_core::id::LaneId;

/// One lane of a session: a view for one consumer. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct SessionLane {
    session: Session,
    id: Option<LaneId>,
}

impl Session {
    /// Returns a lane of the session, whether or not a request has been built for it. Without an id, each operation
    /// uses the lane that was built most recently, or the main lane if no request has been built yet.
    #[must_use]
    pub fn lane(&self, id: impl Into<Option<LaneId>>) -> SessionLane {
        SessionLane { session: self.clone(), id: id.into() }
    }
}

impl SessionLane {
    /// Returns the settings of the lane's latest request. `None` before the lane's first request.
    ///
    /// # Errors
    /// Returns an error if the ledger cannot be read.
    pub fn built(&self) -> BoxFuture<'_, Option<LaneBuilt>> {
        Box::pin(async move {
            let mut lanes = built_lanes(&self.session).await?.into_iter();
            Ok(lanes.find(|built| self.id.as_ref().is_none_or(|id| *id == built.lane)))
        })
    }

    /// Undoes the lane's latest compaction that has not been undone yet: requests show the earlier content again.
    ///
    /// # Errors
    /// Fails if the lane has no compaction to undo.
    pub fn undo<'a>(&'a self) -> BoxFuture<'a, Undone> {
        Box::pin(async move { undo_compaction(&self.session, &self.found().await?).await })
    }

    /// Returns the reason why the lane's next request is due for a compaction under the policy in the options, if it
    /// is due.
    ///
    /// # Errors
    /// Fails if the ledger cannot be used.
    pub fn due(&self, options: impl Into<ContextOptions>) -> BoxFuture<'_, Option<Due>> {
        let options = options.into();
        Box::pin(async move {
            let lane = self.id.clone().or(options.lane.clone());
            let options = resumed(&self.session, &ContextOptions { lane, ..options }).await?;
            due_for(&self.session, &options).await
        })
    }

    /// Returns what the lane is doing.
    ///
    /// # Errors
    /// Returns an error if the ledger cannot be read.
    pub fn state<'a>(&'a self) -> BoxFuture<'a, LaneState> {
        Box::pin(async move { read_lane_state(&self.session, &self.found().await?).await })
    }

    /// Copies the session with this lane into memory. Changes to the copy do not affect the session.
    ///
    /// # Errors
    /// Fails if the session does not exist or cannot be read.
    pub fn in_memory<'a>(&'a self) -> BoxFuture<'a, MemoryLane> {
        Box::pin(async move { lane_in_memory(&self.session, self.found().await?).await })
    }

    /// Returns the lane's id, or the id of the lane that was built last if no id was given.
    async fn found(&self) -> Result<LaneId, Error> {
        match &self.id {
            Some(id) => Ok(id.clone()),
            None => Ok(self.built().await?.map(|built| built.lane).unwrap_or_default()),
        }
    }
}
