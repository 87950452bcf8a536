//! What work on a lane is done with: the data that is the same for all builds of its session, and the questions to the
//! driver. Work on a desk does no input or output itself, so the same code compacts a lane of a ledger, a lane in memory
//! and a lane of a simulation.

use super::need::{AppendWanted, Asking, EventsWanted, MarkedWanted, Need};
use crate::base::error::Error;
use crate::base::parallel::Workers;
use crate::ledger::engine::Config;
use crate::ledger::recording::record::MadeFrom;
use crate::ledger::texts::Texts;
use crate::request::input::job::BuildJob;
use crate::request::input::lane::LaneChoice;
use crate::request::input::options::ContextOptions;
use crate::request::input::snapshot::{LaneWanted, Snapshot};
use crate::rules::token_costs::Counts;
use std::sync::Arc;
use wunderblock_core::event::{Event, EventSource, Fact, NewEvent};
use wunderblock_core::id::{EventId, Handle, LaneId, StreamId};
use wunderblock_core::policy::Reduce;
use wunderblock_core::units::{Bytes, Millis, Seq};
use wunderblock_redact::Redactor;

/// Data that is the same for all work on one session.
#[derive(Clone)]
pub(crate) struct House {
    pub(crate) config: Config,
    pub(crate) stream: StreamId,
    /// Key from which handles of new bodies are derived.
    pub(crate) key: [u8; 32],
    pub(crate) counts: Arc<Counts>,
    pub(crate) workers: Arc<Workers>,
    /// Whether the work only previews what would be done: it calls no model and runs no hook.
    pub(crate) aside: bool,
}

impl House {
    /// Returns the input of a build.
    pub(crate) fn job(&self, options: &ContextOptions) -> BuildJob {
        let config = &self.config;
        let rules = options.compactor.as_ref().map_or_else(Reduce::default, |one| one.policy.reduce.clone());
        let options = Arc::new(options.clone());
        BuildJob {
            tenant: config.tenant.clone(),
            stream: self.stream.clone(),
            lane: LaneChoice::of(&options, &config.catalog),
            options,
            rules,
            now: self.now(),
            key: self.key,
            catalog: config.catalog.clone(),
            reducer: config.reducer,
            counts: Arc::clone(&self.counts),
        }
    }

    pub(crate) fn now(&self) -> Millis {
        (self.config.clock)()
    }

    pub(crate) fn redactor(&self) -> &Arc<Redactor> {
        &self.config.redactor
    }
}

/// Reader of a session's control events.
pub(crate) trait ControlEvents: Sync {
    /// Returns events up to a position, latest first.
    ///
    /// # Errors
    /// Returns an error if the session cannot be read.
    fn marked(&self, wanted: MarkedWanted) -> impl Future<Output = Result<Vec<Event>, Error>> + Send;
}

/// A desk for one piece of work.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) house: House,
    pub(crate) ask: Asking,
}

impl ControlEvents for Desk {
    async fn marked(&self, wanted: MarkedWanted) -> Result<Vec<Event>, Error> {
        self.ask.ask(|reply| Need::Marked(wanted, reply)).await
    }
}

impl Desk {
    pub(crate) fn now(&self) -> Millis {
        self.house.now()
    }

    pub(crate) fn stream(&self) -> &StreamId {
        &self.house.stream
    }

    /// Returns the newest position, and the total length of the session's texts.
    pub(crate) async fn standing(&self) -> Result<(Seq, Bytes), Error> {
        self.ask.ask(Need::Standing).await
    }

    /// Returns the events in a range of positions, oldest first: at most `limit` events, with about `text` bytes of text.
    pub(crate) async fn events(
        &self,
        from: Seq,
        to: Seq,
        limit: u64,
        text: Bytes,
    ) -> Result<Vec<Event>, Error> {
        self.ask.ask(|reply| Need::Events(EventsWanted { from, to, limit, text }, reply)).await
    }

    /// Returns the events at positions.
    pub(crate) async fn at(&self, seqs: Vec<Seq>) -> Result<Vec<Event>, Error> {
        self.ask.ask(|reply| Need::At(seqs, reply)).await
    }

    /// Loads the texts that are missing from `texts`.
    pub(crate) async fn texts(
        &self,
        texts: &mut Texts,
        handles: impl IntoIterator<Item = Handle>,
    ) -> Result<bool, Error> {
        self.ask.texts(texts, handles).await
    }

    /// Returns a lane.
    pub(crate) async fn lane(&self, wanted: LaneWanted) -> Result<Snapshot, Error> {
        self.ask.ask(|reply| Need::Lane(wanted, reply)).await
    }

    /// Appends events of the engine, if the session has not grown beyond `expect_head`.
    ///
    /// # Errors
    /// Fails with [`HeadMoved`](wunderblock_store::StoreError::HeadMoved) if it has, and with
    /// [`EpochMoved`](wunderblock_store::StoreError::EpochMoved) if content from which the events were made was erased.
    pub(crate) async fn append(
        &self,
        expect_head: Option<Seq>,
        events: Vec<NewEvent>,
        made: MadeFrom,
    ) -> Result<(), Error> {
        let counts = Vec::new();
        self.append_counted(AppendWanted { expect_head, events, made, counts }).await
    }

    /// Appends events of the engine with token counts of bodies.
    ///
    /// # Errors
    /// See [`Desk::append`].
    pub(crate) async fn append_counted(&self, wanted: AppendWanted) -> Result<(), Error> {
        self.ask.ask(|reply| Need::Append(Box::new(wanted), reply)).await?
    }

    /// Creates an event that the engine writes at a position. The event's id is made up of its kind and position, so the
    /// event cannot be recorded twice.
    pub(crate) fn event(&self, at: Seq, fact: Fact) -> Result<NewEvent, Error> {
        let id = EventId::new(format!("{}@{at}", fact.kind()))?;
        Ok(NewEvent { id, at: self.now(), source: EventSource::Engine, fact })
    }

    /// Claims a lane for a compaction. Returns the name of the worker that holds it already.
    pub(crate) async fn claim(&self, lane: &LaneId) -> Result<Option<String>, Error> {
        self.ask.ask(|reply| Need::Claim(lane.clone(), reply)).await
    }

    /// Gives the claimed lane back.
    pub(crate) async fn release(&self) -> Result<(), Error> {
        self.ask.ask(Need::Release).await
    }

    /// Waits for work on other threads.
    pub(crate) async fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Error> {
        let (send, receive) = futures_channel::oneshot::channel();
        let work = Box::pin(async move {
            let _ = send.send(work.await);
        });
        self.ask.ask(|reply| Need::Wait(work, reply)).await?;
        receive.await.map_err(|_| Error::Internal("work ended without a result".to_owned()))
    }
}
