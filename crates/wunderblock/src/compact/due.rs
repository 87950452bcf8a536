//! What a build measures of its lane, and whether that makes it due.

use super::history::{find_newest, marked_events, recorded_steps, task_marks};
use super::prepare::Prepared;
use crate::error::Error;
use crate::request::draft::Draft;
use crate::request::stages::{Planned, Rendered};
use crate::session::Session;
use crate::store::Marked;
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
use wunderblock_core::view::{View, ViewEntry, prepared_to};

/// After the breaker stopped it, a lane must grow by this part of its limit before it is compacted again by itself.
const REGROW: Permille = Permille(100);
/// After a compaction was undone, this part of the window must be appended before the lane is compacted again by itself.
/// Until then it leaves out what does not fit, without summaries: whoever undid one does not want the next.
const UNDONE: Permille = Permille(200);

/// How large a request is, as far as that makes its lane due.
#[derive(Clone, Copy)]
pub(crate) struct MeasuredSize {
    tokens: Tokens,
    messages: u64,
    /// Conversation outside summaries.
    unsummarised: Tokens,
    /// Of that, what lies behind those that were made ahead.
    unprepared: Tokens,
}

impl MeasuredSize {
    pub(crate) fn of_draft(draft: &Draft) -> Self {
        let entries = &draft.report.entries;
        let shown = entries.iter().filter_map(|entry| Some((entry.seq?, entry.section, entry.tokens)));
        Self::of(draft.report.total_tokens, &draft.planned, shown)
    }

    pub(crate) fn of_rendered(request: &Rendered) -> Self {
        let lines = &request.rendered.lines;
        let shown = lines.iter().filter_map(|line| Some((line.seq?, line.section, line.cost.tokens)));
        Self::of(request.total.tokens, &request.planned, shown)
    }

    fn of(tokens: Tokens, planned: &Planned, shown: impl Iterator<Item = (Seq, Section, Tokens)>) -> Self {
        let told = prepared_to(&planned.decision.view);
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

/// What a request says of its lane.
pub(crate) fn measure(planned: &Planned, size: MeasuredSize, now: Millis) -> LaneMeasurement {
    let (snapshot, budget, view) = (&planned.snapshot, planned.target.budget, &*planned.decision.view);
    let step = snapshot.step.as_ref();
    let since = step.map_or(snapshot.opened_at, |(at, _)| *at);
    let lifetime = planned.target.row.cache.lifetime;
    let cached = snapshot.before().map(|(at, _)| at).filter(|_| lifetime > Millis::ZERO);
    let until = cached.map(|at| at.0.saturating_add(lifetime.0));
    LaneMeasurement {
        // What the provider measured, where that is more.
        tokens: size.tokens.max(planned.measured()),
        limit: budget.limit().tokens,
        window: budget.window,
        // It fitted only because something was left out.
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

/// Whether the provider's cache of the lane's last request is lost: it has been idle for longer than the cache lives, or asks
/// another model now.
fn is_lost(planned: &Planned, now: Millis) -> bool {
    let Some((at, built)) = planned.snapshot.before() else { return false };
    // Requests of ours ask for no longer life than the usual one.
    let life = planned.target.row.cache.lost_after;
    *built.model != *planned.target.model || now.0.saturating_sub(at.0) > life.0
}

/// Whether a request makes its lane due. What is found at the soft level or below is [to be looked at](between_tasks) once it
/// is known where tasks end.
pub(crate) fn found(policy: &Policy, measure: &LaneMeasurement, planned: &Planned) -> Option<Due> {
    let found = due(policy, measure)?;
    let is_soon = |undone: Seq| appended(planned, undone) < UNDONE.of(measure.window);
    let waits = found.level < Urgency::Overflow && is_settled(policy, planned);
    (!waits && !planned.snapshot.undone.is_some_and(is_soon)).then_some(found)
}

/// Whether the lane's newest step was for a request by this policy, and nothing was said since: the same request built again
/// is the same request, also by a policy that goes down in several compactions.
fn is_settled(policy: &Policy, planned: &Planned) -> bool {
    let view = &planned.decision.view;
    let stepped = view.progress().stepped;
    let is_since = view.progress().built.is_some_and(|(at, _)| at > stepped);
    let before = planned.snapshot.before().filter(|_| is_since && stepped > Seq::START);
    let is_said = |entry: &ViewEntry| entry.seq > stepped && entry.message.standing == MessageOrigin::Said;
    before.is_some_and(|(_, built)| built.policy.as_deref() == Some(&policy.name))
        && !view.entries().rev().any(is_said)
}

/// What the lane shows of what was appended after a position. Where its frontier has passed that, it is more than any part
/// of the window.
fn appended(planned: &Planned, after: Seq) -> Tokens {
    let view = &planned.decision.view;
    if view.trim().drop_before > after {
        return Tokens(u64::MAX);
    }
    let entries = view.entries().rev().take_while(|entry| entry.seq > after);
    entries.map(|entry| cost::message(&entry.message, &planned.costs).tokens).sum()
}

/// What is due where no request could be built. Where what cannot be left out does not fit by itself, no compaction can help.
pub(crate) fn after_refusal(policy: &Policy, refusal: &PlanRefusal) -> Option<Due> {
    let stands = |part: &&Fixed| part.section != Section::Transcript;
    let fixed: Tokens = refusal.parts.iter().filter(stands).map(|part| part.cost.tokens).sum();
    let helps = fixed < refusal.limit.tokens && !policy.is_off();
    helps.then(|| Due { level: Urgency::Overflow, why: refusal.to_string() })
}

/// Whether a request that was built makes its lane due.
pub(crate) async fn is_due(session: &Session, policy: &Policy, draft: &Draft) -> Result<Option<Due>, Error> {
    let planned = &*draft.planned;
    let measure = measure(planned, MeasuredSize::of_draft(draft), session.engine.now());
    let Some(found) = found(policy, &measure, planned) else { return Ok(None) };
    if found.level > Urgency::Soft {
        return Ok(Some(found));
    }
    let view = &planned.decision.view;
    let marks = task_marks(session, view, &planned.texts).await?;
    if marks.is_empty() { Ok(Some(found)) } else { Ok(between_tasks(policy, measure, view, &marks)) }
}

/// Compactions in a row that came to nothing, if they reach the number at which the lane is left alone.
pub(super) async fn check_breaker(
    session: &Session,
    policy: &Policy,
    prepared: &Prepared,
    due: &Due,
) -> Result<Option<u32>, Error> {
    if due.level == Urgency::Manual {
        return Ok(None);
    }
    let Some(rounds) = count_rounds(session, prepared.bench.view.lane()).await? else { return Ok(None) };
    Ok(is_stopped(policy, rounds, prepared).then_some(rounds.0))
}

/// How many compactions of a lane in a row came to nothing, and what the request took at the last.
pub(super) async fn count_rounds(session: &Session, lane: &LaneId) -> Result<Option<(u32, Tokens)>, Error> {
    let head = session.info().await?.head;
    let rejected = Marked::OfLane("compaction.rejected", lane.clone());
    let newest = find_newest(session, rejected, head, |event| match event.fact {
        Some(Fact::CompactionRejected(rejected)) if rejected.counts() => Some((event.seq, rejected)),
        _ => None,
    });
    let Some((at, rejected)) = newest.await? else { return Ok(None) };
    let steps = Marked::OfLane("view.trimmed", lane.clone());
    let since = find_newest(session, steps, head, |event| match event.fact {
        _ if event.seq <= at => Some(false),
        Some(fact) if fact.contradiction(event.seq).is_some() => None,
        Some(Fact::ViewTrimmed(step)) => (step.reason == TrimReason::Compacted).then_some(true),
        _ => None,
    });
    Ok((since.await? != Some(true)).then_some((rejected.round, rejected.tokens)))
}

/// Whether the summaries that cuts have left out of a lane since its last compaction take more than `room`: a
/// further sweep would leave them out as well.
pub(crate) async fn is_short_of(session: &Session, lane: &LaneId, room: Tokens) -> Result<bool, Error> {
    let head = session.info().await?.head;
    let mut steps = recorded_steps(session, lane, head).await?.into_iter().map(|(_, step)| step);
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
    let made = marked_events(session, Marked::Kind("session.compacted"), head).await?.into_iter();
    let tokens = made.filter_map(|event| match event.fact {
        Some(Fact::SessionCompacted(made)) if gone.iter().any(|node| node.at == event.seq) => {
            made.tokens_after
        }
        _ => None,
    });
    Ok(tokens.sum::<Tokens>() > room)
}

/// Whether a lane is due once it is known where its tasks end.
pub(crate) fn between_tasks(
    policy: &Policy,
    measure: LaneMeasurement,
    view: &View,
    marks: &[TaskMark],
) -> Option<Due> {
    let stands = stands(&arrange(view), view, marks.last().is_some_and(|mark| mark.ends));
    due(policy, &LaneMeasurement { stands, ..measure })
}

/// Whether so many compactions in a row came to nothing that a lane is left alone: until it has grown since the last of
/// them, when its request took `then`. Each further try waits for twice the growth, so that a policy which fails every time
/// soon waits for more than a window holds. Measured: 181 tries of `pi` at 16,000 tokens are 7.
pub(crate) fn is_stopped(policy: &Policy, (rounds, then): (u32, Tokens), prepared: &Prepared) -> bool {
    let Some(further) = rounds.checked_sub(policy.limits.rounds) else { return false };
    let growth = REGROW.of(prepared.limit());
    prepared.tokens < then + Tokens(growth.0.saturating_mul(1 << further.min(16)))
}
