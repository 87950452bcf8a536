//! Measures a build's request and decides whether its lane is due for compaction.

use super::history::{find_newest, marked_events, recorded_steps, task_marks};
use super::prepare::Prepared;
use crate::base::error::Error;
use crate::request::desk::Desk;
use crate::request::stages::{Planned, Rendered, Stopped};
use crate::request::steps::draft::Draft;
use wunderblock_core::compact::{Due, LaneMeasurement, TaskMark, Urgency, due, due::stands};
use wunderblock_core::cost;
use wunderblock_core::event::Fact;
use wunderblock_core::id::LaneId;
use wunderblock_core::message::MessageOrigin;
use wunderblock_core::pair::arrange;
use wunderblock_core::plan::{Fixed, PlanRefusal, TrimReason};
use wunderblock_core::policy::{Permille, Policy};
use wunderblock_core::section::Section;
use wunderblock_core::units::{Millis, Seq, Tokens};
use wunderblock_core::view::{View, ViewEntry};
use wunderblock_store::Marked;

/// Part of a lane's limit by which the lane must grow before it is compacted automatically again once the breaker has
/// stopped it.
const REGROW: Permille = Permille(100);
/// Part of the window that must be appended after an undo before the lane is compacted automatically again. Until
/// then, content that does not fit is left out without summaries: a person who undid one compaction does not want the
/// next.
const UNDONE: Permille = Permille(200);

/// Size of a request, as far as the size can make the request's lane due.
#[derive(Clone, Copy)]
pub(crate) struct MeasuredSize {
    tokens: Tokens,
    messages: u64,
    /// Tokens of the conversation outside summaries.
    unsummarised: Tokens,
    /// Number of tokens in `unsummarised` that come after the summaries made ahead.
    unprepared: Tokens,
}

impl MeasuredSize {
    fn of(tokens: Tokens, planned: &Planned, shown: impl Iterator<Item = (Seq, Section, Tokens)>) -> Self {
        let view = &planned.decision.view;
        let told = view.lane().prepared_to(view.trim(), view.hidden());
        let mut size = Self { tokens, messages: 0, unsummarised: Tokens::ZERO, unprepared: Tokens::ZERO };
        for (seq, section, tokens) in shown {
            size.messages += 1;
            if section == Section::Transcript {
                size.unsummarised += tokens;
                size.unprepared += if seq > told { tokens } else { Tokens::ZERO };
            }
        }
        size
    }
}

/// Measures a lane by one of its requests.
fn measure(planned: &Planned, size: MeasuredSize, now: Millis) -> LaneMeasurement {
    let (snapshot, budget, view) = (&planned.snapshot, planned.target.budget, &*planned.decision.view);
    let step = snapshot.step.as_ref();
    let since = step.map_or(snapshot.opened_at, |(at, _)| *at);
    let lifetime = planned.target.row.cache.lifetime;
    let cached = snapshot.before().map(|(at, _)| at).filter(|_| lifetime > Millis::ZERO);
    let until = cached.map(|at| at.0.saturating_add(lifetime.0));
    LaneMeasurement {
        // The provider's own count, if it is higher than ours.
        tokens: size.tokens.max(planned.measured()),
        limit: budget.limit().tokens,
        window: budget.window,
        // The request fits only because something was left out.
        overflows: planned.decision.plan.step == Some(TrimReason::OverBudget),
        refused: snapshot.refused,
        first: snapshot.begins(),
        cache_lost: is_lost(planned, now),
        unsummarised: size.unsummarised,
        unprepared: size.unprepared,
        messages: size.messages,
        age: Millis(now.0.saturating_sub(since.0)),
        cache_left: until.map(|until| Millis(until.saturating_sub(now.0))),
        after_last: step.and_then(|(_, step)| step.compaction.as_ref()).map(|last| last.tokens_after),
        stands: stands(&arrange(view), view, false),
    }
}

/// Returns whether the provider has lost its cache of the lane's last request: the lane was idle longer than the
/// cache lives, or now uses another model.
fn is_lost(planned: &Planned, now: Millis) -> bool {
    let Some((at, built)) = planned.snapshot.before() else { return false };
    // Our requests never ask for the longer cache lifetime.
    let life = planned.target.row.cache.lost_after;
    *built.model != *planned.target.model || now.0.saturating_sub(at.0) > life.0
}

/// Returns the level at which a request makes its lane due, or `None` if it does not, if the lane's latest step was
/// for the same request, or if an undo is recent. Pass a result at the soft level or below to [`between_tasks`] once
/// the ends of tasks are known.
fn found(policy: &Policy, measure: &LaneMeasurement, planned: &Planned) -> Option<Due> {
    let found = due(policy, measure)?;
    let is_soon = |undone: Seq| appended(planned, undone) < UNDONE.of(measure.window);
    let waits = found.level < Urgency::Overflow && is_settled(policy, planned);
    (!waits && !planned.snapshot.undone.is_some_and(is_soon)).then_some(found)
}

/// Returns whether the lane's latest step was for a request by this policy, and no message has followed. A request
/// that is built again must be the same request, even under a policy that shrinks the lane in several compactions.
fn is_settled(policy: &Policy, planned: &Planned) -> bool {
    let view = &planned.decision.view;
    let stepped = view.lane().stepped;
    let is_since = view.lane().built.is_some_and(|(at, _)| at > stepped);
    let before = planned.snapshot.before().filter(|_| is_since && stepped > Seq::START);
    let is_said = |entry: &ViewEntry| entry.seq > stepped && entry.message.standing == MessageOrigin::Said;
    before.is_some_and(|(_, built)| built.policy.as_deref() == Some(&policy.name))
        && !view.entries().rev().any(is_said)
}

/// Returns the number of tokens in the entries shown after a position. If the lane's frontier has passed the
/// position, returns the maximum, which exceeds any part of the window.
fn appended(planned: &Planned, after: Seq) -> Tokens {
    let view = &planned.decision.view;
    if view.trim().drop_before > after {
        return Tokens(u64::MAX);
    }
    let entries = view.entries().rev().take_while(|entry| entry.seq > after);
    entries.map(|entry| cost::sent(entry, &planned.decision.plan.trim, &planned.costs).tokens).sum()
}

/// Returns the level that is due after a request could not be built. Returns `None` if the parts that cannot be left
/// out exceed the limit by themselves, because no compaction can help in that case.
fn after_refusal(policy: &Policy, refusal: &PlanRefusal) -> Option<Due> {
    let stands = |part: &&Fixed| part.section != Section::Transcript;
    let fixed: Tokens = refusal.parts.iter().filter(stands).map(|part| part.cost.tokens).sum();
    let helps = fixed < refusal.limit.tokens && !policy.is_off();
    helps.then(|| Due { level: Urgency::Overflow, why: refusal.to_string() })
}

/// Returns the level at which a draft, or the refusal of one, makes its lane due, taking ends of tasks into account.
pub(crate) async fn find_due<D: Drafted>(
    desk: &Desk,
    policy: &Policy,
    drafted: &Result<D, Stopped>,
) -> Result<Option<Due>, Error> {
    let draft = match drafted {
        Ok(draft) => draft,
        Err(Stopped::Refused { refusal, .. }) => return Ok(after_refusal(policy, refusal)),
        Err(Stopped::Failed(_)) => return Ok(None),
    };
    let planned = draft.planned();
    let measure = measure(planned, draft.size(), desk.now());
    let Some(found) = found(policy, &measure, planned) else { return Ok(None) };
    // Reading the task marks costs a query, and only the lower levels wait for the end of a task.
    if found.level > Urgency::Soft {
        return Ok(Some(found));
    }
    let view = &planned.decision.view;
    let marks = task_marks(desk, view, &planned.texts).await?;
    if marks.is_empty() { Ok(Some(found)) } else { Ok(between_tasks(policy, measure, view, &marks)) }
}

/// A built request that can make its lane due.
pub(crate) trait Drafted: Sync {
    fn planned(&self) -> &Planned;
    /// Returns the size of the request.
    fn size(&self) -> MeasuredSize;
}

impl Drafted for Draft {
    fn planned(&self) -> &Planned {
        &self.planned
    }

    fn size(&self) -> MeasuredSize {
        let entries = &self.report.entries;
        let shown = entries.iter().filter_map(|entry| Some((entry.seq?, entry.section, entry.tokens)));
        MeasuredSize::of(self.report.total_tokens, &self.planned, shown)
    }
}

impl Drafted for Rendered {
    fn planned(&self) -> &Planned {
        &self.planned
    }

    fn size(&self) -> MeasuredSize {
        let lines = &self.rendered.lines;
        let shown = lines.iter().filter_map(|line| Some((line.seq?, line.section, line.cost.tokens)));
        MeasuredSize::of(self.total.tokens, &self.planned, shown)
    }
}

/// Returns the number of fruitless compactions in a row if that number stops further automatic compactions of the
/// lane.
pub(super) async fn check_breaker(
    desk: &Desk,
    policy: &Policy,
    prepared: &Prepared,
    due: &Due,
) -> Result<Option<u32>, Error> {
    if !may_stop(policy, due.level) {
        return Ok(None);
    }
    let Some((rounds, then)) = count_rounds(desk, &prepared.bench.view.lane().id).await? else {
        return Ok(None);
    };
    Ok(is_stopped(policy, rounds, then, prepared).then_some(rounds))
}

/// Returns the number of consecutive fruitless compactions of a lane, and the number of tokens in the request at the
/// last one. Returns `None` if no fruitless compaction followed the lane's last successful compaction.
pub(super) async fn count_rounds(desk: &Desk, lane: &LaneId) -> Result<Option<(u32, Tokens)>, Error> {
    let head = desk.standing().await?.0;
    let rejected = Marked::OfLane("compaction.rejected", lane.clone());
    let newest = find_newest(desk, rejected, head, |event| match event.fact {
        Some(Fact::CompactionRejected(rejected)) if rejected.counts() => Some((event.seq, rejected)),
        _ => None,
    });
    let Some((at, rejected)) = newest.await? else { return Ok(None) };
    let steps = Marked::OfLane("view.trimmed", lane.clone());
    let since = find_newest(desk, steps, head, |event| match event.fact {
        _ if event.seq <= at => Some(false),
        Some(fact) if fact.contradiction(event.seq).is_some() => None,
        Some(Fact::ViewTrimmed(step)) => (step.reason == TrimReason::Compacted).then_some(true),
        _ => None,
    });
    Ok((since.await? != Some(true)).then_some((rejected.round, rejected.tokens)))
}

/// Returns whether the summaries that cuts have left out of a lane since its last compaction take more than `room`,
/// in which case another sweep would leave them out as well.
pub(crate) async fn is_short_of(desk: &Desk, lane: &LaneId, room: Tokens) -> Result<bool, Error> {
    let head = desk.standing().await?.0;
    let mut steps = recorded_steps(desk, lane, head).await?.into_iter().map(|(_, step)| step);
    let Some(last) = steps.next().filter(|step| step.reason == TrimReason::OverBudget) else {
        return Ok(false);
    };
    let before = steps.find(|step| step.reason != TrimReason::OverBudget);
    let Some(compacted) = before.filter(|step| step.reason == TrimReason::Compacted) else {
        return Ok(false);
    };
    let mut gone = compacted.trim.nodes;
    gone.retain(|node| !last.trim.nodes.contains(node));
    if gone.is_empty() {
        return Ok(false);
    }
    let made = marked_events(desk, Marked::Kind("session.compacted"), head).await?.into_iter();
    let tokens = made.filter_map(|event| match event.fact {
        Some(Fact::SessionCompacted(made)) if gone.iter().any(|node| node.at == event.seq) => {
            made.tokens_after
        }
        _ => None,
    });
    Ok(tokens.sum::<Tokens>() > room)
}

/// Returns the level at which a lane is due once the ends of its tasks are known.
fn between_tasks(policy: &Policy, measure: LaneMeasurement, view: &View, marks: &[TaskMark]) -> Option<Due> {
    let stands = stands(&arrange(view), view, marks.last().is_some_and(|mark| mark.ends));
    due(policy, &LaneMeasurement { stands, ..measure })
}

/// Returns whether fruitless compactions can stop one of this urgency. A request that does not fit leaves messages out,
/// so a compaction that covers them is never without effect.
fn may_stop(policy: &Policy, level: Urgency) -> bool {
    level < Urgency::Overflow || (level < Urgency::Manual && !policy.covers())
}

/// Returns whether the lane is left alone after `rounds` consecutive fruitless compactions, because it has not grown
/// enough since the last one, when its request took `then` tokens. Each further attempt waits for twice as much
/// growth, so a policy that always fails soon waits for more than a window holds. In a measurement, 181 attempts of
/// `pi` at 16,000 tokens became 7.
fn is_stopped(policy: &Policy, rounds: u32, then: Tokens, prepared: &Prepared) -> bool {
    let Some(further) = rounds.checked_sub(policy.limits.rounds) else { return false };
    let growth = REGROW.of(prepared.limit());
    prepared.tokens < then + Tokens(growth.0.saturating_mul(1 << further.min(16)))
}
