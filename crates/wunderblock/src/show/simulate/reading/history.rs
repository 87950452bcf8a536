//! A session's events as they arrived, without the decisions of its lane.

use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::base::parallel;
use crate::ledger::engine::Engine;
use crate::ledger::reading::stored::read_texts;
use crate::ledger::session::Session;
use crate::ledger::texts::Texts;
use crate::limits::{CATCH_UP_BYTES, VIEW_EVENTS};
use crate::request::desk::House;
use crate::request::input::target::Target;
use crate::rules::token_costs::{Counts, TokenCosts};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::{Handle, LaneId};
use wunderblock_core::message::{Body, Part};
use wunderblock_core::ports::Bodies;
use wunderblock_core::section::Section;
use wunderblock_core::units::Seq;
use wunderblock_store::{Answer, BodyCount, Query, StreamInfo};
use wunderblock_wire::transcript::Format;

/// Number of bodies that one task counts together.
const COUNT: usize = 64;

/// A session in memory.
pub(in crate::show::simulate) struct History {
    /// Data for building the requests.
    pub(in crate::show::simulate) house: House,
    /// Lane in which the requests are built.
    pub(in crate::show::simulate) lane: LaneId,
    pub(in crate::show::simulate) events: Vec<Event>,
    pub(in crate::show::simulate) texts: Arc<Texts>,
    counts: Vec<(Handle, BodyCount)>,
}

/// Reads sessions, one after the other. Takes messages and external content, but not the lane's decisions about them.
pub(in crate::show::simulate) async fn read_history(
    engine: &Engine,
    sessions: &[Session],
    house: House,
    lane: LaneId,
    target: &Target,
) -> Result<History, Error> {
    let mut events: Vec<Event> = Vec::new();
    for session in sessions {
        add_given(session, &lane, &mut events).await?;
    }
    let handles: BTreeSet<Handle> = events.iter().flat_map(bodies).collect();
    let texts = read_texts(engine, handles.iter().copied()).await?;
    let counts = count_bodies(engine, handles.into_iter().collect(), &texts, target).await?;
    Ok(History { house, lane, events, texts: Arc::new(texts), counts })
}

/// Returns the counts of bodies: those stored in the ledger, and new counts for the other bodies.
async fn count_bodies(
    engine: &Engine,
    handles: Vec<Handle>,
    texts: &Texts,
    target: &Target,
) -> Result<Vec<(Handle, BodyCount)>, Error> {
    let query = Query::Counts { tenant: engine.tenant.no, handles: handles.clone() };
    let found = engine.ask(query, Answer::counts).await?;
    let known = handles.iter().zip(found).filter_map(|(handle, count)| Some((*handle, count?)));
    let mut counts: Vec<(Handle, BodyCount)> = known.collect();
    let costs = || TokenCosts::new(target.row.counter(), target.dialect, Arc::default());
    let ours = costs();
    counts.iter().for_each(|(handle, count)| ours.learn(*handle, *count));
    counts.retain(|(handle, _)| ours.knows(*handle));
    let unknown: Vec<Handle> = handles.into_iter().filter(|handle| !ours.knows(*handle)).collect();
    let some: Vec<Vec<Handle>> = unknown.chunks(COUNT).map(<[Handle]>::to_vec).collect();
    let fresh = parallel::map(some, |handles| {
        let costs = costs();
        let count = |handle: &Handle| Some((*handle, costs.measure(texts.text(*handle)?)));
        Ok(handles.iter().filter_map(count).collect::<Vec<_>>())
    })?;
    counts.extend(fresh.into_iter().flatten());
    Ok(counts)
}

/// Returns the histories in a session's file, ready for simulation. Each conversation is a history. All conversations
/// of a file form one history if the program that wrote the file splits one history into several conversations
/// (aider), or if `joined` is set.
///
/// # Errors
/// Returns an error if the ledger cannot be read.
pub fn histories(session: &Session, joined: bool) -> BoxFuture<'_, Vec<Vec<Session>>> {
    Box::pin(async move {
        let all = session.siblings().await?;
        let first = session.events(Seq::START.next(), Seq::START.next(), 1, CATCH_UP_BYTES).await?;
        let opened = first.first().and_then(|event| match &event.fact {
            Some(Fact::SessionOpened(opened)) => opened.format.as_deref(),
            _ => None,
        });
        let as_one = joined || opened == Some(Format::Aider.name());
        let sessions: Vec<Session> =
            all.into_iter().map(|one| session.engine.session_by_id(one.id)).collect();
        Ok(if as_one { vec![sessions] } else { sessions.into_iter().map(|one| vec![one]).collect() })
    })
}

impl Session {
    /// Returns the conversations in the session's file, in the order in which they began, without branches and
    /// sub-agents. Returns only this session if the file has no other.
    ///
    /// # Errors
    /// Returns an error if the ledger cannot be read.
    pub fn siblings<'a>(&'a self) -> BoxFuture<'a, Vec<StreamInfo>> {
        Box::pin(async move {
            let info = self.info().await?;
            let Some(source) = info.source.filter(|_| info.fork.is_none() && info.parent.is_none()) else {
                return Ok(vec![info]);
            };
            let mut all = self.engine.streams("", u64::from(u32::MAX)).await?;
            all.retain(|other| other.source == Some(source) && other.parent.is_none());
            if all.len() > 1 && all.iter().all(|other| other.fork.is_none()) {
                all.sort_by_key(|other| (other.opened_at, other.no));
                return Ok(all);
            }
            Ok(vec![info])
        })
    }
}

/// Appends a session to the events read before it, with the positions the events would have in a single session.
async fn add_given(session: &Session, lane: &LaneId, events: &mut Vec<Event>) -> Result<(), Error> {
    let mut places: HashMap<Seq, Seq> = HashMap::new();
    let mut from = Seq::START;
    loop {
        let some = session.events(from, Seq(i64::MAX.unsigned_abs()), VIEW_EVENTS, CATCH_UP_BYTES).await?;
        let Some(last) = some.last() else { return Ok(()) };
        from = last.seq.next();
        for mut event in some.into_iter().filter(|event| is_given(event, lane)) {
            let is_opening = matches!(event.fact, Some(Fact::SessionOpened(_) | Fact::SessionForked(_)));
            // Only the first session of a history contributes an opening event.
            if is_opening && !events.is_empty() {
                continue;
            }
            let seq = events.last().map_or(Seq::START.next(), |event| event.seq.next());
            places.insert(event.seq, seq);
            event.seq = seq;
            if let Some(target) = event.fact.as_mut().and_then(Fact::target_mut) {
                // An event about another event is left out if that other event was left out.
                let Some(place) = places.get(target) else { continue };
                *target = *place;
            }
            events.push(event);
        }
    }
}

impl History {
    /// Returns counts that contain every body of the session.
    pub(in crate::show::simulate) fn counts(&self) -> Arc<Counts> {
        let counts = Counts::default();
        self.counts.iter().for_each(|(handle, count)| counts.learn(*handle, *count));
        Arc::new(counts)
    }
}

/// Returns whether an event is independent of the lane's own requests and compactions.
fn is_given(event: &Event, lane: &LaneId) -> bool {
    match &event.fact {
        Some(Fact::ContextInjected(injected)) => {
            injected.lane != *lane
                || injected.work.is_none()
                    && injected.items.iter().all(|item| item.section != Section::Recall)
        }
        Some(Fact::SessionCompacted(made)) => made.lane.is_none(),
        // The erased content is already absent from the ledger, so the erasure has nothing left to remove.
        Some(Fact::ContentErased(_)) => false,
        Some(
            Fact::ViewTrimmed(_)
            | Fact::ContextBuilt(_)
            | Fact::ContentReduced(_)
            | Fact::CompactionRejected(_)
            | Fact::CompactionUndone(_)
            | Fact::BudgetWarned(_),
        ) => false,
        _ => true,
    }
}

/// Returns the bodies of an event that a request can show.
fn bodies(event: &Event) -> Vec<Handle> {
    match &event.fact {
        Some(Fact::MessageAppended(said)) => {
            let leaves = said.message.parts.iter().flat_map(Part::leaves);
            leaves.filter(|(part, _)| !part.is_data()).filter_map(|(_, body)| body.handle()).collect()
        }
        Some(Fact::PreambleChanged(changed)) => changed.preamble.bodies().filter_map(Body::handle).collect(),
        Some(Fact::ContextInjected(injected)) => {
            injected.items.iter().filter_map(|item| item.body.handle()).collect()
        }
        _ => Vec::new(),
    }
}
