//! Loads a lane's snapshot from the ledger. The snapshot holds the lane's state, and the latest events as far back as
//! the window reaches.

use super::named::{NamedSearch, NamedTurn};
use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::reading::query_batch::{EVERY, QueryBatch, marked};
use crate::ledger::reading::stored::decode_event;
use crate::ledger::texts::Texts;
use crate::limits::VIEW_EVENTS;
use crate::request::input::lane::LaneChoice;
use crate::request::input::snapshot::{
    LaneWanted, OPENING, REPORTS, Snapshot, is_compaction, is_step, planned_texts, speaker, spoken,
};
use crate::request::input::target::SessionModel;
use crate::request::named::{NamedPlaces, TURNS};
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
use wunderblock_store::codec::{self, CodecError};
use wunderblock_store::{
    Answer, BodyCount, EventFilter, Marked, Query, ReadOrder, StoredEvent, StreamInfo, StreamKind,
};

/// Number of events of a lane that are read to find its latest one. Several events are read, because damaged records
/// are skipped.
const LANE_PAGE: u64 = 4;

/// Number of latest events that are loaded whatever their size.
const LATEST: u64 = 64;

/// Number of latest messages that are searched for the latest exchange.
const LATEST_MESSAGES: usize = 64;

/// Kinds of event that steer a lane.
const STEERING: [&str; 4] = ["context.built", "view.trimmed", "preamble.changed", "compaction.undone"];

/// Loads a snapshot of a lane, in at most two round trips unless damaged records are skipped.
pub(crate) async fn load_lane(
    engine: &Engine,
    stream: &StreamId,
    wanted: &LaneWanted,
) -> Result<Snapshot, Error> {
    Loading { engine, stream, wanted }.run().await
}

/// State of loading a snapshot.
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
        // Entries that requests have shown must stay in place, so the view reaches back to the frontier, whatever its
        // size. A lane that has built a request and left nothing out has shown everything.
        let stepped = first.trim.as_ref().map_or(Seq::START, |(event, _)| event.seq);
        let shows_all = frontier == Seq::START && first.built > stepped && !wanted.ignores_steps;
        let from = if shows_all { Seq::START.next() } else { frontier };
        let from =
            wanted.reach.map_or(from, |reach| from.max(Seq::START.next()).min(reach.max(Seq::START.next())));
        // The newest exchange is loaded however large it is: a request without it makes an agent repeat its call.
        let newest = Seq(first.info.head.min(to).0.saturating_sub(LATEST).max(1));
        let from = if from == Seq::START { newest.min(first.floor) } else { from };
        let missing = (first.floor > from).then(|| (from, first.floor.prev()));
        let mut singles: BTreeSet<Seq> =
            first.trim.iter().flat_map(|(_, trim)| trim.hold.iter().chain(&trim.keep)).copied().collect();
        singles.extend(first.trim.iter().flat_map(|(_, trim)| trim.named()));
        singles.extend(first.user);
        // Before the first step, no trim lists the entries that must be loaded whatever their age.
        if frontier == Seq::START {
            singles.extend(first.info.first_user.filter(|seq| *seq <= to));
            singles.extend(first.pins.iter().copied());
        }
        singles.retain(|seq| !first.events.contains_key(seq));
        let mut texts = self.newest_texts(&first)?;
        texts.extend(first.trim.iter().flat_map(|(_, trim)| trim.rules.blobs()));
        let preamble = first.preamble.as_ref();
        let ignore = preamble.into_iter().flat_map(|preamble| &preamble.ignore);
        texts.extend(ignore.filter_map(|file| file.text.handle()));
        let weighed = preamble.into_iter().flat_map(Preamble::bodies).filter_map(Body::handle).collect();
        // The first replies of a session show how much its agent program adds to requests. When a lane begins, it
        // loads these replies.
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

    /// Folds the loaded events in the order in which a view is resumed.
    fn assemble(self, first: First) -> Result<Snapshot, Error> {
        let ignores_steps = self.wanted.ignores_steps;
        let compacted =
            first.trim.as_ref().filter(|(event, _)| is_compaction(event)).map(|(event, _)| event.seq);
        let mut view = View::new(first.lane.clone());
        let mut snapshot = Snapshot::new(first.lane.clone());
        // The latest step comes first: it decides how the view treats the events that follow.
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
            epoch: first.epoch,
            view: Arc::new(view),
            floor: first.floor,
            reports: first.reports,
            before: first.before,
            opening: first.opening,
            named: first.places,
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
            filter: EventFilter::default(),
        };
        let kind = |kind, limit| marked(self.engine, self.stream, Marked::Kind(kind), to, limit);
        let of_lane = |kind| match &wanted.lane {
            LaneChoice::Named(lane) => self.of_lane(kind, lane, to),
            LaneChoice::Fitting(_) => marked(self.engine, self.stream, Marked::EachLane(kind), to, EVERY),
        };
        let mut batch = QueryBatch::default();
        let epoch = batch.ask(Query::Epoch { tenant }, Answer::epoch);
        let info = batch
            .ask(Query::Stream { tenant, of: StreamKind::Session, stream: stream.clone() }, Answer::stream);
        let recent = batch.ask(newest, Answer::events);
        let steering = STEERING.map(|kind| batch.ask(of_lane(kind), Answer::events));
        let systems = batch.ask(marked(self.engine, self.stream, Marked::System, to, EVERY), Answer::events);
        let user = batch.ask(marked(self.engine, self.stream, Marked::UserTurn, to, TURNS), Answer::events);
        let named = wanted.names.then(|| NamedTurn::ask(self.engine, self.stream, to, &mut batch));
        let pins = batch.ask(kind("content.pinned", EVERY), Answer::events);
        let hides = batch.ask(kind("content.hidden", EVERY), Answer::events);
        let erasures = batch.ask(kind("content.erased", EVERY), Answer::events);
        let usages = batch.ask(kind("usage.measured", REPORTS as u64), Answer::events);
        let mut answers = self.engine.ask_all(batch).await?;
        let info = answers.take(info)?.ok_or_else(|| Error::NoSession(stream.to_string()))?;
        let recent = answers.take(recent)?;
        let mut first = First::new(*info, &recent);
        first.epoch = answers.take(epoch)?.no;
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
        let turns = answers.take(user)?;
        first.user = turns.first().map(|row| row.seq);
        if let Some(named) = named {
            let turns: Vec<Event> = turns.iter().map(|row| self.event(row)).collect::<Result<_, _>>()?;
            let (turn, search) = named.search(self.engine, &mut answers, &first.info, &turns)?;
            (first.places, first.named) = (Arc::new(turn), search);
        }
        let pins = answers.take(pins)?;
        for row in &pins {
            if let Some(Fact::ContentPinned(pin)) = self.event(row)?.fact {
                first.pins.push(pin.target);
            }
        }
        first.keep(pins);
        first.keep(answers.take(hides)?);
        first.keep(answers.take(erasures)?);
        // These rows are added last, because they carry token counts and replace the same events without counts.
        first.keep(recent);
        Ok(first)
    }

    fn of_lane(self, kind: &'static str, lane: &LaneId, to: Seq) -> Query {
        marked(self.engine, self.stream, Marked::OfLane(kind, lane.clone()), to, LANE_PAGE)
    }

    /// Returns the model that spoke last among the loaded events, which are sorted newest first.
    fn newest_speaker(self, recent: &[StoredEvent]) -> Result<Option<Box<str>>, Error> {
        for row in recent.iter().filter(|row| row.kind == "message.appended") {
            if let Some(model) = speaker(&self.event(row)?) {
                return Ok(Some(model.into()));
            }
        }
        Ok(None)
    }

    /// Finds the lane, and adds the events that steer it: its latest request, step, preamble and undo.
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
                Some(Fact::PreambleChanged(changed)) if !changed.preamble.is_erased() => {
                    first.preamble = Some(changed.preamble.clone());
                }
                _ => {}
            }
            // A view that ignores steps does not contain the lane's earlier steps and requests.
            if !(is_step && self.wanted.ignores_steps) {
                first.keep([row]);
            }
        }
        Ok(())
    }

    /// Returns the recorded request of a row, unless its claims about positions are false.
    fn built(self, row: &StoredEvent) -> Result<Option<ContextBuilt>, Error> {
        let fact = self.event(row)?.fact.filter(|fact| fact.contradiction(row.seq).is_none());
        Ok(match fact {
            Some(Fact::ContextBuilt(built)) => Some(*built),
            _ => None,
        })
    }

    /// Returns the latest event of a kind that the lane follows. Reads further back only if records are skipped. An
    /// erased preamble is not skipped: a lane whose preamble is erased has none.
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

    /// Returns the handles of the texts that every plan reads: those of the latest exchange and of the user's latest
    /// turn.
    fn newest_texts(self, first: &First) -> Result<Vec<Handle>, Error> {
        let said = || first.events.values().rev().filter(|row| row.kind == "message.appended");
        let mut view = View::new(first.lane.clone());
        let latest: Vec<&StoredEvent> = said().take(LATEST_MESSAGES).collect();
        for row in latest.into_iter().rev() {
            view.apply(&self.event(row)?);
        }
        let mut texts = planned_texts(&view);
        if view.newest_user().is_some() {
            return Ok(texts);
        }
        for row in said().skip(LATEST_MESSAGES) {
            let Some(Fact::MessageAppended(said)) = self.event(row)?.fact else { continue };
            if said.message.is_user_turn() {
                texts.extend(spoken(&said.message).filter_map(Body::handle));
                break;
            }
        }
        Ok(texts)
    }

    /// Loads what the first trip lacks: further events, texts, and counts of bodies.
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
            filter: EventFilter::default(),
        };
        let mut batch = QueryBatch::default();
        let missing = asked.missing.map(|range| batch.ask(events(range), Answer::events));
        let opening = asked.opening.map(|to| batch.ask(events((Seq::START, to)), Answer::events));
        let singles = (!asked.singles.is_empty()).then(|| {
            let seqs = asked.singles.into_iter().collect();
            batch.ask(
                Query::At { tenant, stream: stream.clone(), seqs, filter: EventFilter::default() },
                Answer::events,
            )
        });
        let blobs = (!asked.texts.is_empty())
            .then(|| batch.ask(Query::Blobs { tenant, handles: asked.texts }, Answer::blobs));
        let weighed = (!asked.weighed.is_empty())
            .then(|| batch.ask(Query::Counts { tenant, handles: asked.weighed.clone() }, Answer::counts));
        let mut named = first.named.take();
        if let Some(named) = &mut named {
            named.ask(self.engine, &mut batch);
        }
        let (mut texts, mut counts) = (Texts::default(), HashMap::new());
        if batch.is_empty() {
            return Ok((texts, counts));
        }
        let mut answers = self.engine.ask_all(batch).await?;
        if let Some(named) = named {
            first.places = Arc::new(named.places(self.engine, &mut answers)?);
        }
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

    /// Returns the beginning of the session as if no lane had taken a step.
    fn opening(self, lane: &LaneId, rows: &[StoredEvent]) -> Result<Box<Snapshot>, CodecError> {
        let mut opening = Snapshot::new(lane.clone());
        for row in rows {
            opening.counts.extend(row.counts.iter().copied());
            opening.fold(&self.event(row)?, true);
        }
        Ok(Box::new(opening))
    }
}

/// Returns the first position from a floor on that is not the result of a call below the floor. Results of calls
/// below the floor are left out together with the calls.
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

/// Returns whether an event claims an erasure that never happened, because a message in its range still has content.
fn is_untrue(event: &Event, rows: &BTreeMap<Seq, StoredEvent>) -> bool {
    let Some(fact @ Fact::ContentErased(erased)) = &event.fact else { return false };
    let is_there = |row: &StoredEvent| row.kind == "message.appended" && row.payload.is_some();
    fact.contradiction(event.seq).is_none()
        && rows.range(erased.from_seq..=erased.to_seq).any(|(_, row)| is_there(row))
}

/// Requests of the second round trip.
struct Further {
    /// Range from the frontier on that the first trip did not load.
    missing: Option<(Seq, Seq)>,
    /// Last position of the session's opening to load.
    opening: Option<Seq>,
    /// Single positions before the loaded range.
    singles: BTreeSet<Seq>,
    /// Bodies whose texts are needed.
    texts: Vec<Handle>,
    /// Bodies whose counts are needed.
    weighed: Vec<Handle>,
}

/// Results of the first round trip.
struct First {
    info: StreamInfo,
    /// Number of the tenant's erasures.
    epoch: u64,
    /// Lane to load.
    lane: LaneId,
    /// Model that spoke last.
    model: Option<Box<str>>,
    events: BTreeMap<Seq, StoredEvent>,
    floor: Seq,
    /// Latest trim of the lane, with its event.
    trim: Option<(Event, Trim)>,
    pins: Vec<Seq>,
    /// Position of the user's latest turn.
    user: Option<Seq>,
    reports: Vec<(Seq, UsageMeasured)>,
    before: Option<(Millis, Arc<ContextBuilt>)>,
    /// Position of the lane's latest request.
    built: Seq,
    /// Position of the lane's latest undo.
    undone: Option<Seq>,
    /// Latest preamble of the lane.
    preamble: Option<Preamble>,
    /// Opening of the session: [`Snapshot::opening`].
    opening: Option<Box<Snapshot>>,
    /// Search for what the newest typed turn names.
    named: Option<NamedSearch>,
    /// Result of the search.
    places: Arc<NamedPlaces>,
}

impl First {
    fn new(info: StreamInfo, recent: &[StoredEvent]) -> Self {
        Self {
            info,
            epoch: 0,
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
            named: None,
            places: Arc::default(),
        }
    }

    /// Returns the model and window that the session last used.
    fn said(&self) -> SessionModel<'_> {
        let window = self.reports.last().and_then(|(_, usage)| usage.window);
        SessionModel { model: self.model.as_deref(), window }
    }

    fn keep(&mut self, rows: impl IntoIterator<Item = StoredEvent>) {
        self.events.extend(rows.into_iter().map(|row| (row.seq, row)));
    }
}
