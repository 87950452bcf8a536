//! Positions of a session at which words occur, found by the text index and in what it does not have yet. The caller
//! reads the index in batches of its own, so the search takes no round trip of its own.

use crate::base::error::Error;
use crate::ledger::engine::Engine;
use std::cmp::Reverse;
use std::convert::Infallible;
use std::sync::Arc;
use wunderblock_core::units::Seq;
use wunderblock_index::{DocScope, Header, IndexSearch, ParsedQuery, Tail, search};
use wunderblock_store::{Query, SegmentInfo, Stretch};

/// Maximum number of positions of all texts.
const PLACES: usize = 144;
/// Maximum number of positions of one text.
const PLACES_EACH: usize = 36;
/// Maximum number of newest positions of one text among which the shortest documents are chosen.
const CONSIDERED: usize = 512;

/// Texts to find in the documents of a session.
pub(crate) struct WordPlaces {
    texts: Vec<ParsedQuery>,
    /// Terms of all texts, for one scan of what is not indexed.
    pub(crate) terms: ParsedQuery,
    scope: DocScope,
    /// Index segments, newest first.
    segments: Vec<(u64, Arc<Header>)>,
    /// Blocks that hold the words, by the position of the segment and the number of the block.
    blocks: Vec<(usize, u32)>,
}

impl WordPlaces {
    /// Prepares a search for texts in documents that are not indexed.
    pub(crate) fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        // A document without one of the words does not have the text.
        let is_word = |c: char| c == '_' || c.is_alphanumeric();
        let required = |text: &str| {
            let words = text.split_whitespace().map(|word| word.trim_start_matches(|c| !is_word(c)));
            words.filter(|word| !word.is_empty()).map(|word| format!("+{word} ")).collect::<String>()
        };
        let texts: Vec<_> =
            texts.into_iter().filter_map(|text| ParsedQuery::parse(&required(text)).ok()).collect();
        let (scope, terms) = (DocScope::everything(), ParsedQuery::terms_of(&texts));
        Self { texts, terms, scope, segments: Vec::new(), blocks: Vec::new() }
    }

    /// Extends the search to what is indexed of the stretches of a session.
    pub(crate) fn indexed(
        mut self,
        engine: &Engine,
        segments: Vec<SegmentInfo>,
        stretches: &[Stretch],
    ) -> Result<Self, Error> {
        self.segments = engine.known.headers(segments)?;
        let ranges = stretches.iter().map(|stretch| (stretch.no.0, stretch.from.0..=stretch.to.0));
        self.scope = DocScope::of(ranges);
        for (place, (_, header)) in self.segments.iter().enumerate() {
            self.blocks.extend(self.terms.blocks(header).into_iter().map(|number| (place, number)));
        }
        Ok(self)
    }

    /// Returns the query for the blocks that the search reads.
    pub(crate) fn query(&self, engine: &Engine) -> Query {
        let id = |place: usize| self.segments.get(place).map(|(id, _)| *id);
        let wanted = self.blocks.iter().filter_map(|(place, number)| Some((id(*place)?, *number)));
        Query::Blocks { tenant: engine.tenant.no, wanted: wanted.collect() }
    }

    /// Returns the positions of the texts, given the blocks and what is not indexed; `None` if a segment was replaced in
    /// the meantime. The positions do not depend on what is indexed.
    pub(crate) fn find(&self, blocks: &[Option<Vec<u8>>], tail: &Tail) -> Option<Vec<Seq>> {
        let fetch = |segment: usize, number: u32| -> Result<&[u8], Infallible> {
            let place = self.blocks.binary_search(&(segment, number)).ok();
            let block = place.and_then(|place| blocks.get(place)?.as_deref());
            Ok(block.unwrap_or_default())
        };
        let headers: Vec<&Header> = self.segments.iter().map(|(_, header)| header.as_ref()).collect();
        let each = (PLACES / self.texts.len().max(1)).min(PLACES_EACH);
        let mut places = Vec::new();
        for query in &self.texts {
            let wanted = IndexSearch { query, scope: &self.scope, limit: CONSIDERED };
            let tail = tail.of_query(&self.terms, query);
            let mut hits = search(&wanted, &headers, Some(&tail), fetch).ok()?;
            hits.sort_unstable_by_key(|hit| Reverse(hit.doc.seq));
            places.extend(hits.iter().take(each - each / 3).map(|hit| Seq(hit.doc.seq)));
            // Calls of tools are shorter than what only tells of a thing.
            hits.sort_by_key(|hit| hit.len);
            places.extend(hits.iter().take(each / 3).map(|hit| Seq(hit.doc.seq)));
        }
        Some(places)
    }
}
