//! Vectors of passages, as a derived table: segments are finished and joined here, and those of another model are made
//! again.
//!
//! A segment knows its model, and the events from which it was made. Vectors of another model are not comparable with
//! those of a question, so a search passes over them; they are replaced one segment at a time, by one that covers the
//! same events.

use super::batch::{Batch, load_bodies, read_batch};
use super::extent::Extent;
use super::join::{read_segment, segment_infos, swap_segments};
use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::session::PageLimit;
use std::collections::HashMap;
use wunderblock_core::units::Seq;
use wunderblock_embed::{DIMENSIONS, Table};
use wunderblock_index::{
    EventRange, MergeJob, Segment, SegmentMeta, VectorBuilder, VectorHeader, join_vectors, propose_merges,
};
use wunderblock_store::{
    Answer, DerivedTable, PackedSegment, Query, SegmentInfo, SegmentReach, StreamInfo, StreamNo,
};

const VECTORS: DerivedTable = DerivedTable::Vectors;

/// Returns whether the vectors of a segment are comparable with those that this program makes.
pub(crate) fn is_current(header: &VectorHeader) -> bool {
    header.model() == Table::embedded().model() && header.dimensions() == DIMENSIONS
}

/// Builds the segment of the vectors that were made of ranges of events.
pub(super) fn finish(mut vectors: VectorBuilder, reaches: &[SegmentReach]) -> Result<PackedSegment, Error> {
    for SegmentReach { stream, after, through } in reaches {
        vectors.cover(EventRange { stream: stream.0, after: after.0, through: through.0 });
    }
    packed_vectors(vectors.finish()?)
}

/// Returns a segment of vectors in its stored form.
pub(crate) fn packed_vectors(segment: Segment) -> Result<PackedSegment, Error> {
    let docs = VectorHeader::decode(&segment.header)?.keys().len() as u64;
    Ok(PackedSegment { docs, header: segment.header, blocks: segment.blocks })
}

/// Returns the joins of neighbours with the same model. A damaged segment is joined with none.
pub(super) fn joins(infos: &[SegmentInfo], metas: &[SegmentMeta]) -> Vec<MergeJob> {
    let models = infos.iter().map(|info| {
        let header = VectorHeader::decode(&info.header).ok()?;
        Some((header.model().to_owned(), header.dimensions()))
    });
    let known: Vec<_> = models.zip(metas.iter().copied()).collect();
    let runs = known.chunk_by(|(a, _), (b, _)| a == b && a.is_some());
    runs.flat_map(|run| propose_merges(&run.iter().map(|(_, meta)| *meta).collect::<Vec<_>>())).collect()
}

/// Joins segments into one. Returns `None` if another process has changed the segments in the meantime.
pub(super) async fn join_parts(
    engine: &Engine,
    parts: &[&SegmentInfo],
) -> Result<Option<PackedSegment>, Error> {
    let mut segments = Vec::with_capacity(parts.len());
    for info in parts {
        segments.push(read_segment(engine, info.id, info.header.clone()).await?);
    }
    // The blocks that another process has just replaced do not match their headers.
    join_vectors(&segments, |_| false).ok().map(packed_vectors).transpose()
}

/// Makes the vectors of other models again. Nothing is deleted until the new vectors cover the same events.
pub(super) async fn renew(engine: &Engine, extent: Extent) -> Result<(), Error> {
    if !extent.tables.contains(&VECTORS) || extent.until.is_some() {
        return Ok(());
    }
    let (infos, epoch) = segment_infos(engine, VECTORS).await?;
    for info in infos {
        let Some(header) = VectorHeader::decode(&info.header).ok().filter(|header| !is_current(header))
        else {
            continue;
        };
        let Some(segment) = made_again(engine, &header).await? else { continue };
        if !swap_segments(engine, VECTORS, segment, vec![info.segment()], epoch).await? {
            break;
        }
    }
    Ok(())
}

/// Returns the segment of this program's vectors for the events of another. `None` if a stream of it is missing.
async fn made_again(engine: &Engine, header: &VectorHeader) -> Result<Option<PackedSegment>, Error> {
    let tenant = engine.tenant.no;
    let numbers = header.ranges().iter().map(|range| StreamNo(range.stream)).collect();
    let streams = engine.ask(Query::StreamsByNo { tenant, streams: numbers }, Answer::streams).await?;
    let streams: HashMap<u32, StreamInfo> = streams.into_iter().map(|info| (info.no.0, info)).collect();
    let mut parts = Vec::new();
    for range in header.ranges() {
        let Some(mut info) = streams.get(&range.stream).cloned() else { return Ok(None) };
        let mut after = Seq(range.after);
        while after.0 < range.through {
            info.frontiers.set(VECTORS, after);
            let room = Extent::ALL.room(range.through - after.0);
            let events = room.events.min(range.through - after.0);
            let mut batch = Batch::new(PageLimit { events, ..room });
            let Some(last) = read_batch(engine, &mut batch, &info, after.next()).await? else { break };
            let (redactor, key) = (&engine.config.redactor, &engine.tenant.key);
            let done = load_bodies(engine, batch).await?.work(redactor, key, &[VECTORS])?;
            let made = done.segments.into_iter().filter_map(|(_, segment, _)| segment);
            parts.extend(made.map(|PackedSegment { header, blocks, .. }| Segment { header, blocks }));
            after = last;
        }
    }
    if parts.is_empty() {
        return Ok(None);
    }
    Ok(Some(packed_vectors(join_vectors(&parts, |_| false)?)?))
}
