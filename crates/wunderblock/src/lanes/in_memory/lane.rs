//! A lane in memory: it folds events, and answers what builds and compactions ask for.

use super::named::NamedScan;
use crate::base::error::Error;
use crate::base::parallel::wait_for;
use crate::ledger::texts::Texts;
use crate::request::build::{Build, Polled};
use crate::request::desk::House;
use crate::request::input::snapshot::{LaneWanted, OPENING, Snapshot};
use crate::request::need::{AppendWanted, EventsWanted, MarkedWanted, Need, ShownTexts};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use wunderblock_core::event::{Event, Fact, NewEvent};
use wunderblock_core::id::{EventId, Handle, HandlePrefix, LaneId};
use wunderblock_core::message::{Body, Role};
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::{Bytes, Millis, Seq};
use wunderblock_store::{Marked, StoreError, TallyRow, codec};

/// Lane of one session. The lane's builds need nothing from outside except files and state providers.
#[derive(Clone)]
pub(crate) struct Lane {
    pub(crate) snapshot: Snapshot,
    /// Texts that this lane shares with other lanes.
    shared: Arc<Texts>,
    /// Texts of this lane only.
    texts: Texts,
    /// Events of the lane, oldest first.
    pub(crate) events: Vec<Event>,
    /// Indexes of the control events of each kind in `events`.
    kinds: HashMap<&'static str, Vec<usize>>,
    /// Ids of the events that were appended at no particular position.
    anywhere: HashSet<EventId>,
    /// Total length of the session's texts.
    text: Bytes,
    /// Scan for what the newest typed turn names.
    pub(super) named: Option<Arc<NamedScan>>,
    /// Running sums at each position. Positions that were not counted are missing.
    pub(crate) tallies: Vec<TallyRow>,
}

impl Lane {
    /// Creates an empty lane that also finds the texts in `shared`.
    pub(crate) fn new(lane: LaneId, shared: Arc<Texts>) -> Self {
        Self {
            snapshot: Snapshot::new(lane),
            shared,
            texts: Texts::default(),
            events: Vec::new(),
            kinds: HashMap::new(),
            anywhere: HashSet::new(),
            text: Bytes::ZERO,
            named: None,
            tallies: Vec::new(),
        }
    }

    /// Returns the latest position.
    pub(crate) fn head(&self) -> Seq {
        self.snapshot.view.head()
    }

    /// Returns the text of a handle.
    pub(crate) fn text(&self, handle: Handle) -> Option<&Arc<str>> {
        self.texts.get(handle).or_else(|| self.shared.get(handle))
    }

    /// Returns the text whose handle begins with a prefix, if exactly one handle does.
    pub(crate) fn named(&self, prefix: HandlePrefix) -> Option<&Arc<str>> {
        self.text(self.handle(prefix)?)
    }

    /// Returns the handle that begins with a prefix, if exactly one does.
    pub(super) fn handle(&self, prefix: HandlePrefix) -> Option<Handle> {
        let handles = self.texts.named(prefix).chain(self.shared.named(prefix));
        let handles: std::collections::BTreeSet<Handle> = handles.collect();
        handles.first().copied().filter(|_| handles.len() == 1)
    }

    /// Adds a text.
    pub(crate) fn learn(&mut self, handle: Handle, text: impl Into<Arc<str>>) {
        self.texts.insert(handle, text);
    }

    /// Adds an event whose long bodies were moved out.
    pub(crate) fn hear(&mut self, event: Event) {
        self.snapshot.fold(&event, false);
        match &event.fact {
            Some(Fact::MessageAppended(said)) => {
                let bodies = said.message.parts.iter().flat_map(|part| part.bodies());
                self.text += bodies.map(Body::bytes).sum::<Bytes>();
            }
            Some(fact) => self.kinds.entry(fact.kind()).or_default().push(self.events.len()),
            None => {}
        }
        self.events.push(event);
    }

    /// Adds an event to the view only. The event's facts about sent requests are ignored, because this lane did not
    /// build those requests.
    pub(crate) fn see(&mut self, event: &Event) {
        if self.snapshot.opened_at == Millis::ZERO {
            self.snapshot.opened_at = event.at;
        }
        Arc::make_mut(&mut self.snapshot.view).apply(event);
    }

    /// Drives a build to its end.
    pub(crate) fn run<T>(&mut self, house: &House, mut build: Build<T>) -> Result<T, Error> {
        loop {
            match build.next()? {
                Polled::Done(done) => return Ok(done),
                Polled::Need(need) => self.answer(house, need)?,
            }
        }
    }

    fn answer(&mut self, house: &House, need: Need) -> Result<(), Error> {
        match need {
            Need::Lane(wanted, reply) => {
                let mut snapshot = self.look(&wanted);
                if wanted.names {
                    snapshot.named = self.named_places(house, snapshot.view.head())?;
                }
                reply.give(snapshot);
            }
            Need::Texts(handles, reply) => reply.give(self.some(handles)),
            // Reductions that the lane itself made are already part of the lane.
            Need::Known(_, reply) => reply.give(HashSet::new()),
            // A lane in memory has no index.
            Need::Search(_, reply) => reply.give(Vec::new()),
            Need::Recall(wanted, reply) => reply.give(self.recalled(house, &wanted)),
            Need::Outside(wanted, reply) => reply.give(wanted.read()),
            Need::Shown(wanted, reply) => {
                let tally = |seq: Seq| {
                    let place = usize::try_from(seq.0).ok()?.checked_sub(1)?;
                    Some((seq, *self.tallies.get(place)?))
                };
                let tallies = wanted.edges.into_iter().filter_map(tally).collect();
                let mut texts = self.some(wanted.handles);
                let named = self.named_events(&wanted.named, &mut texts);
                reply.give(ShownTexts { texts, tallies, named });
            }
            Need::Marked(wanted, reply) => reply.give(self.marked(&wanted)),
            Need::Events(wanted, reply) => reply.give(self.range(wanted)),
            Need::At(seqs, reply) => {
                let at = |seq: &Seq| {
                    let place = self.events.binary_search_by_key(seq, |event| event.seq).ok()?;
                    self.events.get(place).cloned()
                };
                reply.give(seqs.iter().filter_map(at).collect());
            }
            Need::Standing(reply) => reply.give((self.head(), self.text)),
            Need::Append(wanted, reply) => reply.give(self.append(house, *wanted)),
            // Nobody else can compact the lane meanwhile.
            Need::Claim(_, reply) => reply.give(None),
            Need::Release(reply) => reply.give(()),
            Need::Wait(work, reply) => {
                wait_for(work);
                reply.give(());
            }
        }
        Ok(())
    }

    /// Records events of the engine, with full texts.
    fn append(&mut self, house: &House, wanted: AppendWanted) -> Result<(), Error> {
        let (expected, actual) = (wanted.expect_head, self.head());
        if let Some(expected) = expected.filter(|expected| *expected != actual) {
            return Err(Error::Store(StoreError::HeadMoved { expected, actual }));
        }
        for NewEvent { id, at, source, mut fact } in wanted.events {
            // The same event is recorded once.
            if expected.is_none() && !self.anywhere.insert(id.clone()) {
                continue;
            }
            codec::move_out(&house.key, &mut fact, &mut |hash, text| {
                self.texts.insert(codec::handle(&hash), text);
            });
            let seq = self.head().next();
            let (tenant, stream) = (house.config.tenant.clone(), house.stream.clone());
            self.hear(Event { tenant, stream, seq, id, at, source, fact: Some(fact), erased: None });
        }
        Ok(())
    }

    /// Returns marked events, latest first.
    fn marked(&self, wanted: &MarkedWanted) -> Vec<Event> {
        let limit = usize::try_from(wanted.limit).unwrap_or(usize::MAX);
        let of_kind = |kind: &str| {
            let places = self.kinds.get(kind).into_iter().flatten().rev();
            places.filter_map(|place| self.events.get(*place)).filter(|event| event.seq <= wanted.to)
        };
        let lane = |event: &Event| event.fact.as_ref().and_then(Fact::lane).cloned();
        let said = |fits: fn(&wunderblock_core::message::Message) -> bool| {
            let own = self.events.iter().rev().filter(|event| event.seq <= wanted.to);
            own.filter(move |event| match &event.fact {
                Some(Fact::MessageAppended(said)) => fits(&said.message),
                _ => false,
            })
        };
        match &wanted.what {
            Marked::Kind(kind) => of_kind(kind).take(limit).cloned().collect(),
            Marked::OfLane(kind, own) => {
                of_kind(kind).filter(|event| lane(event).as_ref() == Some(own)).take(limit).cloned().collect()
            }
            Marked::EachLane(kind) => {
                let mut seen = HashSet::new();
                let newest = of_kind(kind).filter(|event| lane(event).is_some_and(|lane| seen.insert(lane)));
                newest.take(limit).cloned().collect()
            }
            Marked::UserTurn => said(|message| message.is_user_turn()).take(limit).cloned().collect(),
            Marked::System => {
                let is_system = |message: &wunderblock_core::message::Message| {
                    message.role == Role::System && message.standing.is_sendable()
                };
                said(is_system).take(limit).cloned().collect()
            }
        }
    }

    /// Returns events in a range, up to the event with which their texts exceed the maximum.
    fn range(&self, EventsWanted { from, to, limit, text }: EventsWanted) -> Vec<Event> {
        let first = self.events.partition_point(|event| event.seq < from);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut read = Bytes::ZERO;
        let mut found = Vec::new();
        for event in self.events.iter().skip(first).take_while(|event| event.seq <= to).take(limit) {
            found.push(event.clone());
            if let Some(Fact::MessageAppended(said)) = &event.fact {
                let bodies = said.message.parts.iter().flat_map(|part| part.bodies());
                read += bodies.map(Body::bytes).sum::<Bytes>();
            }
            if read > text {
                break;
            }
        }
        found
    }

    pub(super) fn some(&self, handles: Vec<Handle>) -> Texts {
        let mut texts = Texts::default();
        for handle in handles {
            if let Some(text) = self.text(handle) {
                texts.insert(handle, Arc::clone(text));
            }
        }
        texts
    }

    /// Returns the snapshot of the lane for a build.
    fn look(&self, wanted: &LaneWanted) -> Snapshot {
        let is_past = wanted.at.is_some_and(|at| at < self.head());
        let look = |at: Option<Seq>, ignores_steps| {
            let mut snapshot = Snapshot::new(self.snapshot.lane().clone());
            let up_to = |event: &&Event| at.is_none_or(|at| event.seq <= at);
            self.events.iter().take_while(up_to).for_each(|event| snapshot.fold(event, ignores_steps));
            snapshot
        };
        let mut snapshot = match is_past || wanted.ignores_steps {
            true => look(wanted.at, wanted.ignores_steps),
            false => self.snapshot.clone(),
        };
        if snapshot.before.is_none() && snapshot.view.trim().drop_before > Seq(2) {
            snapshot.opening = Some(Box::new(look(Some(OPENING), true)));
        }
        snapshot
    }
}

impl Bodies for Lane {
    fn text(&self, handle: Handle) -> Option<&str> {
        Self::text(self, handle).map(|text| &**text)
    }
}
