//! The next request of a lane: built, and compacted first if it is due. Every driver of a lane runs this one loop.
//!
//! ```text
//! build ─► due? ─► compact, and build again
//!        └─ else ─► record: preamble.changed … context.built ─► Turn
//! ```
//! The decisions of a build are recorded only if the session has not grown in the meantime. Otherwise, the build starts
//! again.

mod record;

use crate::base::error::Error;
use crate::compaction::compact::accounting::account::{Compacted, CompactionResult};
use crate::compaction::compact::compact_lane;
use crate::compaction::compact::due::{Drafted, find_due, is_short_of};
use crate::compaction::compact::options::CompactOptions;
use crate::ledger::recording::record::MadeFrom;
use crate::limits;
use crate::request::build::drafted;
use crate::request::desk::Desk;
use crate::request::input::job::BuildJob;
use crate::request::input::options::ContextOptions;
use crate::request::need::{AppendWanted, Asking};
use crate::request::stages::{ShorterTexts, Stopped};
use crate::request::steps::draft::Draft;
use crate::rules::compactor::Compactor;
use record::{refused, to_record};
use wunderblock_core::compact::{Due, Urgency};
use wunderblock_core::event::NewEvent;
use wunderblock_core::id::{LaneId, StreamId};
use wunderblock_core::policy::Policy;
use wunderblock_core::units::{Millis, Seq, Tokens};
use wunderblock_store::StoreError;

/// A request in the form in which its driver sends it.
pub(crate) trait Request: Drafted + Send + Sized + 'static {
    /// Builds the request.
    fn build(job: &BuildJob, ask: &Asking) -> impl Future<Output = Result<Self, Stopped>> + Send;

    /// Returns the events to append for the request, and the position of the request's own record.
    fn to_record(&self, stream: &StreamId, now: Millis) -> Result<(Seq, Vec<NewEvent>), Error>;

    /// Returns the number of tokens that the request takes of its limit.
    fn used(&self) -> Tokens;
}

impl Request for Draft {
    fn build(job: &BuildJob, ask: &Asking) -> impl Future<Output = Result<Self, Stopped>> + Send {
        drafted(job, ask)
    }

    fn to_record(&self, stream: &StreamId, now: Millis) -> Result<(Seq, Vec<NewEvent>), Error> {
        to_record(self, stream, now)
    }

    fn used(&self) -> Tokens {
        self.report.total_tokens
    }
}

/// A request, with the actions taken for it.
pub(crate) struct Turn<R> {
    pub(crate) request: Result<R, Error>,
    /// Position at which the request is recorded.
    pub(crate) recorded: Option<Seq>,
    /// Compaction that was made before the request.
    pub(crate) compacted: Option<Box<Compacted>>,
    /// Reason for a due compaction that is left to a worker.
    pub(crate) due: Option<Due>,
}

/// Builds the next request of a lane, compacts the lane first if it is due, and records the request. If even the
/// smallest request does not fit, that is recorded, and the request is an error.
///
/// # Errors
/// Returns an error if the driver cannot read or record.
pub(crate) async fn turn<R: Request>(desk: &Desk, options: &ContextOptions) -> Result<Turn<R>, Error> {
    let mut auto = AutoCompaction::default();
    for _ in 0..limits::BUILD_RETRIES {
        let drafted = R::build(&desk.house.job(options), &desk.ask).await;
        if compact_if_due(desk, options, &drafted, &mut auto).await? {
            continue;
        }
        let request = match drafted {
            Ok(request) => request,
            Err(Stopped::Failed(error)) => return Err(error),
            Err(Stopped::Refused { lane, refusal, .. }) => {
                let done = auto.describe(options.compactor.as_ref());
                let event = refused(&lane, &refusal, &done, desk.now())?;
                desk.append(None, vec![event], MadeFrom::Nothing).await?;
                let AutoCompaction { compacted, due, .. } = auto;
                return Ok(Turn { request: Err(Error::OverBudget(refusal)), recorded: None, compacted, due });
            }
        };
        match record(desk, &request).await {
            Err(Error::Store(StoreError::HeadMoved { .. } | StoreError::EpochMoved { .. })) => {}
            Err(error) => return Err(error),
            Ok(recorded) => {
                let AutoCompaction { compacted, due, .. } = auto;
                return Ok(Turn { request: Ok(request), recorded: Some(recorded), compacted, due });
            }
        }
    }
    Err(Error::Restless)
}

/// Returns the reason if the lane's next request is due for a compaction by a policy.
pub(crate) async fn next_due(
    desk: &Desk,
    policy: &Policy,
    options: &ContextOptions,
) -> Result<Option<Due>, Error> {
    let drafted = Draft::build(&desk.house.job(options), &desk.ask).await;
    find_due(desk, policy, &drafted).await
}

/// Appends the decisions of a build, unless the session has grown in the meantime.
async fn record<R: Request>(desk: &Desk, request: &R) -> Result<Seq, Error> {
    let (seq, events) = request.to_record(desk.stream(), desk.now())?;
    let planned = request.planned();
    let (through, counts) = (planned.through(), planned.fresh.clone());
    let (epoch, unasked) = (planned.snapshot.epoch, planned.unasked.iter());
    let made = match unasked.flat_map(|unasked| &unasked.entered).any(|one| one.session.is_some()) {
        true => MadeFrom::Tenant(epoch),
        false => MadeFrom::session(epoch, through),
    };
    desk.append_counted(AppendWanted { expect_head: Some(through), events, made, counts }).await?;
    Ok(seq)
}

/// Actions taken for a lane that is due.
#[derive(Default)]
struct AutoCompaction {
    tried: bool,
    compacted: Option<Box<Compacted>>,
    due: Option<Due>,
}

impl AutoCompaction {
    /// Describes what was done to make room for a request. The text depends only on the policy and on what does not
    /// fit.
    fn describe(&self, compactor: Option<&Compactor>) -> String {
        match compactor.filter(|compactor| !compactor.policy.is_off()) {
            None => "no policy compacts the lane".to_owned(),
            Some(compactor) if self.tried => {
                format!("a compaction by `{}` was due and could not make room", compactor.policy.name)
            }
            Some(_) => "no compaction could make room: they do not stand in the conversation".to_owned(),
        }
    }
}

/// Compacts the lane once if the draft shows that it is due. Returns whether the build must start again.
async fn compact_if_due<R: Request>(
    desk: &Desk,
    options: &ContextOptions,
    drafted: &Result<R, Stopped>,
    auto: &mut AutoCompaction,
) -> Result<bool, Error> {
    let Some(compactor) = options.compactor.as_ref().filter(|_| !auto.tried) else { return Ok(false) };
    let Some(due) = find_due(desk, &compactor.policy, drafted).await? else { return Ok(false) };
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
    let shortens = record_shorter(desk, drafted).await?;
    let is_ahead = due.level == Urgency::Ahead;
    let sweeps = !is_ahead && has_room_for_a_sweep(desk, &lane, drafted).await?;
    let wanted = CompactOptions {
        due: Some(due),
        sweep: sweeps,
        ..CompactOptions::new(
            ContextOptions { lane: Some(lane), compactor: None, ..options.clone() },
            compactor,
        )
    };
    let compacted = match compact_lane(desk, wanted).await {
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
fn lane_of<R: Request>(drafted: &Result<R, Stopped>) -> Option<&LaneId> {
    match drafted {
        Ok(draft) => Some(draft.planned().snapshot.lane()),
        Err(Stopped::Refused { lane, .. }) => Some(lane),
        Err(Stopped::Failed(_)) => None,
    }
}

/// Records that the lane begins again and that texts are shortened. A later compaction finds the lane in the state in
/// which the request would find it. Returns whether there was anything to record.
async fn record_shorter<R: Request>(desk: &Desk, drafted: &Result<R, Stopped>) -> Result<bool, Error> {
    let shorter = match drafted {
        Ok(draft) => draft.planned().shorter.clone(),
        Err(Stopped::Refused { shorter, .. }) => shorter.clone(),
        Err(Stopped::Failed(_)) => ShorterTexts::default(),
    };
    let ShorterTexts { through, epoch, events } = shorter;
    if events.is_empty() {
        return Ok(false);
    }
    match desk.append(Some(through), events, MadeFrom::session(epoch, through)).await {
        // Another process recorded the same events or later ones first, or erased a text.
        Ok(()) | Err(Error::Store(StoreError::HeadMoved { .. } | StoreError::EpochMoved { .. })) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Returns whether the entries before the lane's view can be summarised immediately. The session must be small enough
/// for a person to wait, and the summaries must fit.
async fn has_room_for_a_sweep<R: Request>(
    desk: &Desk,
    lane: &LaneId,
    drafted: &Result<R, Stopped>,
) -> Result<bool, Error> {
    let room = drafted.as_ref().map_or(Tokens::ZERO, |draft| {
        let planned = draft.planned();
        let used = draft.used().max(planned.measured());
        planned.target.budget.limit().tokens.saturating_sub(used)
    });
    let (_, text) = desk.standing().await?;
    Ok(text <= limits::SWEEP_AT_ONCE && !is_short_of(desk, lane, room).await?)
}
