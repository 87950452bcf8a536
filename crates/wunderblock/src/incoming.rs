//! What callers append: events, messages, lines of JSON.

use crate::error::Error;
use std::sync::Arc;
use wunderblock_core::event::{EventSource, Fact, MessageAppended, NewEvent};
use wunderblock_core::id::EventId;
use wunderblock_core::message::Message;
use wunderblock_core::units::Millis;
use wunderblock_wire::{LiveLine, decode_line};

/// Tells the time: milliseconds since 1970. Passed in, so that a test or a replay can tell another.
pub type Clock = Arc<dyn Fn() -> Millis + Send + Sync>;

/// Makes the ids of events whose caller gives none. Each must be new.
pub type IdSource = Arc<dyn Fn() -> Result<EventId, Error> + Send + Sync>;

/// Gives events the ids and the time their caller did not give.
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
    /// A fact as an event that happens now. Its id is new: equal texts are not taken for the same event.
    ///
    /// # Errors
    /// When no id can be made.
    pub fn event(&self, fact: Fact) -> Result<NewEvent, Error> {
        Ok(NewEvent { id: (self.ids)()?, at: (self.clock)(), source: EventSource::Live, fact })
    }

    /// A line of JSON as an event: an event as `export` writes it, or a message in a provider's form, with `id` and `at`
    /// beside it or without.
    ///
    /// # Errors
    /// When it is neither.
    pub fn line(&self, line: &[u8]) -> Result<NewEvent, Error> {
        let LiveLine { id, at, fact } = decode_line(line)?;
        let id = match id {
            Some(id) => EventId::new(id)?,
            None => (self.ids)()?,
        };
        Ok(NewEvent { id, at: at.unwrap_or_else(|| (self.clock)()), source: EventSource::Live, fact })
    }
}

/// What can be appended to a session: a message, an event, several of either.
///
/// A message gets an id and a time of its own. Callers that may send the same thing twice give an event with an id that
/// stays the same, and the second one is found to be a duplicate.
pub trait IntoEvents {
    /// The events it means.
    ///
    /// # Errors
    /// When no id can be made.
    fn into_events(self, stamp: &Stamp) -> Result<Vec<NewEvent>, Error>;
}

impl IntoEvents for NewEvent {
    fn into_events(self, _: &Stamp) -> Result<Vec<NewEvent>, Error> {
        Ok(vec![self])
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
