//! Segments of words and of vectors in the form in which they are stored, and which of them belong together.

use crate::base::error::Error;
use std::collections::BTreeMap;
use wunderblock_index::{Header, MergeJob, Segment, SegmentMeta, VectorHeader, propose_merges};
use wunderblock_store::{DerivedTable, PackedSegment, SegmentInfo};

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

/// Returns the joins of segments that should be made. Vectors are joined with those of the same model, and a damaged
/// segment of them with none.
pub(super) fn joins(table: DerivedTable, infos: &[SegmentInfo], metas: &[SegmentMeta]) -> Vec<MergeJob> {
    if table != DerivedTable::Vectors {
        return propose_merges(metas);
    }
    let mut models = BTreeMap::<_, Vec<SegmentMeta>>::new();
    for (info, meta) in infos.iter().zip(metas) {
        let Ok(header) = VectorHeader::decode(&info.header) else { continue };
        models.entry((header.model().to_owned(), header.dimensions())).or_default().push(*meta);
    }
    models.values().flat_map(|of_model| propose_merges(of_model)).collect()
}
