//! The live door: what callers may append.
//!
//! Events that steer a lane, and receipts, are the engine's own. A caller that could write them could make a session
//! unreadable with one record, or claim an erasure that never was.

use crate::error::Error;
use crate::record::ReadyEvent;
use crate::session::Session;
use wunderblock_core::event::{Fact, NewEvent, Source};
use wunderblock_core::id::EventId;
use wunderblock_core::units::{Bytes, Seq};

/// Why an event is not taken from a caller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unappendable {
    /// See [`Fact::OPEN_KINDS`].
    #[error("only the engine writes events of kind `{0}`")]
    Kind(&'static str),
    /// `session.opened` can only be the first event.
    #[error("the session is open already")]
    SecondOpening,
    /// The other origins are given by an import and by the engine.
    #[error("its source is not `live`")]
    Source,
    /// The engine names its own events by kind and position.
    #[error("ids that begin with `{0}` are the engine's own")]
    Id(String),
}

/// Checks that callers may append an event, as far as it alone can tell.
pub(crate) fn admit(event: &NewEvent) -> Result<(), Error> {
    let why = if !event.fact.is_open() {
        Unappendable::Kind(event.fact.kind())
    } else if event.source != Source::Live {
        Unappendable::Source
    } else if let Some(prefix) = engines_own(&event.id) {
        Unappendable::Id(prefix)
    } else {
        return Ok(());
    };
    Err(Error::Unappendable { id: event.id.clone(), why })
}

impl Session {
    /// Checks that an event that opens a session is, or will be, its first.
    pub(crate) async fn admit_openings(&self, events: &[ReadyEvent]) -> Result<(), Error> {
        for event in events.iter().filter(|event| event.opens()) {
            if !self.is_first(event.id(), events).await? {
                let (id, why) = (event.id().clone(), Unappendable::SecondOpening);
                return Err(Error::Unappendable { id, why });
            }
        }
        Ok(())
    }

    async fn is_first(&self, id: &EventId, events: &[ReadyEvent]) -> Result<bool, Error> {
        if self.engine.info(&self.id).await?.is_none() {
            return Ok(events.first().is_some_and(|first| first.id() == id));
        }
        let first = self.events(Seq::START.next(), Seq::START.next(), (1, Bytes(1 << 20))).await?;
        Ok(first.first().is_some_and(|first| first.id == *id))
    }
}

/// The beginning by which an id is one that the engine makes: a kind only it writes, then `@` or `:`.
pub(crate) fn engines_own(id: &EventId) -> Option<String> {
    let end = id.as_str().find(['@', ':'])?;
    let (kind, rest) = id.as_str().split_at(end);
    Fact::ENGINE_KINDS.contains(&kind).then(|| format!("{kind}{}", rest.chars().next().unwrap_or_default()))
}
