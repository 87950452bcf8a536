//! Undoing a compaction: the lane's state before the compaction is recorded again.

use super::history::{recorded_steps, undone_steps};
use crate::base::error::Error;
use crate::compaction::compact::sweeping::sweep::SWEEP;
use crate::ledger::engine::unexpected;
use crate::ledger::recording::record::{MadeFrom, append_events, engine_event, standing};
use crate::ledger::session::Session;
use crate::limits;
use wunderblock_core::compaction::{CompactionOutcome, CompactionUndone};
use wunderblock_core::event::{Fact, ViewTrimmed};
use wunderblock_core::id::LaneId;
use wunderblock_core::plan::{Trim, TrimReason};
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_store::{Marked, StoreError};

/// Account of an undo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// Lane.
    pub lane: LaneId,
    /// Position of the undone compaction.
    pub compaction: Seq,
    /// Name of the compaction's policy.
    pub policy: String,
    /// Number of tokens in the request before the compaction, and again after the undo.
    pub before: Tokens,
    /// Tokens in the request after the compaction.
    pub after: Tokens,
    /// Position of the lane's new step.
    pub recorded: Seq,
}

/// Undoes the lane's latest compaction that has not been undone yet, so that requests show again what they showed
/// before that compaction.
///
/// # Errors
/// Returns an error if the lane has no compaction to undo, or the ledger cannot be read or written.
pub(crate) async fn undo_compaction(session: &Session, lane: &LaneId) -> Result<Undone, Error> {
    for _ in 0..limits::BUILD_RETRIES {
        let (head, epoch) = standing(session).await?;
        let undone = undone_steps(session, Marked::OfLane("compaction.undone", lane.clone()), head).await?;
        let steps = recorded_steps(session, lane, head).await?;
        let place = steps.iter().position(|(at, step)| {
            step.reason == TrimReason::Compacted && step.compaction.is_some() && !undone.contains(at)
        });
        let Some((place, (at, step))) = place.and_then(|place| Some((place, steps.get(place)?))) else {
            return Err(Error::NothingToUndo(lane.clone()));
        };
        // The sweeps made for a compaction are undone with it.
        let swept = |(_, step): &&(Seq, ViewTrimmed)| {
            step.compaction.as_ref().is_some_and(|done| &*done.level == SWEEP)
        };
        let with = steps.iter().skip(place + 1).take_while(swept);
        let gone: Vec<Seq> = std::iter::once(*at).chain(with.map(|(at, _)| *at)).collect();
        let before = steps.get(place + gone.len());
        let before = before.map_or_else(Trim::default, |(_, step)| step.trim.clone());
        let Some(done) = step.compaction.as_deref() else { return Err(unexpected()) };
        let restored = restored_step(lane, *at, before, done);
        match record_undone(session, head, epoch, &gone, restored).await {
            Err(Error::Store(StoreError::HeadMoved { .. } | StoreError::EpochMoved { .. })) => {}
            Err(error) => return Err(error),
            Ok(recorded) => {
                return Ok(Undone {
                    lane: lane.clone(),
                    compaction: *at,
                    policy: done.policy.to_string(),
                    before: done.tokens_before,
                    after: done.tokens_after,
                    recorded,
                });
            }
        }
    }
    Err(Error::Restless)
}

/// Returns the step that restores what the lane showed before the compaction.
fn restored_step(lane: &LaneId, compaction: Seq, trim: Trim, done: &CompactionOutcome) -> ViewTrimmed {
    let compaction = CompactionOutcome {
        policy: done.policy.clone(),
        level: "manual".into(),
        trigger: format!("the compaction at position {compaction} was undone").into(),
        tokens_before: done.tokens_after,
        tokens_after: done.tokens_before,
        rungs: Vec::new(),
        focus: None,
        calibration: None,
    };
    ViewTrimmed {
        lane: lane.clone(),
        trim,
        reason: TrimReason::Undone,
        target: None,
        compaction: Some(Box::new(compaction)),
    }
}

/// Records that the steps in `gone` were undone, and the step that restores the lane. Returns the position of that
/// step.
async fn record_undone(
    session: &Session,
    head: Seq,
    epoch: u64,
    gone: &[Seq],
    restored: ViewTrimmed,
) -> Result<Seq, Error> {
    let mut events = Vec::new();
    let mut recorded = head.next();
    for compaction in gone {
        let undone = CompactionUndone { lane: restored.lane.clone(), compaction: *compaction };
        events.push(engine_event(session, recorded, Fact::CompactionUndone(undone))?);
        recorded = recorded.next();
    }
    events.push(engine_event(session, recorded, Fact::ViewTrimmed(restored))?);
    append_events(session, Some(head), events, MadeFrom::session(epoch, head)).await?;
    Ok(recorded)
}
