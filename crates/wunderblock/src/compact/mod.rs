//! Compacting a lane: prepare, climb, publish.
//!
//! ```text
//! load, compose ─► Climb ─ on a thread: ladder, summariser, verification ─► Climbed ─ publish ─► view.trimmed, session.compacted …
//!                                                                             └ overtaken, refused, vetoed ─► compaction.rejected
//! ```
//! Nothing is locked while a summary is written. Publishing appends only if the head has not moved; if it has, the proposal
//! is made to fit what came, or is void.

pub(crate) mod account;
pub(crate) mod climb;
pub(crate) mod due;
mod hook;
mod lease;
pub(crate) mod options;
pub(crate) mod prepare;
pub(crate) mod publish;
pub(crate) mod ration;
pub(crate) mod state;
mod sweep;
mod todo;
pub(crate) mod undo;
mod writing;

use crate::error::Error;
use crate::session::Session;
use account::{Compacted, MadeNode, Outcome};
use options::CompactOptions;
use ration::Ration;
use std::sync::Arc;
use wunderblock_core::compact::{Due, Urgency};
use wunderblock_core::event::Fact;
use wunderblock_core::id::LaneId;
use wunderblock_core::units::{Seq, Tokens};

impl Session {
    /// Compacts a lane.
    ///
    /// # Errors
    /// When the ledger cannot be used. That nothing was gained is no error but an [`Outcome`].
    pub async fn compact(&self, options: &CompactOptions) -> Result<Compacted, Error> {
        let lane = options.context.lane.clone().unwrap_or_else(LaneId::main);
        let due = options
            .due
            .clone()
            .unwrap_or_else(|| Due { level: Urgency::Manual, why: "asked for".to_owned() });
        if options.compactor.policy.is_off() {
            return Ok(Compacted::empty(options, lane, due, Outcome::Off));
        }
        let holder = self.engine.holder()?;
        if !options.dry_run
            && let Some(other) = self.claim(&lane, &holder).await?
        {
            return Ok(Compacted::empty(options, lane, due, Outcome::Busy(other)));
        }
        let work = self.compact_held(options, &lane, due);
        if options.dry_run {
            return work.await;
        }
        let done = self.holding(&lane, &holder, work).await;
        self.release(&lane, &holder).await?;
        done
    }

    async fn compact_held(
        &self,
        options: &CompactOptions,
        lane: &LaneId,
        due: Due,
    ) -> Result<Compacted, Error> {
        let mut swept = Vec::new();
        let most = options.compactor.policy.limits.calls_per_hour;
        let ration = Ration::of(match due.level {
            Urgency::Manual => u32::MAX,
            _ => most.saturating_sub(self.calls(lane).await?),
        });
        if options.sweep && !options.dry_run {
            swept = self.sweep(options, lane, &ration).await?;
        }
        let prepared = self.prepare(options).await?;
        if let Some(rounds) = self.breaker(&options.compactor.policy, &prepared, &due).await? {
            return Ok(Compacted::empty(options, lane.clone(), due, Outcome::Stopped(rounds)));
        }
        let asked = hook::before(options, &prepared, &due, &self.id).await;
        if let Some(why) = asked.veto {
            let account = Compacted::empty(options, lane.clone(), due, Outcome::Vetoed(why));
            return self.reject(options, account, prepared.tokens).await;
        }
        let mut options = options.clone();
        options.focus =
            options.focus.into_iter().chain(asked.focus).reduce(|all, more| format!("{all}\n{more}"));
        let options = &options;
        let climbed =
            climb::run(options, Arc::clone(&self.engine.config.redactor), &prepared, due.level, ration)
                .await?;
        let mut account = Compacted::of(options, lane, due, &climbed);
        if options.compactor.policy.goes_by_tasks() {
            account.tasks.clone_from(&prepared.tasks);
        }
        account.nodes.splice(0..0, swept);
        if climbed.interrupted {
            account.outcome = Outcome::Interrupted;
            return Ok(account);
        }
        if climbed.proposal.trim.is_none() {
            if !account.nodes.is_empty() {
                account.outcome = Outcome::Compacted;
                return Ok(account);
            }
            return self.reject(options, account, prepared.tokens).await;
        }
        if options.dry_run {
            account.outcome = Outcome::WouldCompact;
            return Ok(account);
        }
        match self.publish(&prepared, &climbed, &account, options).await? {
            Some((recorded, shift)) => {
                account.outcome = Outcome::Compacted;
                account.recorded = Some(recorded);
                let own = |node: &&mut MadeNode| node.at > climbed.proposal.head;
                account.nodes.iter_mut().filter(own).for_each(|node| node.at = Seq(node.at.0 + shift));
                hook::after(options, &account, &self.id).await;
                Ok(account)
            }
            None => {
                account.outcome = Outcome::Overtaken;
                self.reject(options, account, prepared.tokens).await
            }
        }
    }

    /// Records that a compaction changed nothing, unless a person only asked what would be.
    async fn reject(
        &self,
        options: &CompactOptions,
        account: Compacted,
        tokens: Tokens,
    ) -> Result<Compacted, Error> {
        if options.dry_run {
            return Ok(account);
        }
        let round = self.rounds(&account.lane).await?.map_or(0, |(round, _)| round);
        let mut rejected = account.rejection(tokens, round);
        rejected.round = rejected.round.saturating_add(u32::from(rejected.counts()));
        self.note(Fact::CompactionRejected(rejected)).await?;
        Ok(account)
    }
}
