//! The engine as the driver of builds: it answers their needs from the ledger, each in one round trip if possible.

mod holder;
pub(crate) mod lanes;
pub(crate) mod lease;
pub(crate) mod load;
mod named;
pub(crate) mod replay;
mod unasked;

use crate::base::error::Error;
use crate::base::parallel::on_thread;
use crate::ledger::engine::Engine;
use crate::ledger::reading::query_batch::{QueryBatch, marked};
use crate::ledger::reading::reductions::known_reductions;
use crate::ledger::reading::stored::{decode_event, read_more_texts, read_texts, rows_at};
use crate::ledger::recording::record::append_events;
use crate::ledger::session::Session;
use crate::ledger::texts::Texts;
use crate::limits::RECALL_HITS;
use crate::recall::search::{SearchOptions, SearchOrder, search};
use crate::request::build::{Build, Polled};
use crate::request::desk::{ControlEvents, House};
use crate::request::input::snapshot::{item_handles, view_handles};
use crate::request::need::{AppendWanted, EventsWanted, MarkedWanted, Need, ShownTexts, ShownWanted};
use crate::request::steps::candidates::answer;
use lease::HeldLane;
use load::load_lane;
use named::NamedKeys;
use std::sync::Arc;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::plan::Injection;
use wunderblock_core::units::Seq;
use wunderblock_core::view::View;
use wunderblock_store::{Answer, Commit, Query, Write, codec};

impl Session {
    /// Returns the data that is the same for all work on this session.
    pub(crate) fn house(&self) -> House {
        House {
            config: self.engine.config.clone(),
            stream: self.id.clone(),
            key: self.engine.tenant.key,
            counts: self.engine.known.counts(),
            workers: Arc::clone(&self.engine.workers),
            aside: self.aside,
        }
    }
}

impl ControlEvents for Session {
    async fn marked(&self, MarkedWanted { what, to, limit }: MarkedWanted) -> Result<Vec<Event>, Error> {
        let query = marked(&self.engine, &self.id, what, to, limit);
        let rows = self.engine.ask(query, Answer::events).await?;
        rows.iter().map(|row| Ok(decode_event(&self.engine, &self.id, row)?)).collect()
    }
}

/// Drives a build to its end. The stages of the build run on a worker thread, so that the polling thread only waits.
pub(crate) async fn run_build<T: Send + 'static>(session: &Session, build: Build<T>) -> Result<T, Error> {
    let mut held = None;
    let done = drive(session, build, &mut held).await;
    // A build that ended in an error may still hold its lane.
    if let Some(held) = held {
        held.release(session).await?;
    }
    done
}

async fn drive<T: Send + 'static>(
    session: &Session,
    mut build: Build<T>,
    held: &mut Option<HeldLane>,
) -> Result<T, Error> {
    loop {
        let step = move || {
            let next = build.next();
            (build, next)
        };
        let next;
        (build, next) = session.engine.workers.run(step).await?;
        match next? {
            Polled::Done(done) => return Ok(done),
            Polled::Need(need) => answer_need(session, need, held).await?,
        }
        if let Some(held) = held {
            held.renew(session).await;
        }
    }
}

async fn answer_need(session: &Session, need: Need, held: &mut Option<HeldLane>) -> Result<(), Error> {
    let engine = &session.engine;
    match need {
        Need::Lane(wanted, reply) => reply.give(load_lane(engine, &session.id, &wanted).await?),
        Need::Texts(handles, reply) => reply.give(read_texts(engine, handles).await?),
        Need::Known(handles, reply) => reply.give(known_reductions(engine, handles).await?),
        Need::Search(query, reply) => reply.give(recall_answers(session, &query).await?),
        Need::Recall(wanted, reply) => reply.give(unasked::find(session, &wanted).await),
        Need::Outside(wanted, reply) => reply.give(on_thread(move || wanted.read()).await?),
        Need::Shown(wanted, reply) => reply.give(read_shown(session, wanted).await?),
        Need::Marked(wanted, reply) => reply.give(session.marked(wanted).await?),
        Need::Events(EventsWanted { from, to, limit, text }, reply) => {
            reply.give(session.events(from, to, limit, text).await?);
        }
        Need::At(seqs, reply) => reply.give(read_at(session, seqs).await?),
        Need::Standing(reply) => {
            let info = session.info().await?;
            reply.give((info.head, info.text));
        }
        Need::Append(wanted, reply) => reply.give(append(session, *wanted).await),
        Need::Claim(lane, reply) => reply.give(match HeldLane::claim(session, lane).await? {
            Ok(lane) => {
                *held = Some(lane);
                None
            }
            Err(other) => Some(other),
        }),
        Need::Release(reply) => {
            if let Some(held) = held.take() {
                held.release(session).await?;
            }
            reply.give(());
        }
        Need::Wait(work, reply) => {
            match held {
                Some(held) => held.wait(session, work).await,
                None => work.await,
            }
            reply.give(());
        }
    }
    Ok(())
}

/// Records events of the engine.
async fn append(session: &Session, wanted: AppendWanted) -> Result<(), Error> {
    let AppendWanted { expect_head, events, made, counts } = wanted;
    if !counts.is_empty() {
        let counts = Write::Counts { tenant: session.engine.tenant.no, counts };
        // Counts are derived data, so the events are recorded even if the counts cannot be stored.
        let _ = session.engine.storage.commit(Commit::raw(vec![counts])).await;
    }
    append_events(session, expect_head, events, made).await.map(|_| ())
}

/// Reads the events at positions.
async fn read_at(session: &Session, seqs: Vec<Seq>) -> Result<Vec<Event>, Error> {
    let rows = rows_at(&session.engine, &session.id, seqs).await?;
    rows.iter().map(|row| Ok(decode_event(&session.engine, &session.id, row)?)).collect()
}

/// Returns older messages that match a query, best first.
async fn recall_answers(session: &Session, query: &str) -> Result<Vec<Injection>, Error> {
    let options = SearchOptions {
        session: Some(session.id.clone()),
        order: SearchOrder::Ranked,
        limit: RECALL_HITS,
        free_text: true,
        messages_only: true,
        ..SearchOptions::default()
    };
    let found = search(&session.engine, query, &options).await?;
    let seqs = found.hits.iter().filter(|hit| hit.has_words()).map(|hit| hit.seq).collect();
    let mut hits = Vec::new();
    for event in read_at(session, seqs).await? {
        if let Some(Fact::MessageAppended(said)) = &event.fact {
            hits.extend(answer(query, event.seq, &said.message));
        }
    }
    Ok(hits)
}

/// Loads what a rendering needs, in one round trip.
async fn read_shown(session: &Session, wanted: ShownWanted) -> Result<ShownTexts, Error> {
    let ShownWanted { handles, edges, named } = wanted;
    let (tenant, stream) = (session.engine.tenant.no, session.id.clone());
    let mut batch = QueryBatch::default();
    let blobs = batch.ask(Query::Blobs { tenant, handles }, Answer::blobs);
    let tallies = batch.ask(Query::Tallies { tenant, stream, seqs: edges.clone() }, Answer::tallies);
    let named = NamedKeys::ask(session, &named, &mut batch);
    let mut answers = session.engine.ask_all(batch).await?;
    let mut texts = Texts::default();
    for blob in answers.take(blobs)?.into_iter().flatten() {
        texts.insert(blob.handle, codec::unpack_body(&session.engine.tenant.key, &blob)?);
    }
    let tallies = edges.into_iter().zip(answers.take(tallies)?).collect();
    let named = named.map(|named| named.read(session, &mut answers, &mut texts)).transpose()?;
    Ok(ShownTexts { texts, tallies, named: named.unwrap_or_default() })
}

/// Loads all texts of a view that are not loaded yet.
pub(crate) async fn read_view_texts(engine: &Engine, view: &View, texts: &mut Texts) -> Result<(), Error> {
    let handles = view_handles(view).chain(item_handles(view.nodes()));
    read_more_texts(engine, texts, handles.collect::<Vec<_>>()).await
}
