//! Decides when segments are joined: a pure function over their sizes, similar to tantivy's `MergePolicy`. The
//! function uses only metadata and returns proposals, which callers carry out.
//!
//! A segment of fewer than 16 documents is on level 0; the segments on each higher level hold four times as many
//! documents as those on the level below. Four neighbouring segments of one level, together with smaller segments
//! between and after them, become one segment of a higher level. Only neighbours are joined, so the order of segments
//! remains the order of documents.
//!
//! As a result, at most three segments remain on a level. A document is written once when it arrives, and at most
//! once for each level that it rises: `log4` of the number of documents divided by the batch size. For up to a
//! million documents:
//!
//! | documents in a batch | most segments at rest | writes of a document |
//! |---|---|---|
//! | 4,096 | 34 | 3.0 |
//! | 1,024 | 37 | 4.0 |
//! | 250 | 38 | 4.9 |
//! | 16 | 23 | 7.6 |
//!
//! Segments of more than half of the maximum size, or a quarter of the maximum number of documents, are no longer
//! joined. Batches of fewer than 16 documents are rewritten on level 0, up to six more times. Callers should therefore
//! collect documents first; documents that are not indexed yet are still found ([`crate::searching::tail`]).

use crate::storing::header::MAX_DOCS;

/// Number of documents below which a segment is on the lowest level.
const SMALL: usize = 16;
/// Number of segments on one level that are joined into one segment on the next level.
const FANOUT: usize = 4;
/// Maximum size of a joined segment in bytes. A join keeps its result in memory until it is stored: with 32 MB, it is
/// what an import takes most memory for.
const MAX_BYTES: usize = 16 << 20;

/// Metadata of a segment that the policy uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentMeta {
    /// Number of the segment in the store.
    pub id: u64,
    /// Number of documents.
    pub docs: usize,
    /// Size in bytes.
    pub bytes: usize,
}

/// Neighbouring segments to be replaced by a single one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeJob {
    /// Numbers of the segments, oldest first.
    pub ids: Vec<u64>,
}

/// Returns the joins that should be carried out on the given segments, which are ordered oldest first. The jobs do
/// not overlap. A join may make further joins worthwhile: repeat until the result is empty.
#[must_use]
pub fn propose_merges(segments: &[SegmentMeta]) -> Vec<MergeJob> {
    let mut jobs = Vec::new();
    for run in segments.split(is_full) {
        let levels = run.iter().map(|segment| level(segment.docs)).max().map_or(0, |top| top + 1);
        let found = (0..levels).find_map(|level| {
            let jobs: Vec<MergeJob> =
                run.split(|s| self::level(s.docs) > level).flat_map(|r| join(r, level)).collect();
            (!jobs.is_empty()).then_some(jobs)
        });
        jobs.extend(found.into_iter().flatten());
    }
    jobs
}

/// Returns the jobs for a run of neighbours at or below `level`.
fn join(run: &[SegmentMeta], level: u32) -> Vec<MergeJob> {
    let mut jobs = Vec::new();
    let mut rest = run;
    while !rest.is_empty() {
        let (mut docs, mut bytes) = (0usize, 0usize);
        let fits = |segment: &&SegmentMeta| {
            docs = docs.saturating_add(segment.docs);
            bytes = bytes.saturating_add(segment.bytes);
            docs <= MAX_DOCS && bytes <= MAX_BYTES
        };
        let taken = rest.iter().take_while(fits).count().max(1);
        let Some((group, tail)) = rest.split_at_checked(taken) else { break };
        let peers = group.iter().filter(|segment| self::level(segment.docs) == level).count();
        // A group that was closed because of its size becomes a full segment, so repeated calls end.
        if peers >= FANOUT || (group.len() > 1 && !tail.is_empty()) {
            jobs.push(MergeJob { ids: group.iter().map(|segment| segment.id).collect() });
        }
        rest = tail;
    }
    jobs
}

fn is_full(segment: &SegmentMeta) -> bool {
    segment.docs > MAX_DOCS / FANOUT || segment.bytes > MAX_BYTES / 2
}

fn level(docs: usize) -> u32 {
    (docs / SMALL).checked_ilog(FANOUT).map_or(0, |power| power + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds batches and carries out every proposal. Returns the remaining segments, the maximum number of segments at
    /// rest, and the average number of times a document was written, multiplied by 100.
    fn simulate(batches: usize, docs: usize, bytes_per_doc: usize) -> (Vec<SegmentMeta>, usize, usize) {
        let (mut segments, mut most, mut written, mut next) = (Vec::new(), 0, 0, 0);
        for _ in 0..batches {
            segments.push(SegmentMeta { id: next, docs, bytes: docs * bytes_per_doc });
            next += 1;
            written += docs;
            loop {
                let jobs = propose_merges(&segments);
                if jobs.is_empty() {
                    break;
                }
                for job in jobs {
                    let at = segments.iter().position(|s| s.id == job.ids[0]).unwrap();
                    let old: Vec<_> = segments.drain(at..at + job.ids.len()).collect();
                    assert_eq!(
                        old.iter().map(|s| s.id).collect::<Vec<_>>(),
                        job.ids,
                        "neighbours, oldest first"
                    );
                    assert!(job.ids.len() > 1);
                    let (docs, bytes) = (old.iter().map(|s| s.docs).sum(), old.iter().map(|s| s.bytes).sum());
                    assert!(docs <= MAX_DOCS && bytes <= MAX_BYTES);
                    segments.insert(at, SegmentMeta { id: next, docs, bytes });
                    next += 1;
                    written += docs;
                }
            }
            most = most.max(segments.len());
        }
        (segments, most, written * 100 / (batches * docs))
    }

    #[test]
    fn few_segments_and_few_rewrites() {
        // Number of batches, documents per batch and index bytes per document, followed by the maximum number of
        // segments and the writes per document × 100.
        for ((batches, docs, bytes), expected) in [
            ((25, 4096, 500), (6, 292)),
            ((1_000, 1024, 500), (37, 398)),
            ((250, 4096, 500), (34, 298)),
            ((4_000, 250, 500), (38, 485)),
            ((60_000, 16, 100), (23, 756)),
            ((20_000, 5, 500), (21, 678)),
        ] {
            let (segments, most, writes) = simulate(batches, docs, bytes);
            assert_eq!(segments.iter().map(|s| s.docs).sum::<usize>(), batches * docs);
            assert_eq!((most, writes), expected, "{batches} × {docs}");
        }
    }

    #[test]
    fn a_thousand_small_segments_become_one_at_once() {
        let segments: Vec<_> = (0..1000).map(|id| SegmentMeta { id, docs: 1, bytes: 100 }).collect();
        assert_eq!(propose_merges(&segments), [MergeJob { ids: (0..1000).collect() }]);
        assert_eq!(propose_merges(&segments[..3]), []);
        assert_eq!(propose_merges(&[]), []);
    }

    proptest::proptest! {
        #[test]
        fn it_always_comes_to_rest(sizes in proptest::collection::vec((0usize..400_000, 0usize..90_000_000), 0..60)) {
            let mut segments: Vec<_> = (0..).zip(&sizes).map(|(id, (docs, bytes))| SegmentMeta { id, docs: *docs, bytes: *bytes }).collect();
            for _ in 0..sizes.len() {
                for job in propose_merges(&segments) {
                    let at = segments.iter().position(|s| s.id == job.ids[0]).unwrap();
                    let old: Vec<_> = segments.drain(at..at + job.ids.len()).collect();
                    let (docs, bytes) = (old.iter().map(|s| s.docs).sum(), old.iter().map(|s| s.bytes).sum());
                    segments.insert(at, SegmentMeta { id: old[0].id, docs, bytes });
                }
            }
            assert_eq!(propose_merges(&segments), []);
        }
    }
}
