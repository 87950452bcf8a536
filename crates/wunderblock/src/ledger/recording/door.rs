//! The live door: decides which events callers may append.
//!
//! Only the engine writes receipts and events that steer a lane. A caller that could write them could make a session
//! unreadable with one record, or claim an erasure that never happened.

use crate::base::error::{Error, Unappendable};
use wunderblock_core::event::{EventSource, Fact, NewEvent, SessionDescribed};
use wunderblock_core::id::EventId;

/// Checks, from the event alone, that a caller may append it.
pub(crate) fn admit(event: &NewEvent) -> Result<(), Error> {
    let why = if !event.fact.is_open() {
        Unappendable::Kind(event.fact.kind())
    } else if event.source != EventSource::Live {
        Unappendable::Source
    } else if let Some(prefix) = engines_own(&event.id) {
        Unappendable::Id(prefix)
    } else if let Fact::SessionDescribed(described) = &event.fact
        && let Some(why) = fault(described)
    {
        Unappendable::Description(why)
    } else {
        return Ok(());
    };
    Err(Error::Unappendable { id: event.id.clone(), why })
}

/// Maximum length of a title, in characters.
const MAX_TITLE: usize = 200;
/// Maximum number of tags.
const MAX_TAGS: usize = 32;
/// Maximum length of a tag, in characters.
const MAX_TAG: usize = 64;

/// Returns what is invalid in the title or the tags of a session.
fn fault(described: &SessionDescribed) -> Option<String> {
    let has_control = |text: &str| text.chars().any(char::is_control);
    let title = described.title.as_deref().unwrap_or_default();
    let tags = described.tags.as_deref().unwrap_or_default();
    let invalid = |tag: &&str| {
        tag.is_empty() || tag.chars().count() > MAX_TAG || has_control(tag) || tag.trim() != *tag
    };
    if title.chars().count() > MAX_TITLE || has_control(title) {
        return Some(format!("a title has at most {MAX_TITLE} characters and no control characters"));
    }
    if tags.len() > MAX_TAGS {
        return Some(format!("a session has at most {MAX_TAGS} tags"));
    }
    tags.iter().map(|tag| &**tag).find(invalid).map(|tag| {
        format!("invalid tag {tag:?}: a tag has 1 to {MAX_TAG} characters, no control characters, and no space at its ends")
    })
}

/// Returns the reserved prefix of an id that only the engine creates: the kind of an engine event, then `@` or `:`.
pub(crate) fn engines_own(id: &EventId) -> Option<String> {
    let end = id.as_str().find(['@', ':'])?;
    let (kind, rest) = id.as_str().split_at(end);
    Fact::ENGINE_KINDS.contains(&kind).then(|| format!("{kind}{}", rest.chars().next().unwrap_or_default()))
}
