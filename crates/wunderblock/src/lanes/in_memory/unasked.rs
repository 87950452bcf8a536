//! Searches a lane in memory for what bears on the newest typed turn. It has no other sessions.

use super::lane::Lane;
use crate::base::error::Error;
use crate::limits::SCAN_BYTES;
use crate::recall::prompted::{HITS, RECALL_FLOOR, of_message, passes, telling_words};
use crate::recall::search::{Aside, search_aside};
use crate::request::desk::House;
use crate::request::named::unasked::{RecallFound, RecallWanted};
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::message::Body;
use wunderblock_core::units::Bytes;

impl Lane {
    /// Returns what the lane no longer shows and bears on a turn.
    pub(super) fn recalled(&self, house: &House, wanted: &RecallWanted) -> RecallFound {
        let until = self.events.partition_point(|event| event.seq < wanted.before);
        let past = self.events.get(..until).unwrap_or_default();
        let mut left = SCAN_BYTES;
        let is_beyond = |event: &Event| {
            let bodies = event.fact.iter().flat_map(Fact::bodies);
            left = left.saturating_sub(bodies.map(Body::bytes).sum::<Bytes>());
            left == Bytes::ZERO
        };
        let from = past.iter().rev().position(is_beyond).map_or(0, |newer| until - newer);
        let is_partly = from > 0;
        let passages = self.search(house, &wanted.typed, past.get(from..).unwrap_or_default());
        passages.map_or_else(|_| RecallFound::default(), |passages| RecallFound { is_partly, ..passages })
    }

    fn search(&self, house: &House, typed: &str, events: &[Event]) -> Result<RecallFound, Error> {
        let Some(words) = telling_words(typed) else { return Ok(RecallFound::default()) };
        let mut found = RecallFound::default();
        let aside = Aside { events, bodies: self, redactor: house.redactor(), key: &house.key };
        for mut hit in search_aside(&aside, &words, HITS)? {
            let place = events.binary_search_by_key(&hit.seq, |event| event.seq).ok();
            let fact = place.and_then(|place| events.get(place)?.fact.as_ref());
            let Some(Fact::MessageAppended(said)) = fact.filter(|_| passes(hit.strength, RECALL_FLOOR))
            else {
                continue;
            };
            hit.session = house.stream.clone();
            let bodies = said.message.parts.iter().flat_map(|part| part.bodies());
            let texts = self.some(bodies.filter_map(Body::handle).collect());
            found.passages.extend(of_message(hit, &said.message, &texts));
        }
        Ok(found)
    }
}
