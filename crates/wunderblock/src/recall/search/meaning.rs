//! Similarity of passages to a question, by their vectors: of the segments in scope, and of what has none yet.

use super::ground::Ground;
use super::options::Task;
use crate::base::error::Error;
use crate::base::parallel;
use crate::ledger::header_cache::{NOWHERE, SegmentKey};
use std::ops::Range;
use std::sync::Arc;
use wunderblock_embed::{Vector, scan};
use wunderblock_index::{PassageKey, PassageOrder};
use wunderblock_store::{Answer, DerivedTable, Query};

/// Number of blocks that a thread scans at a time: about 8,000 vectors.
const SHARE: usize = 64;

/// Vectors of passages in scope.
#[derive(Default)]
pub(super) struct ScopedVectors {
    /// Bytes of each block.
    blocks: Vec<Arc<Vec<u8>>>,
    /// Position of each vector of a block in the order without a tail.
    places: Vec<(Arc<[u32]>, Range<usize>)>,
}

impl Ground {
    /// Returns whether the meaning of the question is compared: not if more waits for vectors than a search embeds quickly.
    pub(super) fn compares(&self, task: &Task<'_>) -> bool {
        task.meaning.is_some() && !self.is_far_behind(DerivedTable::Vectors)
    }

    /// Reads the vectors of the passages in scope that are not known.
    pub(super) async fn read_vectors(&self, task: &Task<'_>) -> Result<ScopedVectors, Error> {
        let known = &task.engine.known;
        let headers: Vec<_> = self.vectors.iter().map(|(_, header)| Arc::clone(header)).collect();
        let (mut wanted, mut places) = (Vec::new(), Vec::new());
        for ((key, header), own) in
            self.vectors.iter().zip(known.places(&self.segments, &self.scope, &headers))
        {
            for (number, rows) in (0..).zip(header.blocks()) {
                let is_in_scope = |at: &u32| *at != NOWHERE;
                if own.get(rows.clone()).is_some_and(|rows| rows.iter().any(is_in_scope)) {
                    wanted.push((*key, number));
                    places.push((Arc::clone(&own), rows));
                }
            }
        }
        let mut found = known.vectors.find(&wanted, &self.vectors, task.engine.now());
        let missing = wanted.iter().zip(&found).filter(|(_, block)| block.is_none());
        let missing: Vec<_> = missing.map(|(key, _)| *key).collect();
        if !missing.is_empty() {
            let (tenant, wanted) = (task.engine.tenant.no, missing.iter().map(|((id, _), at)| (*id, *at)));
            let query = Query::Blocks { tenant, wanted: wanted.collect() };
            let frames = task.engine.ask(query, Answer::blocks).await?;
            let read = |((key, number), frame): (&(SegmentKey, u32), Option<Vec<u8>>)| {
                let header = self.vectors.iter().find(|(own, _)| own == key).map(|(_, header)| header);
                let frame = frame.unwrap_or_default();
                let block = header.map(|header| header.read(*number as usize, &frame)).transpose()?;
                Ok(Arc::new(block.unwrap_or_default()))
            };
            let read = parallel::map(missing.iter().zip(frames).collect(), read)?;
            for ((segment, number), block) in missing.iter().zip(&read) {
                known.vectors.keep(*segment, *number, block);
            }
            let mut read = read.into_iter();
            found.iter_mut().filter(|block| block.is_none()).for_each(|block| *block = read.next());
        }
        Ok(ScopedVectors { blocks: found.into_iter().map(Option::unwrap_or_default).collect(), places })
    }
}

impl ScopedVectors {
    /// Returns the similarity of each passage to a question, by its position. `similar` are those of passages without
    /// vectors.
    pub(super) fn similarity(
        &self,
        question: &Vector,
        order: &PassageOrder,
        similar: &[(PassageKey, u16)],
    ) -> Result<Vec<u16>, Error> {
        let mut similarity = vec![0; order.len()];
        let mut set =
            |at: usize, value: u16| similarity.iter_mut().skip(at).take(1).for_each(|own| *own = value);
        let scanned = parallel::map(self.blocks.chunks(SHARE).collect(), |blocks: &[Arc<Vec<u8>>]| {
            let scan_block = |block: &Arc<Vec<u8>>| {
                let mut values = Vec::new();
                scan(question, block, &mut values);
                values
            };
            Ok(blocks.iter().map(scan_block).collect::<Vec<_>>())
        })?;
        for (values, (places, rows)) in scanned.into_iter().flatten().zip(&self.places) {
            let places = places.get(rows.clone()).unwrap_or_default();
            for (value, at) in values.into_iter().zip(places).filter(|(_, at)| **at != NOWHERE) {
                set(order.current(*at as usize), value);
            }
        }
        let mut guess = 0;
        for (key, value) in similar {
            if let Some(at) = order.place(*key, guess) {
                set(at as usize, *value);
                guess = at + 1;
            }
        }
        Ok(similarity)
    }
}
