//! Undoing: the lane's state before a compaction, recorded anew.

use super::history::{recorded_steps, undone_steps};
use super::sweep::SWEEP;
use crate::engine::unexpected;
use crate::error::Error;
use crate::limits;
use crate::record::{append_events, engine_event};
use crate::session::Session;
use crate::store::{Marked, StoreError};
use wunderblock_core::compaction::{CompactionOutcome, CompactionUndone};
use wunderblock_core::event::{Fact, ViewTrimmed};
use wunderblock_core::id::LaneId;
use wunderblock_core::plan::{Trim, TrimReason};
use wunderblock_core::units::{Seq, Tokens};

/// What was undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The lane.
    pub lane: LaneId,
    /// Where the compaction is recorded.
    pub compaction: Seq,
    /// Its policy.
    pub policy: String,
    /// What the request took before it, and takes again.
    pub before: Tokens,
    /// What it took after it.
    pub after: Tokens,
    /// Where the lane's new step is recorded.
    pub recorded: Seq,
}

/// Undoes the lane's newest compaction that is not undone yet: what was shown before it is shown again.
///
/// # Errors
/// When there is none.
pub(crate) async fn undo_compaction(session: &Session, lane: &LaneId) -> Result<Undone, Error> {
    for _ in 0..limits::BUILD_RETRIES {
        let head = session.info().await?.head;
        let undone = undone_steps(session, Marked::OfLane("compaction.undone", lane.clone()), head).await?;
        let steps = recorded_steps(session, lane, head).await?;
        let place = steps.iter().position(|(at, step)| {
            step.reason == TrimReason::Compacted && step.compaction.is_some() && !undone.contains(at)
        });
        let Some((place, (at, step))) = place.and_then(|place| Some((place, steps.get(place)?))) else {
            return Err(Error::NothingToUndo(lane.clone()));
        };
        // What was swept for a compaction goes with it.
        let swept = |(_, step): &&(Seq, ViewTrimmed)| {
            step.compaction.as_ref().is_some_and(|done| &*done.level == SWEEP)
        };
        let with = steps.iter().skip(place + 1).take_while(swept);
        let gone: Vec<Seq> = std::iter::once(*at).chain(with.map(|(at, _)| *at)).collect();
        let before = steps.get(place + gone.len());
        let before = before.map_or_else(Trim::default, |(_, step)| step.trim.clone());
        let Some(done) = step.compaction.as_deref() else { return Err(unexpected()) };
        let restored = restored_step(lane, *at, before, done);
        match record_undone(session, head, &gone, restored).await {
            Err(Error::Store(StoreError::HeadMoved { .. })) => {}
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

/// The lane's step after an undo: what was shown before the compaction.
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

/// Records that steps were undone, and the lane's step after it. Answers where that is recorded.
async fn record_undone(
    session: &Session,
    head: Seq,
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
    append_events(&session.engine, &session.id, Some(head), events).await?;
    Ok(recorded)
}
