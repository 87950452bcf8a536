//! Compacts a lane before its request is sent, at most once, if the lane is due. The build then starts again.

use crate::base::error::Error;
use crate::compaction::compact::account::{Compacted, CompactionResult};
use crate::compaction::compact::compact;
use crate::compaction::compact::due::{after_refusal, is_due, is_short_of};
use crate::compaction::compact::options::CompactOptions;
use crate::ledger::record::{MadeFrom, append_events};
use crate::ledger::session::Session;
use crate::limits;
use crate::request::draft::Draft;
use crate::request::options::ContextOptions;
use crate::request::stages::{ShorterTexts, Stopped, shorter_of};
use crate::rules::compactor::Compactor;
use wunderblock_core::compact::{Due, Urgency};
use wunderblock_core::id::LaneId;
use wunderblock_core::policy::Policy;
use wunderblock_core::units::Tokens;
use wunderblock_store::StoreError;

/// Actions taken for a lane that is due.
#[derive(Default)]
pub(super) struct AutoCompaction {
    tried: bool,
    pub(super) compacted: Option<Box<Compacted>>,
    pub(super) due: Option<Due>,
}

impl AutoCompaction {
    /// Describes what was done to make room for a request. The text depends only on the policy and on what does not
    /// fit.
    pub(super) fn describe(&self, compactor: Option<&Compactor>) -> String {
        match compactor.filter(|compactor| !compactor.policy.is_off()) {
            None => "no policy compacts the lane".to_owned(),
            Some(compactor) if self.tried => {
                format!("a compaction by `{}` was due and could not make room", compactor.policy.name)
            }
            Some(_) => "no compaction could make room: they do not stand in the conversation".to_owned(),
        }
    }
}

/// Returns whether a draft, or the refusal of one, makes the lane due.
pub(super) async fn find_due(
    session: &Session,
    policy: &Policy,
    drafted: &Result<Draft, Stopped>,
) -> Result<Option<Due>, Error> {
    match drafted {
        Ok(draft) => is_due(session, policy, draft).await,
        Err(Stopped::Refused { refusal, .. }) => Ok(after_refusal(policy, refusal)),
        Err(Stopped::Failed(_)) => Ok(None),
    }
}

/// Compacts the lane once if the draft shows that it is due. Returns whether the build must start again.
pub(super) async fn compact_if_due(
    session: &Session,
    options: &ContextOptions,
    drafted: &Result<Draft, Stopped>,
    auto: &mut AutoCompaction,
) -> Result<bool, Error> {
    let Some(compactor) = options.compactor.as_ref().filter(|_| !auto.tried) else { return Ok(false) };
    let Some(due) = find_due(session, &compactor.policy, drafted).await? else { return Ok(false) };
    auto.tried = true;
    let mut compactor = compactor.clone();
    if compactor.background {
        if due.level < Urgency::Overflow {
            auto.due = Some(due);
            return Ok(false);
        }
        // Without a summariser, the compaction does not wait for a model.
        compactor.summariser = None;
    }
    let Some(lane) = lane_of(drafted).cloned() else { return Ok(false) };
    let shortens = record_shorter(session, drafted).await?;
    let is_ahead = due.level == Urgency::Ahead;
    let sweeps = !is_ahead && has_room_for_a_sweep(session, &lane, drafted).await?;
    let wanted = CompactOptions {
        due: Some(due),
        sweep: sweeps,
        ..CompactOptions::new(
            ContextOptions { lane: Some(lane), compactor: None, ..options.clone() },
            compactor,
        )
    };
    let compacted = match compact(session, &wanted).await {
        // Another process has built the lane in the meantime. Building again shows what remains to be done.
        Err(Error::Overtaken(_)) => {
            auto.tried = false;
            return Ok(true);
        }
        compacted => compacted?,
    };
    // A chunk that is not full yet is not worth reporting.
    if is_ahead && compacted.outcome == CompactionResult::NothingGained {
        return Ok(shortens);
    }
    let again =
        shortens || matches!(compacted.outcome, CompactionResult::Compacted | CompactionResult::Prepared);
    auto.compacted = Some(Box::new(compacted));
    Ok(again)
}

/// Returns the lane of a draft or of a refused draft.
fn lane_of(drafted: &Result<Draft, Stopped>) -> Option<&LaneId> {
    match drafted {
        Ok(draft) => Some(draft.lane()),
        Err(Stopped::Refused { lane, .. }) => Some(lane),
        Err(Stopped::Failed(_)) => None,
    }
}

/// Records that the lane begins again and that texts are shortened. A later compaction finds the lane in the state in
/// which the request would find it. Returns whether there was anything to record.
async fn record_shorter(session: &Session, drafted: &Result<Draft, Stopped>) -> Result<bool, Error> {
    let shorter = shorter_of(drafted, |draft| &draft.planned);
    let ShorterTexts { through, epoch, events } = shorter.cloned().unwrap_or_default();
    if events.is_empty() {
        return Ok(false);
    }
    match append_events(session, Some(through), events, MadeFrom::session(epoch, through)).await {
        // Another process recorded the same events or later ones first, or erased a text.
        Ok(_) | Err(Error::Store(StoreError::HeadMoved { .. } | StoreError::EpochMoved { .. })) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Returns whether the entries before the lane's view can be summarised immediately. The session must be small enough
/// for a person to wait, and the summaries must fit.
async fn has_room_for_a_sweep(
    session: &Session,
    lane: &LaneId,
    drafted: &Result<Draft, Stopped>,
) -> Result<bool, Error> {
    let room = drafted.as_ref().map_or(Tokens::ZERO, |draft| {
        let used = draft.report.total_tokens.max(draft.planned.measured());
        draft.report.limit.saturating_sub(used)
    });
    Ok(session.info().await?.text <= limits::SWEEP_AT_ONCE && !is_short_of(session, lane, room).await?)
}
