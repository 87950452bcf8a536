//! Input from callers: events, messages, and lines of JSON.

use crate::base::error::Error;
use std::sync::Arc;
use wunderblock_core::event::{EventSource, Fact, MessageAppended, NewEvent};
use wunderblock_core::id::EventId;
use wunderblock_core::message::Message;
use wunderblock_core::units::Millis;
use wunderblock_wire::{LiveLine, decode_line};

/// Clock that returns milliseconds since 1970. The clock is passed in, so that tests and replays can set the time.
pub type Clock = Arc<dyn Fn() -> Millis + Send + Sync>;

/// Generator of ids for events that have none. Each id must be new.
pub type IdSource = Arc<dyn Fn() -> Result<EventId, Error> + Send + Sync>;

/// Fills in the ids and times that callers omit.
#[derive(Clone)]
pub struct Stamp {
    pub(crate) clock: Clock,
    pub(crate) ids: IdSource,
}

impl std::fmt::Debug for Stamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stamp").finish_non_exhaustive()
    }
}

impl Stamp {
    /// Returns a fact as an event that happens now. The event's id is new, so two equal texts become two events.
    ///
    /// # Errors
    /// Fails if no id can be generated.
    pub fn event(&self, fact: Fact) -> Result<NewEvent, Error> {
        Ok(NewEvent { id: (self.ids)()?, at: (self.clock)(), source: EventSource::Live, fact })
    }

    /// Parses a line of JSON: an event as `export` writes it, or a message in a provider's format. `id` and `at` are
    /// optional. U+FFFD replaces lone surrogates; [`decode_line`] counts them.
    ///
    /// # Errors
    /// Fails if the line is neither an event nor a message.
    pub fn line(&self, line: &[u8]) -> Result<NewEvent, Error> {
        let LiveLine { id, at, fact, .. } = decode_line(line)?;
        let id = match id {
            Some(id) => EventId::new(id)?,
            None => (self.ids)()?,
        };
        Ok(NewEvent { id, at: at.unwrap_or_else(|| (self.clock)()), source: EventSource::Live, fact })
    }
}

/// Values that can be appended to a session: a message, an event, or several of either.
///
/// A message gets a new id and the current time. Callers that may send the same content twice should pass an event
/// with a fixed id, so that the second copy is detected as a duplicate.
pub trait IntoEvents {
    /// Converts the value into events.
    ///
    /// # Errors
    /// Fails if no id can be generated.
    fn into_events(self, stamp: &Stamp) -> Result<Vec<NewEvent>, Error>;
}

impl IntoEvents for NewEvent {
    fn into_events(self, _: &Stamp) -> Result<Vec<NewEvent>, Error> {
        Ok(vec![self])
    }
}

impl IntoEvents for Fact {
    fn into_events(self, stamp: &Stamp) -> Result<Vec<NewEvent>, Error> {
        Ok(vec![stamp.event(self)?])
    }
}

impl IntoEvents for Message {
    fn into_events(self, stamp: &Stamp) -> Result<Vec<NewEvent>, Error> {
        Ok(vec![stamp.event(Fact::MessageAppended(MessageAppended { message: self }))?])
    }
}

impl<T: IntoEvents> IntoEvents for Vec<T> {
    fn into_events(self, stamp: &Stamp) -> Result<Vec<NewEvent>, Error> {
        let mut events = Vec::with_capacity(self.len());
        for one in self {
            events.append(&mut one.into_events(stamp)?);
        }
        Ok(events)
    }
}

impl<T: IntoEvents, const N: usize> IntoEvents for [T; N] {
    fn into_events(self, stamp: &Stamp) -> Result<Vec<NewEvent>, Error> {
        Vec::from(self).into_events(stamp)
    }
}
