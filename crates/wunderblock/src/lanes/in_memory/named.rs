//! Looks up what the newest typed turn names in a lane in memory. It has no index, so its events are scanned, once for each
//! turn: a later build of the turn scans only what was added.

use super::lane::Lane;
use crate::base::error::Error;
use crate::ledger::texts::Texts;
use crate::recall::document::{Document, EventPlace};
use crate::recall::places::WordPlaces;
use crate::recall::scan::{Lacking, LongBodies, Scan};
use crate::request::desk::House;
use crate::request::named::{NamedEvents, NamedPlaces, TEXTS, TURN_BYTES, TURNS, message};
use std::collections::HashSet;
use std::sync::Arc;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::Handle;
use wunderblock_core::message::{Body, Message};
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_index::Tail;
use wunderblock_store::StreamNo;
use wunderblock_store::codec::name_handle;

/// Scan for what a turn names, of the events up to a position.
pub(super) struct NamedScan {
    turn: Seq,
    tail: Tail,
    to: Seq,
}

impl Lane {
    /// Returns the places of what the newest typed turn up to a position names.
    pub(super) fn named_places(&mut self, house: &House, to: Seq) -> Result<Arc<NamedPlaces>, Error> {
        let known = self.events.partition_point(|event| event.seq <= to);
        let events = self.events.get(..known).unwrap_or_default();
        let turns = events.iter().rev().filter(|event| message(event).is_some_and(Message::is_user_turn));
        let turns: Vec<&Event> = turns.take(usize::try_from(TURNS).unwrap_or(usize::MAX)).collect();
        let texts = |_: &Message| self.bounded(turns.iter().copied(), TURN_BYTES);
        let Some(named) = NamedPlaces::of_newest(turns.iter().copied(), texts) else {
            return Ok(Arc::default());
        };
        if named.names.is_empty() {
            return Ok(Arc::new(named));
        }
        let is_same = |had: &&Arc<NamedScan>| had.turn == named.turn && had.to <= to;
        let had = self.named.as_ref().filter(is_same);
        let words = WordPlaces::of(named.narrowing());
        let (redactor, key) = (house.redactor(), &house.key);
        let scan = Scan { words: &words.terms, redactor, key };
        let added = events.iter().skip_while(|event| had.is_some_and(|had| event.seq <= had.to));
        let documents: Vec<Document<'_>> = added
            .filter_map(|event| {
                let place = EventPlace { stream: StreamNo(0), seq: event.seq, at: event.at };
                Document::of(place, event.fact.as_ref()?)
            })
            .collect();
        let new = scan.documents(&documents, LongBodies::Texts(self), Lacking::default())?.tail;
        let tail = scan.join(had.map(|had| had.tail.clone()).into_iter().chain([new]).collect())?;
        let mut places = named.clone();
        places.places = words.find(&[], &tail).unwrap_or_default();
        let own = name_handle(key, "stream", house.stream.as_str());
        for (place, (name, _)) in named.names.iter().enumerate() {
            let Some(prefix) = name.handle() else { continue };
            let is_own = (prefix.first..=prefix.last).contains(&own);
            if let Some(handle) = if is_own { Some(own) } else { self.handle(prefix) } {
                places.means(place, handle, own);
            }
        }
        self.named = Some(Arc::new(NamedScan { turn: named.turn, tail, to }));
        Ok(Arc::new(places))
    }

    /// Returns what is at the places of names. Adds the texts to `texts`.
    pub(super) fn named_events(&self, named: &NamedPlaces, texts: &mut Texts) -> NamedEvents {
        let mut found = NamedEvents::default();
        let at = |seq: Seq| {
            let place = self.events.binary_search_by_key(&seq, |event| event.seq).ok()?;
            self.events.get(place)
        };
        let events: Vec<&Event> = named.around().into_iter().filter_map(at).collect();
        texts.extend(self.bounded(events.iter().copied(), TEXTS));
        found.events.extend(events.into_iter().map(|event| (event.seq, event.clone())));
        for handle in named.names.iter().flat_map(|(_, handles)| handles) {
            texts.extend(self.some(vec![*handle]));
            let holds = |event: &&Event| handles(event).any(|own| own == *handle);
            found.held.extend(self.events.iter().rev().find(holds).map(|event| (*handle, event.seq)));
        }
        found
    }

    /// Returns the texts of events, those of the first events first, except those that would exceed a total length.
    fn bounded<'e>(&self, events: impl Iterator<Item = &'e Event>, limit: Bytes) -> Texts {
        let (mut texts, mut left, mut seen) = (Texts::default(), limit, HashSet::new());
        for event in events {
            let mut own: Vec<Handle> = handles(event).collect();
            own.sort_unstable();
            for handle in own {
                let Some(text) = self.text(handle).filter(|text| text.len() as u64 <= left.0) else {
                    continue;
                };
                if seen.insert(handle) {
                    left = left.saturating_sub(Bytes(text.len() as u64));
                    texts.insert(handle, Arc::clone(text));
                }
            }
        }
        texts
    }
}

fn handles(event: &Event) -> impl Iterator<Item = Handle> + '_ {
    event.fact.iter().flat_map(Fact::bodies).filter_map(Body::handle)
}
