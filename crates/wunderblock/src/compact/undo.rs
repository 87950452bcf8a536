//! Undoing: the lane's state before a compaction, recorded anew.

use super::sweep::SWEEP;
use crate::engine::unexpected;
use crate::error::Error;
use crate::limits;
use crate::session::Session;
use crate::store::{Answer, Marked, Query, StoreError};
use std::collections::BTreeSet;
use wunderblock_core::compaction::{CompactionOutcome, CompactionUndone};
use wunderblock_core::event::{Event, Fact, ViewTrimmed};
use wunderblock_core::id::LaneId;
use wunderblock_core::plan::{Trim, TrimReason};
use wunderblock_core::units::{Seq, Tokens};

/// What was undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
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

impl Session {
    /// Undoes the lane's newest compaction that is not undone yet: what was shown before it is shown again.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) async fn undo(&self, lane: &LaneId) -> Result<Undone, Error> {
        for _ in 0..limits::BUILD_RETRIES {
            let head = self.info().await?.head;
            let undone: BTreeSet<Seq> = self
                .marked(Marked::Kind("compaction.undone"), head)
                .await?
                .into_iter()
                .filter_map(|event| match event.fact {
                    Some(Fact::CompactionUndone(undone)) if undone.lane == *lane => Some(undone.compaction),
                    _ => None,
                })
                .collect();
            let steps = self.steps(lane, head).await?;
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
            match self.restore(lane, (head, &gone), (before, done)).await {
                Err(Error::Store(StoreError::HeadMoved { .. })) => {}
                other => return other,
            }
        }
        Err(Error::Restless)
    }

    async fn restore(
        &self,
        lane: &LaneId,
        (head, gone): (Seq, &[Seq]),
        (trim, done): (Trim, &CompactionOutcome),
    ) -> Result<Undone, Error> {
        let at = gone.first().copied().unwrap_or(head);
        let compaction = CompactionOutcome {
            policy: done.policy.clone(),
            level: "manual".into(),
            trigger: format!("the compaction at position {at} was undone").into(),
            tokens_before: done.tokens_after,
            tokens_after: done.tokens_before,
            rungs: Vec::new(),
            focus: None,
        };
        let trimmed = Fact::ViewTrimmed(ViewTrimmed {
            lane: lane.clone(),
            trim,
            reason: TrimReason::Undone,
            compaction: Some(Box::new(compaction)),
        });
        let mut events = Vec::new();
        let mut recorded = head.next();
        for compaction in gone {
            let undone = CompactionUndone { lane: lane.clone(), compaction: *compaction };
            events.push(self.engine_event(recorded, Fact::CompactionUndone(undone))?);
            recorded = recorded.next();
        }
        events.push(self.engine_event(recorded, trimmed)?);
        self.engine.append(&self.id, Some(head), events).await?;
        Ok(Undone {
            compaction: at,
            policy: done.policy.to_string(),
            before: done.tokens_before,
            after: done.tokens_after,
            recorded,
        })
    }

    /// The steps of a lane up to a position, the newest first, except those no lane follows.
    pub(super) async fn steps(&self, lane: &LaneId, to: Seq) -> Result<Vec<(Seq, ViewTrimmed)>, Error> {
        let steps = self.marked(Marked::Kind("view.trimmed"), to).await?.into_iter();
        let own = steps.filter_map(|event| match event.fact {
            Some(fact) if fact.contradiction(event.seq).is_some() => None,
            Some(Fact::ViewTrimmed(step)) if step.lane == *lane => Some((event.seq, step)),
            _ => None,
        });
        Ok(own.collect())
    }

    /// Control events up to a position, the newest first.
    pub(super) async fn marked(&self, what: Marked, to: Seq) -> Result<Vec<Event>, Error> {
        let query = Query::Marked {
            tenant: self.engine.tenant.no,
            stream: self.id.clone(),
            what,
            to,
            limit: u64::from(u32::MAX),
        };
        let rows = self.engine.ask(query, Answer::events).await?;
        rows.iter().map(|row| Ok(self.engine.event(&self.id, row)?)).collect()
    }
}
