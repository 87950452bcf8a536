//! Publishing a compaction: one append, made only if none of its sources has changed.

use super::climb::Climbed;
use super::options::CompactOptions;
use super::prepare::Prepared;
use crate::base::error::Error;
use crate::compaction::compact::accounting::account::Compacted;
use crate::ledger::recording::record::MadeFrom;
use crate::limits;
use crate::request::desk::Desk;
use crate::request::input::lane::LaneChoice;
use crate::request::input::snapshot::LaneWanted;
use wunderblock_core::calibration::ModelCalibration;
use wunderblock_core::compact::{Due, Proposal, rebase};
use wunderblock_core::compaction::{CompactionOutcome, SessionCompacted};
use wunderblock_core::event::{ContextInjected, Fact, LaneTarget, ViewTrimmed};
use wunderblock_core::id::LaneId;
use wunderblock_core::message::Body;
use wunderblock_core::plan::{Trim, TrimReason};
use wunderblock_core::policy::{Permille, Policy};
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_core::work::WorkLog;
use wunderblock_store::StoreError;
use wunderblock_summary::attempt::SummaryDraft;

/// Appends a compaction. Returns the position of the compaction's step and the distance by which its positions have
/// moved, or `None` if the compaction was overtaken by a newer event that contradicts it.
pub(super) async fn publish(
    desk: &Desk,
    prepared: &Prepared,
    climbed: &Climbed,
    account: &Compacted,
    options: &CompactOptions,
) -> Result<Option<(Seq, u64)>, Error> {
    let prompt = prompt(&options.compactor.policy);
    let made = CompactionOrigin {
        lane: &account.lane,
        target: &prepared.bench.target,
        policy: &account.policy,
        due: &account.due,
        focus: options.focus.as_deref(),
        prompt: &prompt,
        calibration: prepared.bench.calibration.as_ref(),
        work: prepared.work.as_ref(),
    };
    let mut proposal = climbed.proposal.clone();
    let from = MadeFrom::session(prepared.bench.epoch, prepared.bench.view.head());
    for _ in 0..limits::BUILD_RETRIES {
        let facts = facts(&proposal, &climbed.drafts, &made).into_iter();
        let events = facts.map(|(at, fact)| desk.event(at, fact)).collect::<Result<_, _>>()?;
        match desk.append(Some(proposal.head), events, from).await {
            Ok(()) => {
                let shift = proposal.head.0 - climbed.proposal.head.0;
                return Ok(Some((proposal.head.next(), shift)));
            }
            // A summary may repeat what was erased.
            Err(Error::Store(StoreError::EpochMoved { .. })) => return Ok(None),
            Err(Error::Store(StoreError::HeadMoved { .. })) => {}
            Err(error) => return Err(error),
        }
        let window = prepared.bench.budget.window;
        let text = Bytes(window.0.saturating_mul(limits::VIEW_BYTES_PER_TOKEN));
        let lane = LaneChoice::Named(account.lane.clone());
        let wanted = LaneWanted { lane, at: None, text, reach: None, ignores_steps: false, names: false };
        let now = desk.lane(wanted).await?;
        // Always rebase the original proposal: its positions and view belong together.
        match rebase(&climbed.proposal, &prepared.bench.view, &now.view) {
            Some(rebased) => proposal = rebased,
            None => return Ok(None),
        }
    }
    Err(Error::Restless)
}

/// Origin of a compaction: its lane, policy, reason and options.
struct CompactionOrigin<'a> {
    lane: &'a LaneId,
    /// Model and window that the lane's requests are for.
    target: &'a LaneTarget,
    /// Name of the policy.
    policy: &'a str,
    due: &'a Due,
    focus: Option<&'a str>,
    /// See [`prompt`].
    prompt: &'a str,
    calibration: Option<&'a ModelCalibration>,
    /// Work log at the time of the compaction.
    work: Option<&'a WorkLog>,
}

/// Converts a proposal into facts with their positions: first the lane's step, if there is one.
fn facts(proposal: &Proposal, drafts: &[SummaryDraft], by: &CompactionOrigin<'_>) -> Vec<(Seq, Fact)> {
    let focus: Option<Box<str>> = by.focus.map(Into::into);
    let mut facts = Vec::new();
    if let Some(trim) = proposal.trim.clone() {
        facts.push((proposal.head.next(), Fact::ViewTrimmed(step(trim, proposal, by))));
    }
    for node in &proposal.nodes {
        let Some(draft) = drafts.get(node.made) else { continue };
        let made = SessionCompacted {
            lane: Some(by.lane.clone()),
            summary: Some(node.text.clone()),
            items: draft.items.as_deref().map(Body::from),
            trigger: Some(by.due.level.word().into()),
            tokens_before: Some(node.job.tokens),
            tokens_after: Some(node.tokens),
            level: node.job.level,
            sources: node.job.sources.clone(),
            policy: Some(by.policy.into()),
            prompt: draft.prompt.clone().or_else(|| Some(by.prompt.into())),
            focus: focus.clone(),
            manner: Some(draft.manner),
            check: draft.check.clone(),
            rejected: draft.rejected.clone(),
            spent: draft.spent.clone(),
            ..SessionCompacted::new(node.job.from, node.job.to, draft.producer.clone())
        };
        facts.push((node.at, Fact::SessionCompacted(Box::new(made))));
    }
    for (at, reduced) in &proposal.reduced {
        facts.push((*at, Fact::ContentReduced(Box::new(reduced.clone()))));
    }
    facts.sort_by_key(|(at, _)| *at);
    // Summaries made ahead change no request, so no work log is recorded with them.
    if proposal.trim.is_none() {
        return facts;
    }
    let last = facts.last().map_or(proposal.head, |(at, _)| *at);
    // If there is no room for its text, the log is recorded with a share of 0, so that the next compaction can
    // continue from it.
    let share = |work: &WorkLog| if proposal.adds { work.share } else { Permille::ZERO };
    let work = by.work.map(|work| WorkLog { share: share(work), ..work.clone() });
    facts.extend(work.map(|work| (last.next(), work_fact(by.lane, &work))));
    facts
}

/// Returns the lane's step.
fn step(trim: Trim, proposal: &Proposal, by: &CompactionOrigin<'_>) -> ViewTrimmed {
    let compaction = CompactionOutcome {
        policy: by.policy.into(),
        level: by.due.level.word().into(),
        trigger: by.due.why.as_str().into(),
        tokens_before: proposal.before,
        tokens_after: proposal.after,
        rungs: proposal.rungs.clone(),
        focus: by.focus.map(Into::into),
        calibration: by.calibration.cloned(),
    };
    ViewTrimmed {
        lane: by.lane.clone(),
        trim,
        reason: TrimReason::Compacted,
        target: Some(by.target.clone()),
        compaction: Some(Box::new(compaction)),
    }
}

/// Returns the fact that records a work log.
pub(super) fn work_fact(lane: &LaneId, work: &WorkLog) -> Fact {
    let work = Some(Box::new(work.clone()));
    Fact::ContextInjected(ContextInjected { work, ..ContextInjected::new(lane.clone(), Vec::new()) })
}

/// Returns a digest of the policy's summary settings, which identifies the prompt of summaries made without a model.
fn prompt(policy: &Policy) -> String {
    let template = serde_json::to_string(&policy.summary).unwrap_or_default();
    blake3::hash(template.as_bytes()).to_hex().chars().take(16).collect()
}
