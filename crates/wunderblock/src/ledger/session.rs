//! One session of a ledger.

use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use crate::limits::BUILD_RETRIES;
use std::sync::Arc;
use wunderblock_core::event::Event;
use wunderblock_core::id::StreamId;
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_store::overlay::Overlay;
use wunderblock_store::{
    Answer, EventFilter, Query, ReadOrder, Storage, StoreError, StreamInfo, TenantNo, codec,
};

/// Session of a ledger. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Session {
    pub(crate) engine: Engine,
    pub(crate) id: StreamId,
    /// Whether nothing is recorded: appends stay in memory, no model is called and no program runs.
    pub(crate) aside: bool,
}

impl Session {
    pub(crate) fn new(engine: Engine, id: StreamId) -> Self {
        Self { engine, id, aside: false }
    }

    /// Returns the same session with an overlay: all operations work, and appends stay in memory.
    pub(crate) fn aside(&self) -> Self {
        self.over(Overlay::new)
    }

    /// Returns this session, which the ledger must not have, as one that is kept in memory from its beginning.
    pub(crate) fn aside_new(&self) -> Self {
        self.over(Overlay::opening)
    }

    fn over(&self, overlay: fn(Arc<dyn Storage>, TenantNo, StreamId) -> Overlay) -> Self {
        let Engine { storage, tenant, .. } = &self.engine;
        let storage = Arc::new(overlay(Arc::clone(storage), tenant.no, self.id.clone()));
        let engine = Engine { storage, file: None, ..self.engine.clone() };
        Self { engine, id: self.id.clone(), aside: true }
    }

    /// Returns the id of the session.
    #[must_use]
    pub fn id(&self) -> &StreamId {
        &self.id
    }

    /// Returns the ledger's row of the session.
    ///
    /// # Errors
    /// Returns an error if the session does not exist.
    pub fn info<'a>(&'a self) -> BoxFuture<'a, StreamInfo> {
        Box::pin(async move {
            let info = self.engine.info(&self.id).await?;
            info.ok_or_else(|| Error::NoSession(self.id.to_string()))
        })
    }

    /// Returns the events in a range of positions, oldest first. At most `limit` events are returned, with about
    /// `text` bytes of text.
    ///
    /// # Errors
    /// Returns an error if the session does not exist, or if a record is damaged.
    pub fn events<'a>(&'a self, from: Seq, to: Seq, limit: u64, text: Bytes) -> BoxFuture<'a, Vec<Event>> {
        Box::pin(async move {
            let query = Query::Events {
                tenant: self.engine.tenant.no,
                stream: self.id.clone(),
                from,
                to,
                order: ReadOrder::Ascending,
                limit,
                text,
                counts: false,
                filter: EventFilter::default(),
            };
            let rows = self.engine.ask(query, Answer::events).await?;
            rows.iter()
                .map(|row| codec::event(&self.engine.config.tenant, &self.id, row).map_err(Error::from))
                .collect()
        })
    }

    /// Returns the events in a range of positions, page by page.
    pub(crate) fn pages(&self, from: Seq, to: Seq) -> Pages<'_> {
        Pages { session: self, next: from, to }
    }
}

/// Does work that is recorded in memory only. An overlay cannot follow a session that grows beneath it, so the work
/// begins again with a new one.
pub(crate) async fn in_overlay<'a, T>(
    session: &Session,
    work: impl Fn(Session) -> BoxFuture<'a, T> + Send,
) -> Result<T, Error> {
    for _ in 0..BUILD_RETRIES {
        match work(session.aside()).await {
            Err(Error::Store(StoreError::HeadMoved { .. } | StoreError::EpochMoved { .. })) => {}
            done => return done,
        }
    }
    Err(Error::Restless)
}

/// Maximum number of events on a page, and of bytes of their text.
#[derive(Clone, Copy)]
pub(crate) struct PageLimit {
    pub(crate) events: u64,
    pub(crate) text: Bytes,
}

/// Maximum number of events and of bytes of text per page.
pub(crate) const PAGE: PageLimit = PageLimit { events: 512, text: Bytes(8 << 20) };

/// Pages of events, for a range that is too long to be held in memory.
pub(crate) struct Pages<'s> {
    session: &'s Session,
    next: Seq,
    to: Seq,
}

impl Pages<'_> {
    /// Returns the next events, or `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<Event>>, Error> {
        if self.next > self.to {
            return Ok(None);
        }
        let events = self.session.events(self.next, self.to, PAGE.events, PAGE.text).await?;
        self.next = events.last().map_or(self.to, |last| last.seq).next();
        Ok(Some(events).filter(|events| !events.is_empty()))
    }
}
