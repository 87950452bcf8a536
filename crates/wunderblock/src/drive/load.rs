//! A lane's snapshot from the ledger: the lane's state, and the newest events as far back as the window reaches.

use crate::engine::Engine;
use crate::error::Error;
use crate::limits::VIEW_EVENTS;
use crate::query_batch::{EVERY, QueryBatch, marked};
use crate::request::lane::LaneChoice;
use crate::request::snapshot::{
    LaneWanted, OPENING, REPORTS, Snapshot, is_compaction, is_step, speaker, spoken,
};
use crate::request::target::SessionModel;
use crate::store::codec::{self, CodecError};
use crate::store::{Answer, BodyCount, Marked, Query, ReadOrder, StoredEvent, StreamInfo};
use crate::stored::decode_event;
use crate::texts::Texts;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use wunderblock_core::decision::PartPosition;
use wunderblock_core::event::{ContextBuilt, Event, Fact, UsageMeasured};
use wunderblock_core::id::{Handle, LaneId, StreamId};
use wunderblock_core::message::Body;
use wunderblock_core::pair::arrange;
use wunderblock_core::plan::Trim;
use wunderblock_core::preamble::Preamble;
use wunderblock_core::units::{Bytes, Millis, Seq};
use wunderblock_core::view::{View, ViewEntry};

/// Events of a lane that are read for its latest: damaged records are passed over.
const LANE_PAGE: u64 = 4;

/// The kinds of event that steer a lane.
const STEERING: [&str; 4] = ["context.built", "view.trimmed", "preamble.changed", "compaction.undone"];

/// Takes a snapshot of a lane.
pub(crate) async fn load_lane(
    engine: &Engine,
    stream: &StreamId,
    wanted: &LaneWanted,
) -> Result<Snapshot, Error> {
    Loading { engine, stream, wanted }.run().await
}

/// A snapshot under way.
#[derive(Clone, Copy)]
struct Loading<'a> {
    engine: &'a Engine,
    stream: &'a StreamId,
    wanted: &'a LaneWanted,
}

impl Loading<'_> {
    async fn run(self) -> Result<Snapshot, Error> {
        let wanted = self.wanted;
        let to = wanted.at.unwrap_or(Seq(i64::MAX.unsigned_abs()));
        let mut first = self.first_trip(to).await?;
        let frontier = first.trim.as_ref().map_or(Seq::START, |(_, trim)| trim.drop_before);
        // What has been shown must stay where it is, so the view reaches back to the frontier whatever that takes. A lane
        // that has built and left nothing out has shown everything.
        let stepped = first.trim.as_ref().map_or(Seq::START, |(event, _)| event.seq);
        let shows_all = frontier == Seq::START && first.built > stepped && !wanted.ignores_steps;
        let from = if shows_all { Seq::START.next() } else { frontier };
        let from =
            wanted.reach.map_or(from, |reach| from.max(Seq::START.next()).min(reach.max(Seq::START.next())));
        let missing = (first.floor > from && from > Seq::START).then(|| (from, first.floor.prev()));
        let mut singles: BTreeSet<Seq> =
            first.trim.iter().flat_map(|(_, trim)| trim.hold.iter().chain(&trim.keep)).copied().collect();
        singles.extend(first.trim.iter().flat_map(|(_, trim)| trim.named()));
        singles.extend(first.user);
        if frontier == Seq::START {
            singles.extend(first.info.first_user.filter(|seq| *seq <= to));
            singles.extend(first.pins.iter().copied());
        }
        singles.retain(|seq| !first.events.contains_key(seq));
        let mut texts = self.newest_turn(&first)?;
        texts.extend(first.trim.iter().flat_map(|(_, trim)| trim.rules.blobs()));
        let preamble = first.preamble.as_ref();
        let ignore = preamble.into_iter().flat_map(|preamble| &preamble.ignore);
        texts.extend(ignore.filter_map(|file| file.text.handle()));
        let weighed = preamble.into_iter().flat_map(Preamble::bodies).filter_map(Body::handle).collect();
        // The first replies of a session tell what its program adds to requests: a lane that begins asks for them.
        let begins = first.before.is_none() || wanted.ignores_steps;
        let is_apart = first.floor > Seq(2) || frontier > Seq(2);
        let opening = (begins && is_apart && !first.reports.is_empty()).then(|| OPENING.min(to));
        let asked = Further { missing, opening, singles, texts, weighed };
        let (texts, counts) = self.second_trip(asked, &mut first).await?;
        if let Some((from, _)) = missing {
            first.floor = from;
        }
        let mut loaded = Snapshot { texts, ..self.assemble(first)? };
        loaded.counts.extend(counts);
        if loaded.floor > frontier.max(Seq(2)) {
            loaded.floor = past_unpaired(&loaded.view, loaded.floor);
        }
        Ok(loaded)
    }

    /// Folds what was loaded, in the order a view is resumed in.
    fn assemble(self, first: First) -> Result<Snapshot, Error> {
        let ignores_steps = self.wanted.ignores_steps;
        let compacted =
            first.trim.as_ref().filter(|(event, _)| is_compaction(event)).map(|(event, _)| event.seq);
        let mut view = View::new(first.lane.clone());
        let mut snapshot = Snapshot::new(first.lane.clone());
        if let Some((event, _)) = &first.trim {
            view.apply(event);
        }
        for row in first.events.values() {
            snapshot.counts.extend(row.counts.iter().copied());
            let event = self.event(row)?;
            snapshot.note(&event);
            let newest = first.trim.as_ref().is_some_and(|(trim, _)| trim.seq == event.seq);
            if is_step(&event, ignores_steps) && !newest || is_untrue(&event, &first.events) {
                view.pass(&event);
            } else {
                view.apply(&event);
            }
        }
        Ok(Snapshot {
            view: Arc::new(view),
            floor: first.floor,
            reports: first.reports,
            before: first.before,
            opening: first.opening,
            opened_at: first.info.opened_at,
            model: first.model.or(snapshot.model),
            undone: first.undone.filter(|at| compacted.is_none_or(|compacted| compacted < *at)),
            step: first.trim.and_then(|(event, _)| match event.fact {
                Some(Fact::ViewTrimmed(step)) => Some((event.at, step)),
                _ => None,
            }),
            ..snapshot
        })
    }

    fn event(self, row: &StoredEvent) -> Result<Event, CodecError> {
        decode_event(self.engine, self.stream, row)
    }

    async fn first_trip(self, to: Seq) -> Result<First, Error> {
        let (wanted, tenant, stream) = (self.wanted, self.engine.tenant.no, self.stream.clone());
        let newest = Query::Events {
            tenant,
            stream: stream.clone(),
            from: Seq::START,
            to,
            order: ReadOrder::Descending,
            limit: VIEW_EVENTS,
            text: wanted.text,
            counts: true,
        };
        let kind = |kind, limit| marked(self.engine, self.stream, Marked::Kind(kind), (to, limit));
        let of_lane = |kind| match &wanted.lane {
            LaneChoice::Named(lane) => self.of_lane(kind, lane, to),
            LaneChoice::Fitting(_) => marked(self.engine, self.stream, Marked::EachLane(kind), (to, EVERY)),
        };
        let mut batch = QueryBatch::default();
        let info = batch.ask(Query::Stream { tenant, stream: stream.clone() }, Answer::stream);
        let recent = batch.ask(newest, Answer::events);
        let steering = STEERING.map(|kind| batch.ask(of_lane(kind), Answer::events));
        let systems =
            batch.ask(marked(self.engine, self.stream, Marked::System, (to, EVERY)), Answer::events);
        let user = batch.ask(marked(self.engine, self.stream, Marked::UserTurn, (to, 1)), Answer::events);
        let pins = batch.ask(kind("content.pinned", EVERY), Answer::events);
        let hides = batch.ask(kind("content.hidden", EVERY), Answer::events);
        let erasures = batch.ask(kind("content.erased", EVERY), Answer::events);
        let usages = batch.ask(kind("usage.measured", REPORTS as u64), Answer::events);
        let mut answers = self.engine.ask_all(batch).await?;
        let info = answers.take(info)?.ok_or_else(|| Error::NoSession(stream.to_string()))?;
        let recent = answers.take(recent)?;
        let mut first = First::new(*info, &recent);
        for row in answers.take(usages)? {
            if let Some(Fact::UsageMeasured(usage)) = self.event(&row)?.fact {
                first.reports.insert(0, (row.seq, usage));
            }
        }
        first.model = self.newest_speaker(&recent)?;
        let mut rows = Vec::new();
        for asked in steering {
            rows.push(answers.take(asked)?);
        }
        self.steering(&mut first, rows).await?;
        first.keep(answers.take(systems)?);
        first.user = answers.take(user)?.first().map(|row| row.seq);
        let pins = answers.take(pins)?;
        for row in &pins {
            if let Some(Fact::ContentPinned(pin)) = self.event(row)?.fact {
                first.pins.push(pin.target);
            }
        }
        first.keep(pins);
        first.keep(answers.take(hides)?);
        first.keep(answers.take(erasures)?);
        // Last, so that what carries counts wins over the same event without.
        first.keep(recent);
        Ok(first)
    }

    fn of_lane(self, kind: &'static str, lane: &LaneId, to: Seq) -> Query {
        marked(self.engine, self.stream, Marked::OfLane(kind, lane.clone()), (to, LANE_PAGE))
    }

    /// The model that spoke last, of what was read from the newest on.
    fn newest_speaker(self, recent: &[StoredEvent]) -> Result<Option<Box<str>>, Error> {
        for row in recent.iter().filter(|row| row.kind == "message.appended") {
            if let Some(model) = speaker(&self.event(row)?) {
                return Ok(Some(model.into()));
            }
        }
        Ok(None)
    }

    /// Finds the lane, and takes in what steers it: its latest request, step and preamble.
    async fn steering(self, first: &mut First, rows: Vec<Vec<StoredEvent>>) -> Result<(), Error> {
        first.lane = match &self.wanted.lane {
            LaneChoice::Named(lane) => lane.clone(),
            LaneChoice::Fitting(query) => {
                let mut lanes = Vec::new();
                for row in rows.iter().flatten().filter(|row| row.kind == STEERING[0]) {
                    lanes.extend(self.built(row)?);
                }
                query.choose(&first.said(), &lanes)?
            }
        };
        let mut newest = Vec::new();
        for (kind, mut rows) in STEERING.into_iter().zip(rows) {
            rows.retain(|row| row.lane.as_ref() == Some(&first.lane));
            newest.extend(self.newest_of_lane(rows, kind, &first.lane).await?);
        }
        for (row, event) in newest {
            let is_step = matches!(event.fact, Some(Fact::ViewTrimmed(_) | Fact::ContextBuilt(_)));
            match &event.fact {
                Some(Fact::ContextBuilt(built)) => {
                    first.before = Some((event.at, Arc::new(built.as_ref().clone())));
                    first.built = event.seq;
                }
                Some(Fact::ViewTrimmed(moved)) if !self.wanted.ignores_steps => {
                    let trim = moved.trim.clone();
                    first.trim = Some((event, trim));
                }
                Some(Fact::CompactionUndone(_)) => first.undone = Some(event.seq),
                Some(Fact::PreambleChanged(changed)) => first.preamble = Some(changed.preamble.clone()),
                _ => {}
            }
            // An older step of the lane is no part of a view that ignores steps.
            if !(is_step && self.wanted.ignores_steps) {
                first.keep([row]);
            }
        }
        Ok(())
    }

    /// What a record says of a request that was built, if it can be true.
    fn built(self, row: &StoredEvent) -> Result<Option<ContextBuilt>, Error> {
        let fact = self.event(row)?.fact.filter(|fact| fact.contradiction(row.seq).is_none());
        Ok(match fact {
            Some(Fact::ContextBuilt(built)) => Some(*built),
            _ => None,
        })
    }

    /// The latest event of a kind that the lane follows; looks further back only where records are passed over. An erased
    /// preamble is one: it says that there is none.
    async fn newest_of_lane(
        self,
        mut rows: Vec<StoredEvent>,
        kind: &'static str,
        lane: &LaneId,
    ) -> Result<Option<(StoredEvent, Event)>, Error> {
        loop {
            for row in &rows {
                let event = self.event(row)?;
                let holds = match &event.fact {
                    Some(fact) => fact.contradiction(event.seq).is_none(),
                    None => kind == "preamble.changed",
                };
                if holds {
                    return Ok(Some((row.clone(), event)));
                }
            }
            let Some(oldest) = rows.iter().map(|row| row.seq).min() else { return Ok(None) };
            rows = self.engine.ask(self.of_lane(kind, lane, oldest.prev()), Answer::events).await?;
        }
    }

    /// The texts of the user's newest turn that are in blobs: what it names may come back.
    fn newest_turn(self, first: &First) -> Result<Vec<Handle>, Error> {
        for row in first.events.values().rev().filter(|row| row.kind == "message.appended") {
            let Some(Fact::MessageAppended(said)) = self.event(row)?.fact else { continue };
            if said.message.is_user_turn() {
                return Ok(spoken(&said.message).filter_map(Body::handle).collect());
            }
        }
        Ok(Vec::new())
    }

    /// Asks for what the first trip did not bring, and puts events where they belong: texts, and what is known of bodies.
    async fn second_trip(
        self,
        asked: Further,
        first: &mut First,
    ) -> Result<(Texts, HashMap<Handle, BodyCount>), Error> {
        let (tenant, stream) = (self.engine.tenant.no, self.stream);
        let events = |(from, to)| Query::Events {
            tenant,
            stream: stream.clone(),
            from,
            to,
            order: ReadOrder::Ascending,
            limit: EVERY,
            text: Bytes(i64::MAX.unsigned_abs()),
            counts: true,
        };
        let mut batch = QueryBatch::default();
        let missing = asked.missing.map(|range| batch.ask(events(range), Answer::events));
        let opening = asked.opening.map(|to| batch.ask(events((Seq::START, to)), Answer::events));
        let singles = (!asked.singles.is_empty()).then(|| {
            let seqs = asked.singles.into_iter().collect();
            batch.ask(Query::At { tenant, stream: stream.clone(), seqs }, Answer::events)
        });
        let blobs = (!asked.texts.is_empty())
            .then(|| batch.ask(Query::Blobs { tenant, handles: asked.texts }, Answer::blobs));
        let weighed = (!asked.weighed.is_empty())
            .then(|| batch.ask(Query::Counts { tenant, handles: asked.weighed.clone() }, Answer::counts));
        let (mut texts, mut counts) = (Texts::default(), HashMap::new());
        if batch.is_empty() {
            return Ok((texts, counts));
        }
        let mut answers = self.engine.ask_all(batch).await?;
        for rows in [missing, singles].into_iter().flatten() {
            first.keep(answers.take(rows)?);
        }
        if let Some(rows) = opening {
            first.opening = Some(self.opening(&first.lane, &answers.take(rows)?)?);
        }
        for blob in blobs.map(|blobs| answers.take(blobs)).transpose()?.into_iter().flatten().flatten() {
            texts.insert(blob.handle, codec::unpack_body(&self.engine.tenant.key, &blob)?);
        }
        if let Some(found) = weighed {
            let known = asked.weighed.iter().zip(answers.take(found)?);
            counts.extend(known.filter_map(|(handle, count)| Some((*handle, count?))));
        }
        Ok((texts, counts))
    }

    /// The beginning of the session, as it was before any lane took a step.
    fn opening(self, lane: &LaneId, rows: &[StoredEvent]) -> Result<Box<Snapshot>, CodecError> {
        let mut opening = Snapshot::new(lane.clone());
        for row in rows {
            opening.counts.extend(row.counts.iter().copied());
            opening.fold(&self.event(row)?, true);
        }
        Ok(Box::new(opening))
    }
}

/// The first position from a floor on that is no result of a call below it: such results are left out with their calls.
fn past_unpaired(view: &View, floor: Seq) -> Seq {
    let arrangement = arrange(view);
    let unpaired: BTreeSet<PartPosition> =
        arrangement.loose.iter().chain(&arrangement.early).map(|(at, _)| *at).collect();
    let is_unpaired = |entry: &&ViewEntry| {
        let parts = entry.message.parts.len();
        parts > 0 && (0..parts).all(|part| unpaired.contains(&(entry.seq, part)))
    };
    let shown = view.entries().filter(|entry| entry.seq >= floor);
    shown.take_while(is_unpaired).last().map_or(floor, |entry| entry.seq.next())
}

/// Whether an event claims an erasure that never was: a message of its range is there.
fn is_untrue(event: &Event, rows: &BTreeMap<Seq, StoredEvent>) -> bool {
    let Some(fact @ Fact::ContentErased(erased)) = &event.fact else { return false };
    let is_there = |row: &StoredEvent| row.kind == "message.appended" && row.payload.is_some();
    fact.contradiction(event.seq).is_none()
        && rows.range(erased.from_seq..=erased.to_seq).any(|(_, row)| is_there(row))
}

/// What the second round trip is for.
struct Further {
    /// Positions from the frontier on that the first did not reach.
    missing: Option<(Seq, Seq)>,
    /// Up to where the session's beginning is asked for.
    opening: Option<Seq>,
    /// Positions before it.
    singles: BTreeSet<Seq>,
    /// Bodies whose texts are needed.
    texts: Vec<Handle>,
    /// Bodies whose counts are.
    weighed: Vec<Handle>,
}

/// What the first round trip brings.
struct First {
    info: StreamInfo,
    /// The lane that is meant.
    lane: LaneId,
    /// The model that spoke last.
    model: Option<Box<str>>,
    events: BTreeMap<Seq, StoredEvent>,
    floor: Seq,
    /// The lane's newest trim, and the event of it.
    trim: Option<(Event, Trim)>,
    pins: Vec<Seq>,
    /// The user's newest turn.
    user: Option<Seq>,
    reports: Vec<(Seq, UsageMeasured)>,
    before: Option<(Millis, Arc<ContextBuilt>)>,
    /// Where that is recorded.
    built: Seq,
    /// Where the lane's latest undo is recorded.
    undone: Option<Seq>,
    /// What stands before the lane's conversation.
    preamble: Option<Preamble>,
    /// See [`Snapshot::opening`].
    opening: Option<Box<Snapshot>>,
}

impl First {
    fn new(info: StreamInfo, recent: &[StoredEvent]) -> Self {
        Self {
            info,
            lane: LaneId::main(),
            model: None,
            events: BTreeMap::new(),
            floor: recent.iter().map(|row| row.seq).min().unwrap_or(Seq::START),
            trim: None,
            pins: Vec::new(),
            user: None,
            reports: Vec::new(),
            before: None,
            built: Seq::START,
            undone: None,
            preamble: None,
            opening: None,
        }
    }

    /// The model the session has been with.
    fn said(&self) -> SessionModel<'_> {
        let window = self.reports.last().and_then(|(_, usage)| usage.window);
        SessionModel { model: self.model.as_deref(), window }
    }

    fn keep(&mut self, rows: impl IntoIterator<Item = StoredEvent>) {
        self.events.extend(rows.into_iter().map(|row| (row.seq, row)));
    }
}
