//! Loads what a request could show: the lane's state, and the newest events as far back as the window reaches.

use super::reduce::Reduced;
use crate::catch_up::{is_data, leaves};
use crate::engine::{Engine, unexpected};
use crate::error::Error;
use crate::gauge::Scales;
use crate::limits::VIEW_EVENTS;
use crate::store::codec::{self, CodecError};
use crate::store::{Answer, BodyCount, Marked, Order, Query, StoredEvent, StreamInfo};
use crate::trip::Trip;
use crate::usage::Note;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use wunderblock_core::event::{ContextBuilt, Event, Fact, UsageMeasured, ViewTrimmed};
use wunderblock_core::id::{Handle, LaneId, StreamId};
use wunderblock_core::message::{Body, Message, Part};
use wunderblock_core::pair::arrange;
use wunderblock_core::plan::Trim;
use wunderblock_core::ports::Bodies;
use wunderblock_core::preamble::Preamble;
use wunderblock_core::step::At;
use wunderblock_core::units::{Bytes, Millis, Seq};
use wunderblock_core::view::{Entry, View, preamble_id};

/// Lane events that are looked through for the newest of one lane at a time.
const LANE_PAGE: u64 = 16;

/// Reports of usage that are looked at: the newest, and one before it that is of another reply.
const REPORTS: u64 = 4;

/// What was loaded.
pub(crate) struct Loaded {
    pub(crate) info: StreamInfo,
    pub(crate) view: View,
    /// The first position of which everything is in the view.
    pub(crate) floor: Seq,
    pub(crate) counts: HashMap<Handle, BodyCount>,
    /// The texts of the user's newest turn that are in blobs.
    pub(crate) texts: Texts,
    pub(crate) usage: Option<UsageMeasured>,
    /// What bears on measurements, beside the entries of the view.
    pub(crate) notes: Vec<Note>,
    /// The newest reports of usage, oldest first.
    pub(crate) reports: Vec<(Seq, UsageMeasured)>,
    /// The lane's request before, and when it was built.
    pub(crate) before: Option<(Millis, Box<ContextBuilt>)>,
    /// When the newest event happened.
    pub(crate) newest_at: Millis,
    /// Whether the lane's steps so far were taken no account of.
    pub(crate) ignored_steps: bool,
    /// The lane's newest step, and when it took it.
    pub(crate) step: Option<(Millis, ViewTrimmed)>,
    /// Whether the provider refused the lane's last request as too long.
    pub(crate) refused: bool,
    /// What is shown shorter from the next request on: applied to the view, not recorded yet.
    pub(super) reduced: Reduced,
}

/// The texts of blobs, for rendering.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts(pub(crate) HashMap<Handle, String>);

impl Bodies for Texts {
    fn text(&self, handle: Handle) -> Option<&str> {
        self.0.get(&handle).map(String::as_str)
    }
}

/// Which view to load.
pub(crate) struct Wanted<'a> {
    pub(crate) stream: &'a StreamId,
    pub(crate) lane: &'a LaneId,
    /// As of this position; the head if none.
    pub(crate) at: Option<Seq>,
    /// How much text the window can hold at most.
    pub(crate) text: Bytes,
    /// What is known to be part of it: from here on everything is loaded, however much that is.
    pub(crate) reach: Option<Seq>,
    /// Whether to take no account of what the lane has left out so far.
    pub(crate) ignores_steps: bool,
}

impl Loaded {
    /// The newest position of the ledger that went into it.
    pub(super) fn head(&self) -> Seq {
        if self.reduced.events.is_empty() { self.view.head() } else { self.reduced.through }
    }
}

impl Engine {
    pub(crate) async fn load(&self, wanted: &Wanted<'_>) -> Result<Loaded, Error> {
        let to = wanted.at.unwrap_or(Seq(i64::MAX.unsigned_abs()));
        let mut first = self.first_trip(wanted, to).await?;
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
        let mut texts = self.newest_turn(wanted.stream, &first)?;
        let preamble = first.preamble.as_ref();
        let ignore = preamble.into_iter().flat_map(|preamble| &preamble.ignore);
        texts.extend(ignore.filter_map(|file| file.text.handle()));
        let weighed = preamble.into_iter().flat_map(Preamble::bodies).filter_map(Body::handle).collect();
        let asked = Further { missing, singles, texts, weighed };
        let (texts, counts) = self.second_trip(wanted.stream, asked, &mut first.events).await?;
        if let Some((from, _)) = missing {
            first.floor = from;
        }
        let mut loaded = Loaded { texts, ..self.assemble(wanted, first)? };
        loaded.counts.extend(counts);
        if loaded.floor > frontier.max(Seq(2)) {
            loaded.floor = past_unpaired(&loaded.view, loaded.floor);
        }
        Ok(loaded)
    }

    /// Folds what was loaded, in the order a view is resumed in.
    fn assemble(&self, wanted: &Wanted<'_>, first: First) -> Result<Loaded, Error> {
        let mut view = View::new(wanted.lane.clone());
        let mut counts = HashMap::new();
        let mut notes = Vec::new();
        let mut refused = false;
        if let Some((event, _)) = &first.trim {
            view.apply(event);
        }
        for row in first.events.values() {
            counts.extend(row.counts.iter().copied());
            let event = self.event(wanted.stream, row)?;
            notes.extend(Note::of(&event, wanted.lane));
            refused = is_refused(refused, &event, wanted.lane);
            let newest = first.trim.as_ref().is_some_and(|(trim, _)| trim.seq == event.seq);
            if is_step(&event, wanted.ignores_steps) && !newest || is_untrue(&event, &first.events) {
                view.pass(&event);
            } else {
                view.apply(&event);
            }
        }
        Ok(Loaded {
            info: first.info,
            view,
            floor: first.floor,
            counts,
            texts: Texts::default(),
            usage: first.usage,
            notes,
            reports: first.reports,
            before: first.before,
            newest_at: first.events.values().next_back().map_or(Millis::ZERO, |row| row.at),
            ignored_steps: wanted.ignores_steps,
            step: first.trim.and_then(|(event, _)| match event.fact {
                Some(Fact::ViewTrimmed(step)) => Some((event.at, step)),
                _ => None,
            }),
            refused,
            reduced: Reduced::default(),
        })
    }

    pub(crate) fn event(&self, stream: &StreamId, row: &StoredEvent) -> Result<Event, CodecError> {
        codec::event(&self.config.tenant, stream, row)
    }

    async fn first_trip(&self, wanted: &Wanted<'_>, to: Seq) -> Result<First, Error> {
        let (tenant, stream) = (self.tenant.no, wanted.stream.clone());
        let newest = Query::Events {
            tenant,
            stream: stream.clone(),
            from: Seq::START,
            to,
            order: Order::Descending,
            limit: VIEW_EVENTS,
            text: wanted.text,
            counts: true,
        };
        let marked = |what, limit| Query::Marked { tenant, stream: stream.clone(), what, to, limit };
        let kind = |kind, limit| marked(Marked::Kind(kind), limit);
        let every = u64::from(u32::MAX);
        let mut trip = Trip::default();
        let info = trip.ask(Query::Stream { tenant, stream: stream.clone() }, Answer::stream);
        let recent = trip.ask(newest, Answer::events);
        let trims = trip.ask(kind("view.trimmed", LANE_PAGE), Answer::events);
        let builds = trip.ask(kind("context.built", LANE_PAGE), Answer::events);
        let systems = trip.ask(marked(Marked::System, every), Answer::events);
        let pins = trip.ask(kind("content.pinned", every), Answer::events);
        let erasures = trip.ask(kind("content.erased", every), Answer::events);
        let usages = trip.ask(kind("usage.measured", REPORTS), Answer::events);
        let preambles = trip.ask(kind("preamble.changed", LANE_PAGE), Answer::events);
        let mut answers = self.travel(trip).await?;
        let info = answers.take(info)?.ok_or_else(|| Error::NoSession(stream.to_string()))?;
        let recent = answers.take(recent)?;
        let mut first = First::new(*info, &recent);
        self.lane_events(wanted, &mut first, (answers.take(trims)?, answers.take(builds)?)).await?;
        first.keep(answers.take(systems)?);
        let pins = answers.take(pins)?;
        for row in &pins {
            if let Some(Fact::ContentPinned(pin)) = self.event(wanted.stream, row)?.fact {
                first.pins.push(pin.target);
            }
        }
        first.keep(pins);
        first.keep(answers.take(erasures)?);
        for row in answers.take(usages)? {
            if let Some(Fact::UsageMeasured(usage)) = self.event(wanted.stream, &row)?.fact {
                first.reports.insert(0, (row.seq, usage));
            }
        }
        first.usage = first.reports.last().map(|(_, usage)| usage.clone());
        let preamble = self.newest_of_lane(wanted, answers.take(preambles)?, "preamble.changed").await?;
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
        &self,
        wanted: &Wanted<'_>,
        first: &mut First,
        (trims, builds): (Vec<StoredEvent>, Vec<StoredEvent>),
    ) -> Result<(), Error> {
        let trimmed = self.newest_of_lane(wanted, trims, "view.trimmed").await?;
        if let Some(event) = trimmed.1.filter(|_| !wanted.ignores_steps)
            && let Some(Fact::ViewTrimmed(moved)) = &event.fact
        {
            let trim = moved.trim.clone();
            first.trim = Some((event, trim));
        }
        let built = self.newest_of_lane(wanted, builds, "context.built").await?;
        if let Some(Event { fact: Some(Fact::ContextBuilt(last)), at, .. }) = built.1 {
            first.before = Some((at, last));
        }
        // An older step of the lane is no part of a view that ignores steps.
        first.keep(trimmed.0.into_iter().chain(built.0).filter(|_| !wanted.ignores_steps));
        Ok(())
    }

    /// The newest event of a kind that belongs to the lane; looks further back only when other lanes crowd it out.
    async fn newest_of_lane(
        &self,
        wanted: &Wanted<'_>,
        mut rows: Vec<StoredEvent>,
        kind: &'static str,
    ) -> Result<(Option<StoredEvent>, Option<Event>), Error> {
        loop {
            for row in &rows {
                let event = self.event(wanted.stream, row)?;
                if event.fact.as_ref().is_some_and(|fact| fact.contradiction(event.seq).is_some()) {
                    continue;
                }
                if event.fact.is_none() && event.id.as_str().starts_with(&preamble_id(wanted.lane)) {
                    return Ok((Some(row.clone()), Some(event)));
                }
                let lane = match &event.fact {
                    Some(Fact::ViewTrimmed(trimmed)) => &trimmed.lane,
                    Some(Fact::ContextBuilt(built)) => &built.lane,
                    Some(Fact::PreambleChanged(changed)) => &changed.lane,
                    _ => continue,
                };
                if lane == wanted.lane {
                    return Ok((Some(row.clone()), Some(event)));
                }
            }
            let oldest = rows.iter().map(|row| row.seq).min();
            match oldest {
                Some(oldest) if rows.len() as u64 >= LANE_PAGE => {
                    let query = Query::Marked {
                        tenant: self.tenant.no,
                        stream: wanted.stream.clone(),
                        what: Marked::Kind(kind),
                        to: oldest.prev(),
                        limit: LANE_PAGE,
                    };
                    let more = self.ask(query, Answer::events).await?;
                    rows = more;
                }
                _ => return Ok((None, None)),
            }
        }
    }

    /// The texts of the user's newest turn that are in blobs: what it names may come back.
    fn newest_turn(&self, stream: &StreamId, first: &First) -> Result<Vec<Handle>, Error> {
        for row in first.events.values().rev().filter(|row| row.kind == "message.appended") {
            let Some(Fact::MessageAppended(said)) = self.event(stream, row)?.fact else { continue };
            if said.message.is_user_turn() {
                return Ok(spoken(&said.message).filter_map(Body::handle).collect());
            }
        }
        Ok(Vec::new())
    }

    async fn second_trip(
        &self,
        stream: &StreamId,
        asked: Further,
        events: &mut BTreeMap<Seq, StoredEvent>,
    ) -> Result<(Texts, HashMap<Handle, BodyCount>), Error> {
        let mut queries = Vec::new();
        if let Some((from, to)) = asked.missing {
            queries.push(Query::Events {
                tenant: self.tenant.no,
                stream: stream.clone(),
                from,
                to,
                order: Order::Ascending,
                limit: u64::from(u32::MAX),
                text: Bytes(i64::MAX.unsigned_abs()),
                counts: true,
            });
        }
        if !asked.singles.is_empty() {
            queries.push(Query::At {
                tenant: self.tenant.no,
                stream: stream.clone(),
                seqs: asked.singles.into_iter().collect(),
            });
        }
        if !asked.texts.is_empty() {
            queries.push(Query::Blobs { tenant: self.tenant.no, handles: asked.texts });
        }
        if !asked.weighed.is_empty() {
            queries.push(Query::Counts { tenant: self.tenant.no, handles: asked.weighed.clone() });
        }
        let (mut texts, mut counts) = (Texts::default(), HashMap::new());
        if queries.is_empty() {
            return Ok((texts, counts));
        }
        for answer in self.storage.query(queries).await? {
            match answer {
                Answer::Events(rows) => events.extend(rows.into_iter().map(|row| (row.seq, row))),
                Answer::Blobs(blobs) => {
                    for blob in blobs.into_iter().flatten() {
                        texts.0.insert(blob.handle, codec::unpack_body(&self.tenant.key, &blob)?);
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

    /// Loads bodies.
    pub(crate) async fn texts(&self, handles: impl IntoIterator<Item = Handle>) -> Result<Texts, Error> {
        let mut texts = Texts::default();
        self.more_texts(&mut texts, handles).await?;
        Ok(texts)
    }

    /// Loads further bodies.
    pub(crate) async fn more_texts(
        &self,
        texts: &mut Texts,
        handles: impl IntoIterator<Item = Handle>,
    ) -> Result<(), Error> {
        let handles: Vec<Handle> =
            handles.into_iter().filter(|handle| !texts.0.contains_key(handle)).collect();
        if handles.is_empty() {
            return Ok(());
        }
        let blobs = self.ask(Query::Blobs { tenant: self.tenant.no, handles }, Answer::blobs).await?;
        for blob in blobs.into_iter().flatten() {
            texts.0.insert(blob.handle, codec::unpack_body(&self.tenant.key, &blob)?);
        }
        Ok(())
    }

    /// A gauge that knows every body of the view. Bodies that nobody has counted yet are counted now.
    pub(crate) async fn gauge(
        &self,
        view: &View,
        counts: &HashMap<Handle, BodyCount>,
        scales: Scales,
    ) -> Result<(Scales, Vec<(Handle, BodyCount)>), Error> {
        for (handle, count) in counts {
            scales.learn(*handle, *count);
        }
        let unknown: BTreeSet<Handle> = view_handles(view).filter(|handle| !scales.knows(*handle)).collect();
        let texts = self.texts(unknown.iter().copied()).await?;
        let mut fresh = Vec::with_capacity(texts.0.len());
        for (handle, text) in &texts.0 {
            let count = scales.measure(text);
            scales.learn(*handle, count);
            fresh.push((*handle, count));
        }
        Ok((scales, fresh))
    }
}

/// What a message says in words.
pub(crate) fn spoken(said: &Message) -> impl Iterator<Item = &Body> {
    said.parts.iter().filter_map(|part| match part {
        Part::Text { text, .. } => Some(text),
        _ => None,
    })
}

pub(crate) fn view_handles(view: &View) -> impl Iterator<Item = Handle> + '_ {
    let leaves = view.entries().flat_map(|entry| &entry.message.parts).flat_map(leaves);
    let said = leaves.filter(|(part, _)| !is_data(part)).filter_map(|(_, body)| body.handle());
    let shown = view.preamble().into_iter().flat_map(|preamble| preamble.shown());
    let made = view.nodes().map(|node| &node.text);
    said.chain(shown.chain(made).chain(view.shorter()).filter_map(Body::handle))
}

/// The first position from a floor on that is no result of a call below it: such results are left out with their calls.
fn past_unpaired(view: &View, floor: Seq) -> Seq {
    let arrangement = arrange(view);
    let unpaired: BTreeSet<At> =
        arrangement.loose.iter().chain(&arrangement.early).map(|(at, _)| *at).collect();
    let is_unpaired = |entry: &&Entry| {
        let parts = entry.message.parts.len();
        parts > 0 && (0..parts).all(|part| unpaired.contains(&(entry.seq, part)))
    };
    let shown = view.entries().filter(|entry| entry.seq >= floor);
    shown.take_while(is_unpaired).last().map_or(floor, |entry| entry.seq.next())
}

/// Whether an event is a lane's step, which the newest one makes void; of a view that ignores steps, also its requests.
fn is_step(event: &Event, ignores_steps: bool) -> bool {
    matches!(event.fact, Some(Fact::ViewTrimmed(_)))
        || ignores_steps && matches!(event.fact, Some(Fact::ContextBuilt(_)))
}

/// Whether an event claims an erasure that never was: a message of its range is there.
fn is_untrue(event: &Event, rows: &BTreeMap<Seq, StoredEvent>) -> bool {
    let Some(fact @ Fact::ContentErased(erased)) = &event.fact else { return false };
    let is_there = |row: &StoredEvent| row.kind == "message.appended" && row.payload.is_some();
    fact.contradiction(event.seq).is_none()
        && rows.range(erased.from_seq..=erased.to_seq).any(|(_, row)| is_there(row))
}

/// Whether, as of an event, the provider refused the lane's last request as too long.
fn is_refused(before: bool, event: &Event, lane: &LaneId) -> bool {
    match &event.fact {
        Some(Fact::ContextBuilt(built)) if built.lane == *lane => false,
        Some(Fact::ViewTrimmed(step)) if step.lane == *lane => false,
        // Our own refusal says what did not fit.
        Some(Fact::TurnCompleted(turn)) if turn.overflow.is_none() => {
            let words = [turn.error_code.as_deref(), Some(&*turn.stop_reason)];
            words.into_iter().flatten().any(|word| TOO_LONG.contains(&word))
        }
        _ => before,
    }
}

/// What providers and agents call a request that is too long: OpenAI's and Anthropic's error codes, Anthropic's stop reason.
const TOO_LONG: [&str; 5] = [
    "context_overflow",
    "context_length_exceeded",
    "request_too_large",
    "model_context_window_exceeded",
    "prompt_too_long",
];

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
    usage: Option<UsageMeasured>,
    reports: Vec<(Seq, UsageMeasured)>,
    before: Option<(Millis, Box<ContextBuilt>)>,
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
            usage: None,
            reports: Vec::new(),
            before: None,
            preamble: None,
        }
    }

    fn keep(&mut self, rows: impl IntoIterator<Item = StoredEvent>) {
        self.events.extend(rows.into_iter().map(|row| (row.seq, row)));
    }
}
