//! Compacting a lane: prepare, climb, publish.
//!
//! ```text
//! load, compose ─► Climb (ladder, summariser, verification) ─► publish ─► view.trimmed, session.compacted …
//!                                                              └ overtaken, refused, vetoed ─► compaction.rejected
//! ```
//! A compaction is a value like a build, and works on a [`Desk`]: its driver reads, appends, holds the lease and waits.
//!
//! A climb runs on a separate thread, and nothing is locked while it writes a summary. Publishing appends only if the
//! head has not moved. If the head has moved, the proposal is adapted to the new events, or dropped if one of them
//! contradicts it.
pub(crate) mod accounting;
pub(crate) mod climb;
pub(crate) mod due;
pub(crate) mod editing;
pub(crate) mod history;
mod hook;
pub(crate) mod options;
pub(crate) mod prepare;
pub(crate) mod publish;
pub(crate) mod state;
pub(crate) mod summaries;
pub(crate) mod sweeping;
mod todo;
pub(crate) mod undo;

use crate::base::apart::apart;
use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::compaction::drive::lanes::resumed;
use crate::compaction::drive::run_build;
use crate::ledger::recording::record::MadeFrom;
use crate::ledger::session::{Session, in_overlay};
use crate::limits::BUILD_RETRIES;
use crate::request::build::Build;
use crate::request::desk::{Desk, House};
use crate::request::input::options::ContextOptions;
use accounting::account::{Compacted, CompactionResult, MadeNode};
use accounting::leaving::tell_leaving;
use due::{check_breaker, count_rounds};
use options::CompactOptions;
use prepare::{Prepared, prepare};
use publish::{publish, work_fact};
use state::count_calls;
use summaries::call_budget::CallBudget;
use sweeping::sweep::{Swept, sweep};
use wunderblock_core::compact::{Due, Urgency};
use wunderblock_core::event::Fact;
use wunderblock_core::id::LaneId;
use wunderblock_core::units::Seq;
use wunderblock_store::StoreError;

impl Session {
    /// Compacts a lane.
    ///
    /// # Errors
    /// Returns an error if the ledger cannot be read or written. A compaction that gains nothing is not an
    /// error: see [`CompactionResult`].
    pub fn compact<'a>(&'a self, options: &'a CompactOptions) -> BoxFuture<'a, Compacted> {
        let (session, options) = (self.clone(), options.clone());
        Box::pin(apart(move || async move { compact(&session, &options).await }))
    }
}

/// Compacts a lane of a ledger.
fn compact<'a>(session: &'a Session, options: &'a CompactOptions) -> BoxFuture<'a, Compacted> {
    Box::pin(async move {
        if options.dry_run && !session.aside {
            let work = |aside: Session| -> BoxFuture<'a, Compacted> {
                Box::pin(async move { compact(&aside, options).await })
            };
            let mut done = in_overlay(session, work).await?;
            done.unrecord();
            return Ok(done);
        }
        let policy = ContextOptions { compactor: Some(options.compactor.clone()), ..options.context.clone() };
        let context = ContextOptions { compactor: None, ..resumed(session, &policy).await? };
        let options = CompactOptions { context, ..options.clone() };
        run_build(session, compaction(session.house(), options)).await?
    })
}

/// Returns a compaction as a value: it asks its driver for what it needs, as a build does.
pub(crate) fn compaction(house: House, options: CompactOptions) -> Build<Result<Compacted, Error>> {
    Build::new(async move |ask| compact_lane(&Desk { house, ask }, options).await)
}

/// Compacts the lane that the options name.
pub(crate) async fn compact_lane(desk: &Desk, mut options: CompactOptions) -> Result<Compacted, Error> {
    let lane = options.context.lane.clone().unwrap_or_default();
    let due = options.due.clone();
    let due = due.unwrap_or_else(|| Due { level: Urgency::Manual, why: "asked for".to_owned() });
    if options.compactor.policy.is_off() {
        return Ok(Compacted::empty(&options, lane, due, CompactionResult::Off));
    }
    // A dry run records nothing, so it cannot duplicate another worker's work and does not claim a lease.
    if !options.dry_run
        && let Some(other) = desk.claim(&lane).await?
    {
        return Ok(Compacted::empty(&options, lane, due, CompactionResult::Busy(other)));
    }
    // A preview calls no model and runs no hook, and the account names the summariser that would have written the
    // summaries.
    let mut stands_in_for = None;
    if desk.house.aside {
        stands_in_for = options.compactor.summariser.take().map(|writer| writer.name());
        options.compactor.hooks.clear();
    }
    let done = compact_held(desk, &options, &lane, due).await;
    if !options.dry_run {
        desk.release().await?;
    }
    done.map(|done| Compacted { stands_in_for, ..done })
}

async fn compact_held(
    desk: &Desk,
    options: &CompactOptions,
    lane: &LaneId,
    due: Due,
) -> Result<Compacted, Error> {
    let budget = call_budget(desk, options, lane, due.level).await?;
    let swept = sweep_at(desk, options, lane, due.level, &budget).await?;
    let mut prepared = prepare(desk, options).await?;
    if let Some(rounds) = check_breaker(desk, &options.compactor.policy, &prepared, &due).await? {
        return Ok(Compacted::empty(options, lane.clone(), due, CompactionResult::Stopped(rounds)));
    }
    let asked = hook::before(options, &prepared, &due, desk).await?;
    if let Some(why) = asked.veto {
        let account = Compacted::empty(options, lane.clone(), due, CompactionResult::Vetoed(why));
        return reject(desk, account, &prepared).await;
    }
    let mut options = options.clone();
    options.focus = options.focus.into_iter().chain(asked.focus).reduce(|all, more| format!("{all}\n{more}"));
    let options = &options;
    let climbed = match options.edit {
        Some(edit) => editing::edit::run(desk, options, &mut prepared, edit, budget).await?,
        None => climb::run(desk, options, &prepared, due.level, budget).await?,
    };
    let due_level = due.level;
    let mut account = Compacted::of(options, lane, due, &climbed);
    if options.compactor.policy.goes_by_tasks() {
        account.tasks.clone_from(&prepared.tasks);
    }
    account.nodes.splice(0..0, swept.made);
    account.adopted = swept.adopted + count_adopted(&prepared, &climbed);
    tell_leaving(&mut account, &prepared, &climbed, desk.now());
    if climbed.interrupted {
        account.outcome = CompactionResult::Interrupted;
        return Ok(account);
    }
    if due_level == Urgency::Ahead {
        return publish_ahead(desk, &prepared, &climbed, account, options).await;
    }
    if climbed.proposal.trim.is_none() {
        if !account.nodes.is_empty() || account.adopted > 0 {
            account.outcome = CompactionResult::Compacted;
            // The sweep did all the work, and no later step records the work log, so it is recorded here.
            if let Some(work) = &prepared.work {
                let from = MadeFrom::session(prepared.bench.epoch, prepared.bench.view.head());
                append_fact(desk, work_fact(lane, work), from).await?;
            }
            return Ok(account);
        }
        return reject(desk, account, &prepared).await;
    }
    match publish(desk, &prepared, &climbed, &account, options).await? {
        Some((recorded, shift)) => {
            account.outcome = CompactionResult::Compacted;
            account.recorded = Some(recorded);
            let own = |node: &&mut MadeNode| node.at > climbed.proposal.head;
            // The proposal's own summaries move with the head; swept and adopted ones are already recorded.
            account.nodes.iter_mut().filter(own).for_each(|node| node.at = Seq(node.at.0 + shift));
            hook::after(options, &account, desk).await?;
            Ok(account)
        }
        None => {
            account.outcome = CompactionResult::Overtaken;
            reject(desk, account, &prepared).await
        }
    }
}

/// Returns the number of summaries of other programs that a proposal places.
fn count_adopted(prepared: &Prepared, climbed: &climb::Climbed) -> usize {
    let placed = climbed.proposal.trim.iter().flat_map(|trim| &trim.nodes);
    placed.filter(|placed| prepared.adopted.iter().any(|node| node.at == placed.at)).count()
}

/// Returns the model calls that a compaction at this level may still make.
async fn call_budget(
    desk: &Desk,
    options: &CompactOptions,
    lane: &LaneId,
    level: Urgency,
) -> Result<CallBudget, Error> {
    let most = options.compactor.policy.limits.calls_per_hour;
    Ok(CallBudget::of(match level {
        Urgency::Manual => u32::MAX,
        // Without a summariser, no model is called, so past calls are not counted.
        _ if options.compactor.summariser.is_none() => most,
        _ => most.saturating_sub(count_calls(desk, lane, most).await?),
    }))
}

/// Summarises all that precedes the view, where the options ask for it.
async fn sweep_at(
    desk: &Desk,
    options: &CompactOptions,
    lane: &LaneId,
    level: Urgency,
    budget: &CallBudget,
) -> Result<Swept, Error> {
    if !options.sweep || options.edit.is_some() {
        return Ok(Swept::default());
    }
    let mut options = options.clone();
    if level != Urgency::Manual {
        // Nobody asked for the calls that a model would need for all that precedes the view.
        options.compactor.summariser = None;
    }
    sweep(desk, &options, lane, budget).await
}

/// Records summaries made before the level at which requests show them. An empty proposal and a lost race do not
/// count as compactions without progress, so they are not recorded as rejected.
async fn publish_ahead(
    desk: &Desk,
    prepared: &Prepared,
    climbed: &climb::Climbed,
    mut account: Compacted,
    options: &CompactOptions,
) -> Result<Compacted, Error> {
    account.outcome = CompactionResult::NothingGained;
    if climbed.proposal.nodes.is_empty() {
        return Ok(account);
    }
    match publish(desk, prepared, climbed, &account, options).await? {
        Some((_, shift)) => {
            account.outcome = CompactionResult::Prepared;
            account.nodes.iter_mut().for_each(|node| node.at = Seq(node.at.0 + shift));
        }
        None => account.outcome = CompactionResult::Overtaken,
    }
    Ok(account)
}

/// Records a compaction that changed nothing, with the number of such compactions in a row.
async fn reject(desk: &Desk, account: Compacted, prepared: &Prepared) -> Result<Compacted, Error> {
    let round = count_rounds(desk, &account.lane).await?.map_or(0, |(round, _)| round);
    let mut rejected = account.rejection(prepared.tokens, round);
    rejected.round = rejected.round.saturating_add(u32::from(rejected.counts()));
    let from = MadeFrom::session(prepared.bench.epoch, prepared.bench.view.head());
    match append_fact(desk, Fact::CompactionRejected(rejected.clone()), from).await {
        // The reasons for rejecting a summary quote what the summary lacks, and that was erased.
        Err(Error::Store(StoreError::EpochMoved { .. })) => {
            rejected.rejected.clear();
            append_fact(desk, Fact::CompactionRejected(rejected), MadeFrom::Nothing).await?;
        }
        done => done?,
    }
    Ok(account)
}

/// Appends one fact after the current head, and retries if the head moves.
async fn append_fact(desk: &Desk, fact: Fact, made: MadeFrom) -> Result<(), Error> {
    for _ in 0..BUILD_RETRIES {
        let (head, _) = desk.standing().await?;
        let event = desk.event(head.next(), fact.clone())?;
        match desk.append(Some(head), vec![event], made).await {
            Err(Error::Store(StoreError::HeadMoved { .. })) => {}
            done => return done,
        }
    }
    Err(Error::Restless)
}
