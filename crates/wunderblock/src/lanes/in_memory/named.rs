//! Looks up what the newest typed turn names in a lane in memory, which has no index: its events are searched once.

use super::lane::Lane;
use crate::ledger::texts::Texts;
use crate::request::named::names::NameKind;
use crate::request::named::{NamedEvents, NamedPlaces};
use memchr::memmem::Finder;
use std::sync::Arc;
use wunderblock_core::author::Author;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::Handle;
use wunderblock_core::message::{Body, Message, Part};
use wunderblock_core::units::Seq;

/// Maximum number of places of each name, the newest ones.
const PLACES: usize = 24;

impl Lane {
    /// Returns the places of what the newest typed turn up to a position names.
    pub(super) fn named_places(&self, to: Seq) -> Arc<NamedPlaces> {
        let known = self.events.partition_point(|event| event.seq <= to);
        let events = self.events.get(..known).unwrap_or_default();
        let said = events.iter().rev().filter_map(|event| Some((event.seq, message(event)?)));
        let is_typed =
            |said: &Message| said.is_user_turn() && matches!(said.author(), Author::Person | Author::Peer);
        let Some((turn, said)) = said.into_iter().find(|(_, said)| is_typed(said)) else {
            return Arc::default();
        };
        let bodies = said.parts.iter().flat_map(Part::bodies).filter_map(Body::handle);
        let mut named = NamedPlaces::of_turn(turn, said, &self.some(bodies.collect()));
        for (name, handles) in &mut named.names {
            if name.kind == NameKind::Handle {
                let prefix = name.text.split('#').next().and_then(|prefix| prefix.parse().ok());
                handles.extend(prefix.and_then(|prefix| self.handle(prefix)));
                continue;
            }
            let word = Finder::new(name.narrowing());
            let about = events.iter().rev().filter(|event| event.seq != turn && self.has(event, &word));
            named.places.extend(about.map(|event| event.seq).take(PLACES));
        }
        Arc::new(named)
    }

    /// Returns what is at the places of names. Adds the texts to `texts`.
    pub(super) fn named_events(&self, named: &NamedPlaces, texts: &mut Texts) -> NamedEvents {
        let mut found = NamedEvents::default();
        for seq in named.around() {
            let place = self.events.binary_search_by_key(&seq, |event| event.seq);
            let Some(event) = place.ok().and_then(|place| self.events.get(place)) else { continue };
            texts.extend(self.some(handles(event).collect()));
            found.events.insert(seq, event.clone());
        }
        for handle in named.names.iter().flat_map(|(_, handles)| handles) {
            texts.extend(self.some(vec![*handle]));
            let holds = |event: &&Event| handles(event).any(|own| own == *handle);
            found.held.extend(self.events.iter().rev().find(holds).map(|event| (*handle, event.seq)));
        }
        found
    }

    /// Returns whether a word is in a call or a text of an event.
    fn has(&self, event: &Event, word: &Finder<'_>) -> bool {
        let is_in = |text: &str| word.find(text.as_bytes()).is_some();
        let bodies = message(event).into_iter().flat_map(|said| &said.parts).flat_map(Part::leaves);
        bodies.filter(|(part, _)| !part.is_data()).any(|(_, body)| match body {
            Body::Inline(text) => is_in(text),
            Body::Blob { blob, .. } => self.text(*blob).is_some_and(|text| is_in(text)),
        })
    }
}

fn message(event: &Event) -> Option<&Message> {
    match &event.fact {
        Some(Fact::MessageAppended(said)) => Some(&said.message),
        _ => None,
    }
}

fn handles(event: &Event) -> impl Iterator<Item = Handle> + '_ {
    event.fact.iter().flat_map(Fact::bodies).filter_map(Body::handle)
}
