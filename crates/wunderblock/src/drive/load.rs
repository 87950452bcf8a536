//! A lane's snapshot from the ledger: the lane's state, and the newest events as far back as the window reaches.

use crate::engine::{Engine, unexpected};
use crate::error::Error;
use crate::limits::VIEW_EVENTS;
use crate::query_batch::{EVERY, QueryBatch, marked};
use crate::request::snapshot::{LaneWanted, REPORTS, Snapshot, is_step, spoken};
use crate::store::codec::{self, CodecError};
use crate::store::{Answer, BodyCount, Marked, Query, ReadOrder, StoredEvent, StreamInfo};
use crate::stored::decode_event;
use crate::texts::Texts;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use wunderblock_core::decision::PartPosition;
use wunderblock_core::event::{ContextBuilt, Event, Fact, UsageMeasured};
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::message::Body;
use wunderblock_core::pair::arrange;
use wunderblock_core::plan::Trim;
use wunderblock_core::preamble::Preamble;
use wunderblock_core::units::{Bytes, Millis, Seq};
use wunderblock_core::view::{View, ViewEntry, preamble_id};

/// Lane events that are looked through for the newest of one lane at a time.
const LANE_PAGE: u64 = 16;

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
        let shows_all = first.trim.is_none() && first.before.is_some() && !wanted.ignores_steps;
        let from = if shows_all { Seq::START.next() } else { frontier };
        let from =
            wanted.reach.map_or(from, |reach| from.max(Seq::START.next()).min(reach.max(Seq::START.next())));
        let missing = (first.floor > from && from > Seq::START).then(|| (from, first.floor.prev()));
        let mut singles: BTreeSet<Seq> =
            first.trim.iter().flat_map(|(_, trim)| trim.hold.iter().chain(&trim.keep)).copied().collect();
        singles.extend(first.trim.iter().flat_map(|(_, trim)| trim.named()));
        if first.trim.is_none() {
            singles.extend(first.info.first_user.filter(|seq| *seq <= to));
            singles.extend(first.pins.iter().copied());
        }
        singles.retain(|seq| !first.events.contains_key(seq));
        let mut texts = self.newest_turn(&first)?;
        let preamble = first.preamble.as_ref();
        let ignore = preamble.into_iter().flat_map(|preamble| &preamble.ignore);
        texts.extend(ignore.filter_map(|file| file.text.handle()));
        let weighed = preamble.into_iter().flat_map(Preamble::bodies).filter_map(Body::handle).collect();
        let asked = Further { missing, singles, texts, weighed };
        let (texts, counts) = self.second_trip(asked, &mut first.events).await?;
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
        let mut view = View::new(self.wanted.lane.clone());
        let mut snapshot = Snapshot::new(self.wanted.lane.clone());
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
            opened_at: first.info.opened_at,
            ignores_steps,
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
        let mut batch = QueryBatch::default();
        let info = batch.ask(Query::Stream { tenant, stream: stream.clone() }, Answer::stream);
        let recent = batch.ask(newest, Answer::events);
        let trims = batch.ask(kind("view.trimmed", LANE_PAGE), Answer::events);
        let builds = batch.ask(kind("context.built", LANE_PAGE), Answer::events);
        let systems =
            batch.ask(marked(self.engine, self.stream, Marked::System, (to, EVERY)), Answer::events);
        let pins = batch.ask(kind("content.pinned", EVERY), Answer::events);
        let hides = batch.ask(kind("content.hidden", EVERY), Answer::events);
        let erasures = batch.ask(kind("content.erased", EVERY), Answer::events);
        let usages = batch.ask(kind("usage.measured", REPORTS as u64), Answer::events);
        let preambles = batch.ask(kind("preamble.changed", LANE_PAGE), Answer::events);
        let mut answers = self.engine.ask_all(batch).await?;
        let info = answers.take(info)?.ok_or_else(|| Error::NoSession(stream.to_string()))?;
        let recent = answers.take(recent)?;
        let mut first = First::new(*info, &recent);
        self.lane_events(&mut first, answers.take(trims)?, answers.take(builds)?).await?;
        first.keep(answers.take(systems)?);
        let pins = answers.take(pins)?;
        for row in &pins {
            if let Some(Fact::ContentPinned(pin)) = self.event(row)?.fact {
                first.pins.push(pin.target);
            }
        }
        first.keep(pins);
        first.keep(answers.take(hides)?);
        first.keep(answers.take(erasures)?);
        for row in answers.take(usages)? {
            if let Some(Fact::UsageMeasured(usage)) = self.event(&row)?.fact {
                first.reports.insert(0, (row.seq, usage));
            }
        }
        let preamble = self.newest_of_lane(answers.take(preambles)?, "preamble.changed").await?;
        if let Some(Event { fact: Some(Fact::PreambleChanged(changed)), .. }) = preamble.1 {
            first.preamble = Some(changed.preamble);
        }
        first.keep(preamble.0);
        // Last, so that what carries counts wins over the same event without.
        first.keep(recent);
        Ok(first)
    }

    /// Takes in the lane's newest step and its newest request.
    async fn lane_events(
        self,
        first: &mut First,
        trims: Vec<StoredEvent>,
        builds: Vec<StoredEvent>,
    ) -> Result<(), Error> {
        let wanted = self.wanted;
        let trimmed = self.newest_of_lane(trims, "view.trimmed").await?;
        if let Some(event) = trimmed.1.filter(|_| !wanted.ignores_steps)
            && let Some(Fact::ViewTrimmed(moved)) = &event.fact
        {
            let trim = moved.trim.clone();
            first.trim = Some((event, trim));
        }
        let built = self.newest_of_lane(builds, "context.built").await?;
        if let Some(Event { fact: Some(Fact::ContextBuilt(last)), at, .. }) = built.1 {
            first.before = Some((at, Arc::from(last)));
        }
        // An older step of the lane is no part of a view that ignores steps.
        first.keep(trimmed.0.into_iter().chain(built.0).filter(|_| !wanted.ignores_steps));
        Ok(())
    }

    /// The newest event of a kind that belongs to the lane; looks further back only when other lanes crowd it out.
    async fn newest_of_lane(
        self,
        mut rows: Vec<StoredEvent>,
        kind: &'static str,
    ) -> Result<(Option<StoredEvent>, Option<Event>), Error> {
        loop {
            for row in &rows {
                let event = self.event(row)?;
                if event.fact.as_ref().is_some_and(|fact| fact.contradiction(event.seq).is_some()) {
                    continue;
                }
                if event.fact.is_none() && event.id.as_str().starts_with(&preamble_id(&self.wanted.lane)) {
                    return Ok((Some(row.clone()), Some(event)));
                }
                let lane = match &event.fact {
                    Some(Fact::ViewTrimmed(trimmed)) => &trimmed.lane,
                    Some(Fact::ContextBuilt(built)) => &built.lane,
                    Some(Fact::PreambleChanged(changed)) => &changed.lane,
                    _ => continue,
                };
                if *lane == self.wanted.lane {
                    return Ok((Some(row.clone()), Some(event)));
                }
            }
            let oldest = rows.iter().map(|row| row.seq).min();
            match oldest {
                Some(oldest) if rows.len() as u64 >= LANE_PAGE => {
                    let query =
                        marked(self.engine, self.stream, Marked::Kind(kind), (oldest.prev(), LANE_PAGE));
                    rows = self.engine.ask(query, Answer::events).await?;
                }
                _ => return Ok((None, None)),
            }
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

    async fn second_trip(
        self,
        asked: Further,
        events: &mut BTreeMap<Seq, StoredEvent>,
    ) -> Result<(Texts, HashMap<Handle, BodyCount>), Error> {
        let (tenant, stream) = (self.engine.tenant.no, self.stream);
        let mut queries = Vec::new();
        if let Some((from, to)) = asked.missing {
            queries.push(Query::Events {
                tenant,
                stream: stream.clone(),
                from,
                to,
                order: ReadOrder::Ascending,
                limit: u64::from(u32::MAX),
                text: Bytes(i64::MAX.unsigned_abs()),
                counts: true,
            });
        }
        if !asked.singles.is_empty() {
            queries.push(Query::At {
                tenant,
                stream: stream.clone(),
                seqs: asked.singles.into_iter().collect(),
            });
        }
        if !asked.texts.is_empty() {
            queries.push(Query::Blobs { tenant, handles: asked.texts });
        }
        if !asked.weighed.is_empty() {
            queries.push(Query::Counts { tenant, handles: asked.weighed.clone() });
        }
        let (mut texts, mut counts) = (Texts::default(), HashMap::new());
        if queries.is_empty() {
            return Ok((texts, counts));
        }
        for answer in self.engine.storage.query(queries).await? {
            match answer {
                Answer::Events(rows) => events.extend(rows.into_iter().map(|row| (row.seq, row))),
                Answer::Blobs(blobs) => {
                    for blob in blobs.into_iter().flatten() {
                        texts.insert(blob.handle, codec::unpack_body(&self.engine.tenant.key, &blob)?);
                    }
                }
                Answer::Counts(found) => {
                    let known = asked.weighed.iter().zip(found);
                    counts.extend(known.filter_map(|(handle, count)| Some((*handle, count?))));
                }
                _ => return Err(unexpected()),
            }
        }
        Ok((texts, counts))
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
    events: BTreeMap<Seq, StoredEvent>,
    floor: Seq,
    /// The lane's newest trim, and the event of it.
    trim: Option<(Event, Trim)>,
    pins: Vec<Seq>,
    reports: Vec<(Seq, UsageMeasured)>,
    before: Option<(Millis, Arc<ContextBuilt>)>,
    /// What stands before the lane's conversation.
    preamble: Option<Preamble>,
}

impl First {
    fn new(info: StreamInfo, recent: &[StoredEvent]) -> Self {
        Self {
            info,
            events: BTreeMap::new(),
            floor: recent.iter().map(|row| row.seq).min().unwrap_or(Seq::START),
            trim: None,
            pins: Vec::new(),
            reports: Vec::new(),
            before: None,
            preamble: None,
        }
    }

    fn keep(&mut self, rows: impl IntoIterator<Item = StoredEvent>) {
        self.events.extend(rows.into_iter().map(|row| (row.seq, row)));
    }
}
