//! Segments of words and of vectors in the form in which they are stored, and which of them belong together.

use crate::base::error::Error;
use wunderblock_embed::{DIMENSIONS, Table};
use wunderblock_index::{
    EventRange, Header, MergeJob, Segment, SegmentMeta, VectorBuilder, VectorHeader, propose_merges,
};
use wunderblock_store::{DerivedTable, PackedSegment, SegmentInfo, SegmentReach};

/// Returns a segment of words in its stored form.
pub(crate) fn packed_words(segment: Segment) -> Result<PackedSegment, Error> {
    let docs = Header::decode(&segment.header)?.len() as u64;
    Ok(PackedSegment { docs, header: segment.header, blocks: segment.blocks })
}

/// Returns a segment of vectors in its stored form.
pub(crate) fn packed_vectors(segment: Segment) -> Result<PackedSegment, Error> {
    let docs = VectorHeader::decode(&segment.header)?.keys().len() as u64;
    Ok(PackedSegment { docs, header: segment.header, blocks: segment.blocks })
}

/// Builds the segment of the vectors that were made of ranges of events.
pub(super) fn finish_vectors(
    mut vectors: VectorBuilder,
    reaches: &[SegmentReach],
) -> Result<PackedSegment, Error> {
    for SegmentReach { stream, after, through } in reaches {
        vectors.cover(EventRange { stream: stream.0, after: after.0, through: through.0 });
    }
    packed_vectors(vectors.finish()?)
}

/// Returns whether the vectors of a segment are comparable with those that this program makes.
pub(crate) fn is_current(header: &VectorHeader) -> bool {
    header.model() == Table::embedded().model() && header.dimensions() == DIMENSIONS
}

/// Returns the joins of segments that should be made. Vectors are joined with those of the same model, and a damaged
/// segment of them with none.
pub(super) fn joins(table: DerivedTable, infos: &[SegmentInfo], metas: &[SegmentMeta]) -> Vec<MergeJob> {
    if table != DerivedTable::Vectors {
        return propose_merges(metas);
    }
    let models = infos.iter().map(|info| {
        let header = VectorHeader::decode(&info.header).ok()?;
        Some((header.model().to_owned(), header.dimensions()))
    });
    let known: Vec<_> = models.zip(metas.iter().copied()).collect();
    let runs = known.chunk_by(|(a, _), (b, _)| a == b && a.is_some());
    runs.flat_map(|run| propose_merges(&run.iter().map(|(_, meta)| *meta).collect::<Vec<_>>())).collect()
}
