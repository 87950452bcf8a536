//! Positions of a session at which words occur, found by the text index alone. The caller reads the index in batches of
//! its own, so the search takes no round trip of its own.

use crate::base::error::Error;
use crate::ledger::engine::Engine;
use std::convert::Infallible;
use std::sync::Arc;
use wunderblock_core::units::Seq;
use wunderblock_index::{DocScope, Header, IndexSearch, ParsedQuery, SearchOrder, search};
use wunderblock_store::{Query, SegmentInfo, Stretch};

/// Maximum number of positions of all texts.
const PLACES: usize = 144;
/// Maximum number of positions of one text.
const PLACES_EACH: usize = 36;

/// Texts to find in the documents of a session.
pub(crate) struct WordPlaces {
    texts: Vec<Option<ParsedQuery>>,
    scope: DocScope,
    /// Index segments, newest first.
    segments: Vec<(u64, Arc<Header>)>,
    /// Blocks that hold the words, by the position of the segment and the number of the block.
    blocks: Vec<(usize, u32)>,
}

impl WordPlaces {
    /// Prepares a search for texts in the stretches of a session.
    pub(crate) fn of<'t>(
        engine: &Engine,
        segments: Vec<SegmentInfo>,
        stretches: &[Stretch],
        texts: impl IntoIterator<Item = &'t str>,
    ) -> Result<Self, Error> {
        let texts: Vec<_> = texts.into_iter().map(|text| ParsedQuery::from_text(text).ok()).collect();
        let segments = engine.known.headers(segments)?;
        let ranges = stretches.iter().map(|stretch| (stretch.no.0, stretch.from.0..=stretch.to.0));
        let mut blocks = Vec::new();
        for (place, (_, header)) in segments.iter().enumerate() {
            let numbers = texts.iter().flatten().flat_map(|words| words.blocks(header));
            blocks.extend(numbers.map(|number| (place, number)));
        }
        blocks.sort_unstable();
        blocks.dedup();
        Ok(Self { texts, scope: DocScope::of(ranges), segments, blocks })
    }

    /// Returns the query for the blocks that the search reads.
    pub(crate) fn query(&self, engine: &Engine) -> Query {
        let id = |place: usize| self.segments.get(place).map(|(id, _)| *id);
        let wanted = self.blocks.iter().filter_map(|(place, number)| Some((id(*place)?, *number)));
        Query::Blocks { tenant: engine.tenant.no, wanted: wanted.collect() }
    }

    /// Returns the positions of each text, given the blocks; `None` if a segment was replaced in the meantime.
    pub(crate) fn find(&self, blocks: Vec<Option<Vec<u8>>>) -> Option<Vec<Vec<Seq>>> {
        let fetch = |segment: usize, number: u32| -> Result<&[u8], Infallible> {
            let place = self.blocks.binary_search(&(segment, number)).ok();
            let block = place.and_then(|place| blocks.get(place)?.as_deref());
            Ok(block.unwrap_or_default())
        };
        let headers: Vec<&Header> = self.segments.iter().map(|(_, header)| header.as_ref()).collect();
        let positions = |query: &ParsedQuery, order, limit| {
            let wanted = IndexSearch { query, scope: &self.scope, order, limit };
            search(&wanted, &headers, None, fetch, |_, _| Ok(true)).ok()
        };
        let each = (PLACES / self.texts.len().max(1)).min(PLACES_EACH);
        let of_text = |query: &Option<ParsedQuery>| {
            let Some(query) = query else { return Some(Vec::new()) };
            // Calls of tools are short, so the ranking puts them before what only tells of a thing.
            let best = positions(query, SearchOrder::Ranked, each / 3)?;
            let newest = positions(query, SearchOrder::Newest, each - each / 3)?;
            Some(newest.into_iter().chain(best).map(|hit| Seq(hit.doc.seq)).collect())
        };
        self.texts.iter().map(of_text).collect()
    }
}
