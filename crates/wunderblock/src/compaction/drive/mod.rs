//! The engine as the driver of builds: it answers their needs from the ledger, each in one round trip if possible.

pub(crate) mod lanes;
pub(crate) mod load;
pub(crate) mod replay;

use crate::base::error::Error;
use crate::base::parallel::on_thread;
use crate::ledger::engine::Engine;
use crate::ledger::query_batch::QueryBatch;
use crate::ledger::reductions::known_reductions;
use crate::ledger::session::Session;
use crate::ledger::stored::{decode_event, read_more_texts, read_texts};
use crate::ledger::texts::Texts;
use crate::limits::RECALL_HITS;
use crate::recall::search::{SearchOptions, SearchOrder};
use crate::request::build::{Build, Polled};
use crate::request::job::BuildJob;
use crate::request::lane::LaneChoice;
use crate::request::need::{Need, ShownTexts, ShownWanted};
use crate::request::options::ContextOptions;
use crate::request::recall::answer;
use crate::request::snapshot::view_handles;
use load::load_lane;
use std::sync::Arc;
use wunderblock_core::event::Fact;
use wunderblock_core::plan::Injection;
use wunderblock_core::policy::Reduce;
use wunderblock_core::units::Seq;
use wunderblock_core::view::View;
use wunderblock_store::{Answer, EventFilter, Query, codec};

/// Returns the input of a build for this session.
pub(crate) fn context_job(session: &Session, options: &ContextOptions) -> BuildJob {
    let config = &session.engine.config;
    let rules = options.compactor.as_ref().map_or_else(Reduce::default, |one| one.policy.reduce.clone());
    let options = Arc::new(options.clone());
    BuildJob {
        tenant: config.tenant.clone(),
        stream: session.id.clone(),
        lane: LaneChoice::of(&options, &config.catalog),
        options,
        rules,
        now: session.engine.now(),
        key: session.engine.tenant.key,
        catalog: config.catalog.clone(),
        reducer: config.reducer,
        counts: session.engine.known.counts(),
    }
}

/// Drives a build to its end. The stages of the build run on a worker thread, so that the polling thread only waits.
pub(crate) async fn run_build<T: Send + 'static>(session: &Session, mut build: Build<T>) -> Result<T, Error> {
    loop {
        let step = move || {
            let next = build.next();
            (build, next)
        };
        let next;
        (build, next) = session.engine.workers.run(step).await?;
        match next? {
            Polled::Done(done) => return Ok(done),
            Polled::Need(need) => answer_need(session, need).await?,
        }
    }
}

async fn answer_need(session: &Session, need: Need) -> Result<(), Error> {
    let engine = &session.engine;
    match need {
        Need::Lane(wanted, reply) => reply.give(load_lane(engine, &session.id, &wanted).await?),
        Need::Texts(handles, reply) => reply.give(read_texts(engine, handles).await?),
        Need::Known(handles, reply) => reply.give(known_reductions(engine, handles).await?),
        Need::Search(query, reply) => reply.give(recall_answers(session, &query).await?),
        Need::Outside(wanted, reply) => reply.give(on_thread(move || wanted.read()).await?),
        Need::Shown(wanted, reply) => reply.give(read_shown(session, wanted).await?),
    }
    Ok(())
}

/// Returns older messages that match a query, best first.
async fn recall_answers(session: &Session, query: &str) -> Result<Vec<Injection>, Error> {
    let (engine, stream) = (&session.engine, &session.id);
    let options = SearchOptions {
        session: Some(stream.clone()),
        order: SearchOrder::Ranked,
        limit: RECALL_HITS,
        free_text: true,
        messages_only: true,
        ..SearchOptions::default()
    };
    let found = engine.search(query, &options).await?;
    let seqs: Vec<Seq> = found.hits.iter().map(|hit| hit.seq).collect();
    let at =
        Query::At { tenant: engine.tenant.no, stream: stream.clone(), seqs, filter: EventFilter::default() };
    let mut hits = Vec::new();
    for row in engine.ask(at, Answer::events).await? {
        if let Some(Fact::MessageAppended(said)) = decode_event(engine, stream, &row)?.fact {
            hits.extend(answer(query, row.seq, &said.message));
        }
    }
    Ok(hits)
}

/// Loads what a rendering needs, in one round trip.
async fn read_shown(session: &Session, wanted: ShownWanted) -> Result<ShownTexts, Error> {
    let ShownWanted { handles, edges } = wanted;
    let (tenant, stream) = (session.engine.tenant.no, session.id.clone());
    let mut batch = QueryBatch::default();
    let blobs = batch.ask(Query::Blobs { tenant, handles }, Answer::blobs);
    let tallies = batch.ask(Query::Tallies { tenant, stream, seqs: edges.clone() }, Answer::tallies);
    let mut answers = session.engine.ask_all(batch).await?;
    let mut texts = Texts::default();
    for blob in answers.take(blobs)?.into_iter().flatten() {
        texts.insert(blob.handle, codec::unpack_body(&session.engine.tenant.key, &blob)?);
    }
    Ok(ShownTexts { texts, tallies: edges.into_iter().zip(answers.take(tallies)?).collect() })
}

/// Loads all texts of a view that are not loaded yet.
pub(crate) async fn read_view_texts(engine: &Engine, view: &View, texts: &mut Texts) -> Result<(), Error> {
    read_more_texts(engine, texts, view_handles(view).collect::<Vec<_>>()).await
}
