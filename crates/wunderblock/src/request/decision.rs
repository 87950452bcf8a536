//! What a build decides, as the events it means and the view after them.

use super::job::BuildJob;
use crate::error::Error;
use crate::texts::Texts;
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

/// A decision under way: each event is applied to the view as soon as it is decided.
#[derive(Debug)]
pub(crate) struct Decision {
    pub(crate) plan: Plan,
    /// What is to be appended, texts in full.
    pub(crate) events: Vec<NewEvent>,
    /// The view after them; that of the lane as long as nothing was decided.
    pub(crate) view: Arc<View>,
    lane: LaneId,
    tenant: TenantId,
    stream: StreamId,
    at: Millis,
}

impl Decision {
    /// Nothing is decided yet.
    pub(super) fn begin(job: &BuildJob, view: &Arc<View>) -> Self {
        Self {
            plan: Plan::default(),
            events: Vec::new(),
            view: Arc::clone(view),
            lane: view.lane().clone(),
            tenant: job.tenant.clone(),
            stream: job.stream.clone(),
            at: job.now,
        }
    }

    /// Goes on from events that the view has been told already.
    pub(super) fn after(self, events: Vec<NewEvent>) -> Self {
        Self { events, ..self }
    }

    /// The lane's preamble, if it is not what is on record.
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

    /// The plan: what is left out, and what enters at the tail, a message for each section.
    pub(super) fn follow(&mut self, plan: Plan, texts: &Texts) -> Result<(), Error> {
        // A step may drop what it told, and the log with it.
        let work = self.view.work().cloned();
        if let Some(reason) = plan.step {
            self.step(&plan.trim, reason, texts)?;
        }
        for section in [Section::Instructions, Section::State, Section::Work, Section::Recall] {
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

    /// A step of the lane: what it leaves out from here on.
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

    /// Takes in a fact as the ledger will hold it; it is appended with its texts in full.
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
