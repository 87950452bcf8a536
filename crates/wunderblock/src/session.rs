//! One session of a ledger.

use crate::door;
use crate::engine::{Engine, unexpected};
use crate::error::Error;
use crate::record::ReadyEvent;
use crate::store::codec;
use crate::store::{Answer, Appended, Order, Query, StreamInfo};
use wunderblock_core::event::{Event, NewEvent};
use wunderblock_core::id::StreamId;
use wunderblock_core::units::{Bytes, Seq};

/// A session. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Session {
    pub(crate) engine: Engine,
    pub(crate) id: StreamId,
}

impl Session {
    pub(crate) fn new(engine: Engine, id: StreamId) -> Self {
        Self { engine, id }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &StreamId {
        &self.id
    }

    /// Appends events, all or none, durable when this returns; opens the session if it is new.
    ///
    /// An event whose id is there already is a duplicate if its content is the same, and a conflict if it is not.
    ///
    /// # Errors
    /// On a conflict, when the ledger cannot be written, and for events that callers may not append: of kinds that only
    /// the engine writes ([`Fact::OPEN_KINDS`](wunderblock_core::event::Fact::OPEN_KINDS) lists the others), a second
    /// opening, a source that is not live.
    pub async fn append(&self, events: Vec<NewEvent>) -> Result<Vec<Appended>, Error> {
        let events = self.ready(events)?.into_iter().collect::<Result<_, _>>()?;
        self.append_ready(events).await
    }

    /// Makes events ready to be appended, many of them on all cores; what callers may not append, or cannot be recorded, is
    /// an error in its place.
    ///
    /// With [`Session::append_ready`] it is what [`Session::append`] does, in two steps: the next events are made ready
    /// while the last ones are on the way to the disk.
    ///
    /// # Errors
    /// When the system gives no random bytes, or no thread.
    pub fn ready(&self, events: Vec<NewEvent>) -> Result<Vec<Result<ReadyEvent, Error>>, Error> {
        let admitted: Vec<Result<(), Error>> = events.iter().map(door::admit).collect();
        let ready = self.engine.prepare(events)?;
        Ok(admitted.into_iter().zip(ready).map(|(admitted, ready)| admitted.and(ready)).collect())
    }

    /// Appends events that are ready, as [`Session::append`] does.
    ///
    /// # Errors
    /// On a conflict, on a second opening, or when the ledger cannot be written.
    pub async fn append_ready(&self, events: Vec<ReadyEvent>) -> Result<Vec<Appended>, Error> {
        self.admit_openings(&events).await?;
        self.engine.append_prepared(&self.id, None, events).await
    }

    /// What is known of it.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn info(&self) -> Result<StreamInfo, Error> {
        let info = self.engine.info(&self.id).await?;
        info.ok_or_else(|| Error::NoSession(self.id.to_string()))
    }

    /// Its events in a range of positions, oldest first, at most `limit` and about `text` bytes of texts.
    ///
    /// # Errors
    /// When there is no such session, or a record is damaged.
    pub async fn events(&self, from: Seq, to: Seq, (limit, text): (u64, Bytes)) -> Result<Vec<Event>, Error> {
        let query = Query::Events {
            tenant: self.engine.tenant.no,
            stream: self.id.clone(),
            from,
            to,
            order: Order::Ascending,
            limit,
            text,
            counts: false,
        };
        let Answer::Events(rows) = self.engine.one(query).await? else { return Err(unexpected()) };
        rows.iter()
            .map(|row| codec::event(&self.engine.config.tenant, &self.id, row).map_err(Error::from))
            .collect()
    }
}
