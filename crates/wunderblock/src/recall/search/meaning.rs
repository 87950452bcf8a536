//! Similarity of passages to a question, by their vectors: of the segments in scope, and of what has none yet.

use super::ground::Ground;
use super::hit::SearchCut;
use super::task::Task;
use crate::base::deadline::Deadline;
use crate::base::error::Error;
use crate::base::parallel;
use crate::ledger::engine::Engine;
use crate::ledger::header_cache::{NOWHERE, SegmentKey};
use crate::recall::catch_up::is_made_by;
use crate::rules::embedder::Embedder;
use std::ops::Range;
use std::sync::Arc;
use wunderblock_embed::{Vector, scan};
use wunderblock_index::{PassageKey, PassageOrder, VectorHeader};
use wunderblock_store::{Answer, DerivedTable, Query};

/// Number of blocks that a thread scans at a time: about 8,000 vectors.
const SHARE: usize = 64;

/// Vectors of a question.
pub(super) struct Meaning<'a> {
    /// That of the table, if it knows the words.
    pub(super) table: Option<Vector>,
    /// That of the embedder, if vectors of it are in scope and it answers.
    pub(super) other: Option<(&'a Embedder, Vector)>,
}

impl Meaning<'_> {
    /// Returns whether the embedder made the vectors of a segment. `None` if they are not comparable with the question.
    fn is_other(&self, header: &VectorHeader) -> Option<bool> {
        let is_of = |(embedder, vector): &(&Embedder, Vector)| {
            header.model() == embedder.model() && header.dimensions() == vector.bytes().len()
        };
        let is_table = self.table.is_some() && is_made_by(header, None);
        let is_other = self.other.as_ref().is_some_and(is_of);
        (is_table || is_other).then_some(is_other)
    }
}

/// Vectors of passages in scope.
#[derive(Default)]
pub(super) struct ScopedVectors {
    /// Bytes of each block, and whether the embedder made them.
    blocks: Vec<(bool, Arc<Vec<u8>>)>,
    /// Position of each vector of a block in the order without a tail.
    places: Vec<(Arc<[u32]>, Range<usize>)>,
}

impl Ground {
    /// Returns whether the meaning of the question is compared: not if more waits for vectors than a search embeds quickly.
    pub(super) fn compares(&self, task: &Task<'_>) -> bool {
        task.meaning.is_some() && !self.is_far_behind(DerivedTable::Vectors)
    }

    /// Returns the vector of a question by the embedder, if vectors of it are in scope, and the reason why vectors in
    /// scope are not compared. Only then is the question sent, without secrets.
    pub(super) fn ask_embedder<'e>(
        &self,
        engine: &'e Engine,
        text: &str,
        deadline: &Deadline,
    ) -> (Option<(&'e Embedder, Vector)>, Option<SearchCut>) {
        let is_in_scope = |header: &&VectorHeader| {
            let mut ranges = header.ranges().iter();
            ranges.any(|range| self.scope.touches(range.stream, &(range.after + 1..=range.through)))
        };
        let headers = self.vectors.iter().map(|(_, header)| header.as_ref());
        let others: Vec<_> = headers.filter(|header| !is_made_by(header, None)).filter(is_in_scope).collect();
        if others.is_empty() || self.is_far_behind(DerivedTable::Vectors) {
            return (None, None);
        }
        let (mut vector, mut why) = (None, "no embedder for them is set".to_owned());
        if let Some(embedder) = engine.config.embedder.as_deref()
            && let Some(own) = others.iter().find(|header| header.model() == embedder.model())
        {
            embedder.hold(own.dimensions());
            let text = engine.config.redactor.redact_keyed(&engine.tenant.key, text).text;
            match embedder.vectors(&[&text], &mut |_| !deadline.is_over()) {
                Ok(mut made) => vector = made.pop().map(|made| (embedder, made)),
                Err(failure) => why = failure.to_string(),
            }
        }
        let meaning = Meaning { table: None, other: vector };
        let other = others.iter().find(|header| meaning.is_other(header).is_none());
        let cut = other.map(|header| SearchCut::Embedder { model: header.model().into(), why: why.into() });
        (meaning.other, cut)
    }

    /// Reads the vectors of the passages in scope that are not known.
    pub(super) async fn read_vectors(&self, task: &Task<'_>) -> Result<ScopedVectors, Error> {
        let known = &task.engine.known;
        let headers: Vec<_> = self.vectors.iter().map(|(_, header)| Arc::clone(header)).collect();
        let (mut wanted, mut places, mut models) = (Vec::new(), Vec::new(), Vec::new());
        for ((key, header), own) in
            self.vectors.iter().zip(known.places(&self.segments, &self.scope, &headers))
        {
            let is_other = task.meaning.as_ref().and_then(|meaning| meaning.is_other(header));
            let Some(is_other) = is_other else { continue };
            for (number, rows) in (0..).zip(header.blocks()) {
                let is_in_scope = |at: &u32| *at != NOWHERE;
                if own.get(rows.clone()).is_some_and(|rows| rows.iter().any(is_in_scope)) {
                    wanted.push((*key, number));
                    models.push(is_other);
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
        let blocks = models.into_iter().zip(found.into_iter().map(Option::unwrap_or_default)).collect();
        Ok(ScopedVectors { blocks, places })
    }
}

impl ScopedVectors {
    /// Returns the similarity of each passage to a question, by its position. `similar` are those of passages without
    /// vectors.
    pub(super) fn similarity(
        &self,
        meaning: &Meaning<'_>,
        order: &PassageOrder,
        similar: &[(PassageKey, u16)],
    ) -> Result<Vec<u16>, Error> {
        let mut similarity = vec![0; order.len()];
        let mut set =
            |at: usize, value: u16| similarity.iter_mut().skip(at).take(1).for_each(|own| *own = value);
        let scanned =
            parallel::map(self.blocks.chunks(SHARE).collect(), |blocks: &[(bool, Arc<Vec<u8>>)]| {
                let scan_block = |(is_other, block): &(bool, Arc<Vec<u8>>)| {
                    let mut values = Vec::new();
                    match (&meaning.other, &meaning.table) {
                        (Some((embedder, question)), _) if *is_other => {
                            scan(question, block, &mut values);
                            values.iter_mut().for_each(|value| *value = embedder.like_table(*value));
                        }
                        (_, Some(question)) => scan(question, block, &mut values),
                        _ => {}
                    }
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
