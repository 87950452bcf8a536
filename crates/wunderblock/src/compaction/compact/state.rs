//! State of a lane: whether it is being compacted, and how many model calls its summaries took.

use super::history::find_newest;
use crate::base::error::Error;
use crate::base::parallel::pause;
use crate::compaction::drive::lanes::find_lane;
use crate::compaction::drive::lease::{is_void, lease_key};
use crate::ledger::session::Session;
use crate::limits;
use crate::request::desk::Desk;
use crate::request::input::options::ContextOptions;
use wunderblock_core::event::Fact;
use wunderblock_core::id::LaneId;
use wunderblock_core::policy::{Meanwhile, Policy};
use wunderblock_core::units::Millis;
use wunderblock_store::{Answer, Marked, Query};

/// State of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaneState {
    /// No compaction is running.
    Active,
    /// A worker is compacting the lane.
    Compacting {
        /// Name of the worker.
        worker: String,
        /// Time at which the worker's lease ends unless renewed.
        until: Millis,
    },
}

/// Returns the state of a lane.
///
/// # Errors
/// Returns an error if the ledger cannot be read.
pub(crate) async fn read_lane_state(session: &Session, lane: &LaneId) -> Result<LaneState, Error> {
    let query = Query::Lease { tenant: session.engine.tenant.no, key: lease_key(session, lane) };
    let lease = session.engine.ask(query, Answer::lease).await?;
    let now = session.engine.now();
    let held = lease.filter(|lease| lease.until > now && !is_void(lease, now));
    Ok(held.map_or(LaneState::Active, |lease| LaneState::Compacting {
        worker: lease.holder,
        until: lease.until,
    }))
}

/// If the policy asks requests to wait, waits until no worker compacts the lane, but at most as long as one unrenewed
/// lease, so that a busy worker cannot block a request forever.
pub(crate) async fn refuse_unsettled(
    session: &Session,
    policy: &Policy,
    options: &ContextOptions,
) -> Result<(), Error> {
    if policy.limits.meanwhile == Meanwhile::GoOn {
        return Ok(());
    }
    let lane = &find_lane(session, options).await?;
    let mut waited = 0;
    while waited < limits::COMPACTION_LEASE && read_lane_state(session, lane).await? != LaneState::Active {
        pause(PAUSE).await?;
        waited += i64::try_from(PAUSE.as_millis()).unwrap_or(i64::MAX);
    }
    Ok(())
}

/// Counts the model calls for a lane's summaries in the last hour. Stops at `most`.
pub(super) async fn count_calls(desk: &Desk, lane: &LaneId, most: u32) -> Result<u32, Error> {
    let head = desk.standing().await?.0;
    let since = Millis(desk.now().0.saturating_sub(HOUR));
    let mut calls = 0_u32;
    for kind in ["session.compacted", "compaction.rejected"] {
        let recent = find_newest(desk, Marked::OfLane(kind, lane.clone()), head, |event| {
            let spent = match event.fact {
                _ if event.at < since => return Some(()),
                Some(Fact::SessionCompacted(made)) => made.spent,
                Some(Fact::CompactionRejected(rejected)) => rejected.spent,
                _ => None,
            };
            calls = calls.saturating_add(spent.map_or(0, |spent| spent.calls));
            (calls >= most).then_some(())
        });
        recent.await?;
    }
    Ok(calls)
}

/// Interval between two checks of a lane's state.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(25);
/// An hour in milliseconds.
const HOUR: i64 = 3_600_000;
