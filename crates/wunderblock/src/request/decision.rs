//! Decisions of a build: the events to record, and the view after these events.

use crate::base::error::Error;
use crate::ledger::texts::Texts;
use crate::request::input::job::BuildJob;
use std::sync::Arc;
use wunderblock_core::compose::Composed;
use wunderblock_core::decision::{Injection, Trim, TrimReason};
use wunderblock_core::event::{ContextInjected, Event, EventSource, Fact, NewEvent, ViewTrimmed};
use wunderblock_core::id::{EventId, LaneId, StreamId, TenantId};
use wunderblock_core::message::Body;
use wunderblock_core::plan::Plan;
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::preamble::PreambleChanged;
use wunderblock_core::section::Section;
use wunderblock_core::units::Millis;
use wunderblock_core::view::{View, preamble_id};

/// Decision in progress. Each event is applied to the view as soon as it is decided.
#[derive(Debug)]
pub(crate) struct Decision {
    pub(crate) plan: Plan,
    /// Events to be appended, with full texts.
    pub(crate) events: Vec<NewEvent>,
    /// View after these events. The view is the lane's own until something is decided.
    pub(crate) view: Arc<View>,
    lane: LaneId,
    tenant: TenantId,
    stream: StreamId,
    at: Millis,
}

impl Decision {
    /// Starts without any decision.
    pub(super) fn begin(job: &BuildJob, view: &Arc<View>) -> Self {
        Self {
            plan: Plan::default(),
            events: Vec::new(),
            view: Arc::clone(view),
            lane: view.lane().id.clone(),
            tenant: job.tenant.clone(),
            stream: job.stream.clone(),
            at: job.now,
        }
    }

    /// Continues after events that the view already contains.
    pub(super) fn after(self, events: Vec<NewEvent>) -> Self {
        Self { events, ..self }
    }

    /// Changes the lane's preamble if it differs from the recorded one.
    pub(super) fn change_preamble(&mut self, composed: &Composed, texts: &Texts) -> Result<(), Error> {
        let Some(preamble) = &composed.preamble else { return Ok(()) };
        let changed = PreambleChanged {
            lane: self.lane.clone(),
            preamble: preamble.as_ref().clone(),
            changes: composed.changes.clone(),
            takes_in: composed.takes_in.clone(),
        };
        self.take(Fact::PreambleChanged(Box::new(changed)), texts)
    }

    /// Applies a plan: the step, and one message per section that is injected at the tail.
    pub(super) fn follow(&mut self, plan: Plan, texts: &Texts) -> Result<(), Error> {
        // The work log is read before the step, which may remove it from the view.
        let work = self.view.lane().work().cloned();
        if let Some(reason) = plan.step {
            self.step(&plan.trim, reason, texts)?;
        }
        for section in Section::TAIL {
            let items: Vec<Injection> =
                plan.inject.iter().filter(|item| item.section == section).cloned().collect();
            if !items.is_empty() {
                let work = work.as_ref().filter(|_| section == Section::Work);
                let work = work.map(|work| Box::new(work.as_ref().clone()));
                let injected = ContextInjected { work, ..ContextInjected::new(self.lane.clone(), items) };
                self.take(Fact::ContextInjected(injected), texts)?;
            }
        }
        self.plan = plan;
        Ok(())
    }

    /// Brings texts back at the tail of a request whose plan has been applied.
    pub(super) fn bring_back(&mut self, items: Vec<Injection>, texts: &Texts) -> Result<(), Error> {
        if items.is_empty() {
            return Ok(());
        }
        self.plan.inject.extend(items.iter().cloned());
        self.take(Fact::ContextInjected(ContextInjected::new(self.lane.clone(), items)), texts)
    }

    /// Records a step of the lane: what its requests leave out from now on.
    pub(super) fn step(&mut self, trim: &Trim, reason: TrimReason, texts: &Texts) -> Result<(), Error> {
        let trimmed = ViewTrimmed {
            lane: self.lane.clone(),
            trim: trim.of_step(),
            reason,
            target: None,
            compaction: None,
        };
        self.take(Fact::ViewTrimmed(trimmed), texts)
    }

    /// Applies a fact to the view in the form the ledger will hold, and queues it for appending with full texts.
    pub(super) fn take(&mut self, fact: Fact, texts: &Texts) -> Result<(), Error> {
        let seq = self.view.head().next();
        let id = EventId::new(match &fact {
            Fact::PreambleChanged(_) => format!("{}{seq}", preamble_id(&self.lane)),
            fact => format!("{}@{seq}", fact.kind()),
        })?;
        let mut full = fact.clone();
        for body in full.bodies_mut() {
            if let Some(handle) = body.handle() {
                let text = texts.text(handle).ok_or_else(|| Error::Erased(handle.to_string()))?;
                *body = Body::Inline(text.to_owned());
            }
        }
        self.events.push(NewEvent { id: id.clone(), at: self.at, source: EventSource::Engine, fact: full });
        Arc::make_mut(&mut self.view).apply(&Event {
            tenant: self.tenant.clone(),
            stream: self.stream.clone(),
            seq,
            id,
            at: self.at,
            source: EventSource::Engine,
            fact: Some(fact),
            erased: None,
        });
        Ok(())
    }
}
