//! The live door: decides which events callers may append.
//!
//! Only the engine writes receipts and events that steer a lane. A caller that could write them could make a session
//! unreadable with one record, or claim an erasure that never happened.

use crate::error::{Error, Unappendable};
use wunderblock_core::event::{EventSource, Fact, NewEvent};
use wunderblock_core::id::EventId;

/// Checks, from the event alone, that a caller may append it.
pub(crate) fn admit(event: &NewEvent) -> Result<(), Error> {
    let why = if !event.fact.is_open() {
        Unappendable::Kind(event.fact.kind())
    } else if event.source != EventSource::Live {
        Unappendable::Source
    } else if let Some(prefix) = engines_own(&event.id) {
        Unappendable::Id(prefix)
    } else {
        return Ok(());
    };
    Err(Error::Unappendable { id: event.id.clone(), why })
}

/// Returns the reserved prefix of an id that only the engine creates: the kind of an engine event, then `@` or `:`.
pub(crate) fn engines_own(id: &EventId) -> Option<String> {
    let end = id.as_str().find(['@', ':'])?;
    let (kind, rest) = id.as_str().split_at(end);
    Fact::ENGINE_KINDS.contains(&kind).then(|| format!("{kind}{}", rest.chars().next().unwrap_or_default()))
}
