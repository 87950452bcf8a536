//! What a build decides, as the events it means and the view after them.

use super::load::Texts;
use super::reduce::Reduced;
use crate::engine::Engine;
use crate::error::Error;
use crate::store::{Answer, Query, TallyRow, codec};
use crate::trip::Trip;
use std::collections::BTreeMap;
use wunderblock_core::compose::Composed;
use wunderblock_core::event::{ContextInjected, Event, Fact, NewEvent, Source, ViewTrimmed};
use wunderblock_core::id::{EventId, Handle, LaneId, StreamId};
use wunderblock_core::message::Body;
use wunderblock_core::plan::Plan;
use wunderblock_core::preamble::PreambleChanged;
use wunderblock_core::render;
use wunderblock_core::section::Section;
use wunderblock_core::step::Injection;
use wunderblock_core::units::{Millis, Seq};
use wunderblock_core::view::{View, preamble_id};

/// A decision under way: each event is applied to the view as soon as it is decided.
pub(super) struct Step {
    pub(super) plan: Plan,
    pub(super) lane: LaneId,
    /// What is to be appended, texts in full.
    pub(super) events: Vec<NewEvent>,
    pub(super) view: View,
    tenant: wunderblock_core::id::TenantId,
    stream: StreamId,
    at: Millis,
}

impl Step {
    pub(super) fn begin(engine: &Engine, stream: &StreamId, (lane, view): (&LaneId, &View)) -> Self {
        Self {
            plan: Plan::default(),
            lane: lane.clone(),
            events: Vec::new(),
            view: view.clone(),
            tenant: engine.config.tenant.clone(),
            stream: stream.clone(),
            at: engine.now(),
        }
    }

    /// Goes on from what is shown shorter, which the view has been told already.
    pub(super) fn after(self, reduced: &Reduced) -> Self {
        Self { events: reduced.events.clone(), ..self }
    }

    /// The lane's preamble, if it is not what is on record.
    pub(super) fn preamble(&mut self, composed: &Composed, texts: &Texts) -> Result<(), Error> {
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
    pub(super) fn plan(&mut self, plan: Plan, texts: &Texts) -> Result<(), Error> {
        if let Some(reason) = plan.step {
            let trimmed =
                ViewTrimmed { lane: self.lane.clone(), trim: plan.trim.clone(), reason, compaction: None };
            self.take(Fact::ViewTrimmed(trimmed), texts)?;
        }
        for section in [Section::Instructions, Section::State, Section::Recall] {
            let items: Vec<Injection> =
                plan.inject.iter().filter(|item| item.section == section).cloned().collect();
            if !items.is_empty() {
                self.take(Fact::ContextInjected(ContextInjected { lane: self.lane.clone(), items }), texts)?;
            }
        }
        self.plan = plan;
        Ok(())
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
                let text = texts.0.get(&handle).ok_or_else(|| Error::Erased(handle.to_string()))?;
                *body = Body::Inline(text.clone());
            }
        }
        self.events.push(NewEvent { id: id.clone(), at: self.at, source: Source::Engine, fact: full });
        self.view.apply(&Event {
            tenant: self.tenant.clone(),
            stream: self.stream.clone(),
            seq,
            id,
            at: self.at,
            source: Source::Engine,
            fact: Some(fact),
            erased: None,
        });
        Ok(())
    }
}

impl Engine {
    /// Loads the texts a rendering needs, and what the ledger holds up to the edges of its gaps, in one round trip.
    pub(super) async fn supply(
        &self,
        stream: &StreamId,
        step: &Step,
        texts: &mut Texts,
    ) -> Result<BTreeMap<Seq, TallyRow>, Error> {
        let mut handles: Vec<Handle> = render::handles(&step.view, &step.plan.trim).into_iter().collect();
        handles.retain(|handle| !texts.0.contains_key(handle));
        let seqs: Vec<Seq> = render::edges(&step.view, &step.plan.trim);
        let mut trip = Trip::default();
        let (tenant, stream) = (self.tenant.no, stream.clone());
        let blobs = trip.ask(Query::Blobs { tenant, handles }, Answer::blobs);
        let tallies = trip.ask(Query::Tallies { tenant, stream, seqs: seqs.clone() }, Answer::tallies);
        let mut answers = self.travel(trip).await?;
        for blob in answers.take(blobs)?.into_iter().flatten() {
            texts.0.insert(blob.handle, codec::unpack_text(&blob.data)?);
        }
        Ok(seqs.into_iter().zip(answers.take(tallies)?).collect())
    }
}
