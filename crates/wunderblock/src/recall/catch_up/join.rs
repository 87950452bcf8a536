//! Joins segments of the index as their number grows.
//!
//! Several threads join ranges of terms. Memory holds the blocks of the ranges in progress, and the part that is
//! already joined.

use super::extent::Extent;
use super::pack::{self, packed_vectors, packed_words};
use crate::base::error::Error;
use crate::base::parallel::{self, Pool};
use crate::ledger::engine::Engine;
use crate::ledger::reading::query_batch::QueryBatch;
use std::collections::VecDeque;
use std::sync::Arc;
use wunderblock_index::{Header, MergeJob, MergePlan, Segment, SegmentMeta, TermRange, join_vectors};
use wunderblock_store::{
    Answer, Commit, DerivedTable, Epoch, PackedSegment, Query, SegmentId, SegmentInfo, StoreError, Write,
};

/// Number of index blocks per range of terms: about 800 KB.
const RANGE_BLOCKS: usize = 128;
/// Maximum number of bytes of segments that a search joins in one go: a few hundredths of a second of work.
const SEARCH_JOIN: u64 = 1 << 20;

pub(super) async fn join_segments(engine: &Engine, extent: Extent) -> Result<(), Error> {
    for table in [DerivedTable::Words, DerivedTable::Vectors] {
        if extent.tables.contains(&table) {
            join_segments_of(engine, table, extent).await?;
        }
    }
    Ok(())
}

async fn join_segments_of(engine: &Engine, table: DerivedTable, extent: Extent) -> Result<(), Error> {
    loop {
        let (infos, epoch) = segment_infos(engine, table).await?;
        let metas: Vec<SegmentMeta> = infos
            .iter()
            .map(|info| SegmentMeta {
                id: info.id,
                docs: usize::try_from(info.docs).unwrap_or(usize::MAX),
                bytes: usize::try_from(info.bytes.0).unwrap_or(usize::MAX),
            })
            .collect();
        let mut joined = false;
        for MergeJob { ids } in pack::joins(table, &infos, &metas) {
            let parts: Vec<&SegmentInfo> = infos.iter().filter(|info| ids.contains(&info.id)).collect();
            let bytes: u64 = parts.iter().map(|info| info.bytes.0).sum();
            // A search joins only small segments, because a person waits for it.
            if extent.until.is_some() && (extent.is_over(|| engine.now()) || bytes > SEARCH_JOIN) {
                return Ok(());
            }
            let joined_parts = match table {
                DerivedTable::Vectors => join_vector_parts(engine, &parts).await?,
                _ => join_parts(engine, &parts).await?.map(packed_words).transpose()?,
            };
            if let Some(segment) = joined_parts {
                // The joined segment must not undo an erasure made since the read, so the epoch is compared.
                let replaces = parts.iter().map(|info| info.segment()).collect();
                let write = segment_write(engine, table, Some(segment), replaces);
                if !commit_segments(engine, vec![write], epoch).await? {
                    break;
                }
                joined = true;
            }
        }
        // If another process was faster, the next caller examines its segments.
        if !joined {
            return Ok(());
        }
    }
}

/// Returns all segments, oldest first, and the epoch they belong to.
pub(super) async fn segment_infos(
    engine: &Engine,
    table: DerivedTable,
) -> Result<(Vec<SegmentInfo>, Epoch), Error> {
    let mut batch = QueryBatch::default();
    let infos = batch.ask(Query::Segments { tenant: engine.tenant.no, table }, Answer::segments);
    let epoch = batch.ask(Query::Epoch { tenant: engine.tenant.no }, Answer::epoch);
    let mut answers = engine.ask_all(batch).await?;
    let mut infos = answers.take(infos)?;
    infos.reverse();
    Ok((infos, answers.take(epoch)?))
}

/// Joins segments into one. Returns `None` if another process has changed the segments in the meantime.
async fn join_parts(engine: &Engine, parts: &[&SegmentInfo]) -> Result<Option<Segment>, Error> {
    let headers: Result<Vec<Header>, _> = parts.iter().map(|info| Header::decode(&info.header)).collect();
    let plan = Arc::new(MergePlan::new(headers?, |_| true)?);
    let work = {
        let plan = Arc::clone(&plan);
        move |(range, blocks): (TermRange, Vec<Vec<Vec<u8>>>)| Ok(plan.part(&range, &blocks)?)
    };
    let ranges = plan.ranges(RANGE_BLOCKS);
    let pool = Pool::new(parallel::workers().min(ranges.len()), work)?;
    let (mut waiting, mut done) = (VecDeque::new(), Vec::with_capacity(ranges.len()));
    for range in ranges {
        if waiting.len() > parallel::workers()
            && let Some(oldest) = waiting.pop_front()
        {
            done.push(oldest.await?);
        }
        let Some(blocks) = wanted_blocks(engine, parts, &plan, &range).await? else { return Ok(None) };
        waiting.push_back(Box::pin(pool.give((range, blocks))));
    }
    for oldest in waiting {
        done.push(oldest.await?);
    }
    Ok(Some(plan.finish(done)?))
}

/// Returns the blocks of a range, by segment.
async fn wanted_blocks(
    engine: &Engine,
    parts: &[&SegmentInfo],
    plan: &MergePlan,
    range: &TermRange,
) -> Result<Option<Vec<Vec<Vec<u8>>>>, Error> {
    let numbers = plan.wanted(range);
    let of = |(info, numbers): (&&SegmentInfo, &std::ops::Range<u32>)| {
        let id = info.id;
        numbers.clone().map(move |number| (id, number)).collect::<Vec<_>>()
    };
    let wanted = parts.iter().zip(&numbers).flat_map(of).collect();
    let query = Query::Blocks { tenant: engine.tenant.no, wanted };
    let blocks = engine.ask(query, Answer::blocks).await?;
    let mut blocks = blocks.into_iter();
    Ok(numbers.iter().map(|numbers| blocks.by_ref().take(numbers.len()).collect()).collect())
}

/// Reads a whole segment.
pub(crate) async fn read_segment(engine: &Engine, id: u64, header: Vec<u8>) -> Result<Segment, Error> {
    let query = Query::SegmentBlocks { tenant: engine.tenant.no, segment: id };
    let blocks = engine.ask(query, Answer::blocks).await?;
    Ok(Segment { header, blocks: blocks.into_iter().flatten().collect() })
}

/// Returns the write that stores a segment in place of others.
pub(super) fn segment_write(
    engine: &Engine,
    table: DerivedTable,
    segment: Option<PackedSegment>,
    replaces: Vec<SegmentId>,
) -> Write {
    Write::Segment { tenant: engine.tenant.no, table, segment, replaces, reaches: Vec::new() }
}

/// Stores segments, unless some that they replace were replaced or content was erased since the epoch.
pub(super) async fn commit_segments(
    engine: &Engine,
    writes: Vec<Write>,
    epoch: Epoch,
) -> Result<bool, Error> {
    match engine.storage.commit(Commit::derived(epoch, writes)).await {
        Ok(_) => Ok(true),
        Err(StoreError::HeadMoved { .. } | StoreError::EpochMoved { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Joins segments of vectors into one. Returns `None` if another process has changed the segments in the meantime.
async fn join_vector_parts(engine: &Engine, parts: &[&SegmentInfo]) -> Result<Option<PackedSegment>, Error> {
    let mut segments = Vec::with_capacity(parts.len());
    for info in parts {
        segments.push(read_segment(engine, info.id, info.header.clone()).await?);
    }
    // The blocks that another process has just replaced do not match their headers.
    join_vectors(&segments, |_| false).ok().map(packed_vectors).transpose()
}
