//! One ranking of everything that matches: indexed documents, documents that wait for the index, and texts that are
//! kept as bytes.

use super::ground::Ground;
use super::hit::RankedHit;
use super::kept_scan;
use super::kept_scan::KeptScan;
use super::options::SearchOrder;
use super::task::Task;
use super::waiting::{Waiting, scan};
use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::kept_bytes::KeptTexts;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use wunderblock_index::{
    Header, HitStrength, IndexSearch, ParsedQuery as Words, PassageOrder, PassageSearch, Profiles,
    SearchError, Tail, rank,
};
use wunderblock_store::{Answer, Query};

/// Everything that matches a query. The hits are not yet checked for phrases, which the index does not hold.
pub(super) struct Ranking<'a> {
    task: &'a Task<'a>,
    ground: Ground,
    /// Passages in scope, if they are ranked.
    passages: Option<PassageOrder>,
    /// Similarity of each passage to the question, if the meaning is compared.
    similarity: Option<Vec<u16>>,
    /// Blocks of the segments that hold the words, by the position of the segment and the number of the block.
    blocks: HashMap<(usize, u32), Vec<u8>>,
    /// Documents that are scanned, not indexed.
    tail: Tail,
    pub(super) kept: KeptScan,
    /// Number of documents that were scanned.
    pub(super) scanned: u64,
    /// Whether the deadline has passed before all documents were scanned.
    pub(super) late: bool,
    /// Whether the meaning was not compared because too much waits for vectors.
    pub(super) by_words: bool,
}

impl<'a> Ranking<'a> {
    /// Scans and reads what the ranking is made from.
    pub(super) async fn prepare(task: &'a Task<'a>, ground: Ground, kept: KeptTexts) -> Result<Self, Error> {
        let Waiting { tail, similar, scanned, late } = scan(task, &ground).await?;
        let kept = kept_scan::scan_all(task, &ground, kept).await?;
        let (words, late) = (task.words(), late || kept.late);
        let tail = Tail::join(words, vec![tail, kept.tail(words)])
            .map_err(|error| Error::Query(error.to_string()))?;
        let compares = ground.compares(task);
        let by_words = task.meaning.is_some() && !compares;
        let vectors = match &task.meaning {
            Some(meaning) if compares => Some((meaning, ground.read_vectors(task).await?)),
            _ => None,
        };
        let (segments, scope) = (&ground.segments, &ground.scope);
        let blocks = read_blocks(task.engine, words, segments).await?;
        let passages = (task.options.order == SearchOrder::Ranked)
            .then(|| task.engine.known.order(segments, scope).with_tail(&tail, scope));
        let similarity = passages.as_ref().zip(vectors);
        let similarity = similarity
            .map(|(order, (meaning, vectors))| vectors.similarity(meaning, order, &similar))
            .transpose()?;
        Ok(Self { task, ground, passages, similarity, blocks, tail, kept, scanned, late, by_words })
    }

    /// Returns the first hits. A higher limit gives the same hits and further ones.
    pub(super) fn best(&self, limit: usize) -> Result<Vec<RankedHit>, Error> {
        let headers: Vec<&Header> = self.ground.segments.iter().map(|(_, header)| header.as_ref()).collect();
        let fetch = |segment: usize, number: u32| -> Result<&[u8], Infallible> {
            Ok(self.blocks.get(&(segment, number)).map_or(&[][..], Vec::as_slice))
        };
        let failed = |error| match error {
            SearchError::Segment(error) => Error::Index(error),
            SearchError::Source(never) => match never {},
        };
        let Some(order) = &self.passages else {
            let scope = self.ground.passing.as_ref().unwrap_or(&self.ground.scope);
            let search = IndexSearch { query: self.task.words(), scope, limit };
            let hits = wunderblock_index::search(&search, &headers, Some(&self.tail), fetch);
            let hit = |hit: wunderblock_index::DocHit| RankedHit {
                doc: hit.doc,
                part: None,
                score: 0,
                strength: HitStrength::default(),
                matched: hit.matched,
                arms: Vec::new(),
            };
            return Ok(hits.map_err(failed)?.into_iter().map(hit).collect());
        };
        let Task { question, options, .. } = *self.task;
        let search = PassageSearch {
            question,
            order,
            similarity: self.similarity.as_deref(),
            profiles: &Profiles::FITTED,
            windows: !options.brief,
            // Only a budget of tokens is filled with what has no word of the question near it.
            fill: if options.tokens.is_some() { limit } else { 0 },
            passing: self.ground.passing.as_ref(),
            limit,
        };
        let hits = rank(&search, &headers, Some(&self.tail), fetch).map_err(failed)?;
        let hit = |hit: wunderblock_index::PassageHit| RankedHit {
            arms: hit.reasons(),
            doc: hit.doc,
            part: Some(hit.part),
            score: hit.score,
            strength: hit.strength,
            matched: hit.matched,
        };
        Ok(hits.into_iter().map(hit).collect())
    }
}

/// Reads the blocks of segments that hold the words.
async fn read_blocks(
    engine: &Engine,
    words: &Words,
    segments: &[(u64, Arc<Header>)],
) -> Result<HashMap<(usize, u32), Vec<u8>>, Error> {
    let mut places = Vec::new();
    let mut wanted = Vec::new();
    for (place, (id, header)) in segments.iter().enumerate() {
        for number in words.blocks(header) {
            places.push((place, number));
            wanted.push((*id, number));
        }
    }
    if wanted.is_empty() {
        return Ok(HashMap::new());
    }
    let blocks = engine.ask(Query::Blocks { tenant: engine.tenant.no, wanted }, Answer::blocks).await?;
    Ok(places.into_iter().zip(blocks).filter_map(|(place, block)| Some((place, block?))).collect())
}
