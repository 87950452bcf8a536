//! Appending what a build decided: the preamble, the step, what entered at the tail, the request, a warning.

use super::Draft;
use crate::error::Error;
use crate::session::Session;
use crate::store::Write;
use std::collections::BTreeMap;
use wunderblock_core::event::{BudgetWarned, ContextBuilt, Fact, NewEvent, Overflow, Source, TurnCompleted};
use wunderblock_core::id::{EventId, LaneId};
use wunderblock_core::plan::{Plan, Refusal};
use wunderblock_core::render;
use wunderblock_core::section::Section;
use wunderblock_core::units::{Bytes, Cost, Seq};

impl Session {
    /// Appends what the build decided, unless the session has grown meanwhile.
    pub(super) async fn record(&self, draft: &Draft) -> Result<Seq, Error> {
        let mut events = draft.step.events.clone();
        let seq = Seq(draft.built.through.0 + events.len() as u64 + 1);
        events.push(
            self.event(format!("context.built@{seq}"), Fact::ContextBuilt(Box::new(self.built(draft))))?,
        );
        if let Some(warned) = warning(draft) {
            events.push(self.event(format!("budget.warned@{}", seq.next()), Fact::BudgetWarned(warned))?);
        }
        if !draft.fresh.is_empty() {
            let counts = Write::Counts { tenant: self.engine.tenant.no, counts: draft.fresh.clone() };
            // Derived: that it fails is no reason for the request to fail.
            let _ = self.engine.storage.commit(vec![counts]).await;
        }
        self.engine.append(&self.id, Some(draft.built.through), events).await?;
        Ok(seq)
    }

    /// Records that no request was sent, and why. The same refusal is recorded once, however often it is met.
    pub(super) async fn record_overflow(
        &self,
        lane: &LaneId,
        refusal: &Refusal,
        course: &str,
    ) -> Result<(), Error> {
        let mut sections: BTreeMap<Section, Cost> = BTreeMap::new();
        for part in &refusal.parts {
            *sections.entry(part.section).or_default() += part.cost;
        }
        let sections: Vec<(Section, Cost)> = sections.into_iter().collect();
        let what = format!("{lane} {:?} {:?} {sections:?} {course}", refusal.limit, refusal.needed);
        let key = blake3::hash(what.as_bytes());
        let overflow = Overflow { limit: refusal.limit, needed: refusal.needed, sections };
        let fact = Fact::TurnCompleted(TurnCompleted {
            stop_reason: "error".into(),
            error_code: Some("context_overflow".into()),
            detail: Some(format!("{refusal}; {course}. {NEXT}").into()),
            overflow: Some(overflow),
        });
        let event = self.event(format!("context_overflow:{}", key.to_hex()), fact)?;
        self.engine.append(&self.id, None, vec![event]).await?;
        Ok(())
    }

    fn event(&self, id: String, fact: Fact) -> Result<NewEvent, Error> {
        Ok(NewEvent { id: EventId::new(id)?, at: self.engine.now(), source: Source::Engine, fact })
    }

    fn built(&self, draft: &Draft) -> ContextBuilt {
        let Draft { built, step, lane, target, stem, .. } = draft;
        ContextBuilt {
            lane: lane.clone(),
            model: built.model.as_str().into(),
            dialect: built.dialect,
            render: render::VERSION,
            budget: target.budget,
            // What came back is recorded beside it; here it would be a second copy to erase.
            plan: Plan { inject: Vec::new(), ..step.plan.clone() },
            heads: vec![(self.id.clone(), built.through)],
            inputs: None,
            preamble: step.view.preamble_at(),
            cache: built.cache.points.clone(),
            stem: Some(stem.clone()),
            common: built.cache.common.map(|(same, _)| same),
            expected_cached: Some(built.cache.expected),
            calibration: built.calibration,
            sections: built.report.sections.iter().map(|line| (line.name, line.tokens)).collect(),
            total_tokens: built.report.total_tokens,
            encoded_bytes: Bytes(built.body.len() as u64),
            digest: built.digest.as_str().into(),
        }
    }
}

/// The threshold this request passed and the lane's request before had not.
fn warning(draft: &Draft) -> Option<BudgetWarned> {
    let percent = draft.built.warned?;
    if draft.before.is_some_and(|before| before >= u64::from(percent)) {
        return None;
    }
    let report = &draft.built.report;
    Some(BudgetWarned {
        lane: draft.lane.clone(),
        percent,
        total_tokens: report.total_tokens,
        limit: report.limit,
    })
}

/// What helps where even the least does not fit.
const NEXT: &str = "Use a larger window, keep less free for the answer, give fewer tools and instructions, or unpin what is \
    pinned.";
