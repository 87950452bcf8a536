//! A segment of vectors: the meaning of each passage that was said, as signed bytes.
//!
//! ```text
//! header: model length varint, model │ dimensions varint
//!         ranges varint │ per range: stream, after, through varint
//!         keys, as in a header of words │ per row: number of the passage varint
//!         blocks varint │ per block: its checksum 4
//! block:  up to 128 vectors, a byte for each dimension
//! ```
//! The index does not know what the bytes mean: vectors are comparable if the model and the dimensions are equal. The
//! ranges are the events from which the vectors were made, whether or not a passage of theirs has one, so that another
//! model can take the place of the whole segment. Blocks are not compressed: the bytes of a vector have little order.

use crate::storing::docs::DocKey;
use crate::storing::frame::{FrameKind, Framer, SegmentError, stored, unwrap};
use crate::storing::header::{MAX_DOCS, parse_keys, put_keys, take_len};
use crate::storing::segment::Segment;
use crate::storing::varint;
use std::ops::Range;

/// Number of vectors in a block: 32 KB of 256 dimensions.
const BLOCK_ROWS: usize = 128;
/// Maximum number of dimensions of a vector.
pub const MAX_DIMENSIONS: usize = 1 << 14;

/// A passage of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PassageKey {
    /// Key of the document.
    pub doc: DocKey,
    /// Number of the passage in the document: the rows that [`crate::SegmentBuilder`] makes of it, in order.
    pub part: u32,
}

/// Events of a stream after a position, up to and with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventRange {
    /// Number of the stream.
    pub stream: u32,
    /// Position before the first event.
    pub after: u64,
    /// Position of the last event.
    pub through: u64,
}

/// A decoded header of a segment of vectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorHeader {
    model: Box<str>,
    dimensions: usize,
    ranges: Vec<EventRange>,
    keys: Vec<PassageKey>,
    checksums: Vec<[u8; 4]>,
}

/// Collects the vectors of one model into a segment.
pub struct VectorBuilder {
    header: VectorHeader,
    bytes: Vec<u8>,
}

impl VectorBuilder {
    /// Creates an empty builder for vectors of a model, by its name, with a number of bytes each.
    #[must_use]
    pub fn new(model: &str, dimensions: usize) -> Self {
        let (ranges, keys, checksums) = (Vec::new(), Vec::new(), Vec::new());
        let header = VectorHeader { model: model.into(), dimensions, ranges, keys, checksums };
        Self { header, bytes: Vec::new() }
    }

    /// Adds a vector.
    ///
    /// # Errors
    /// Fails if the vector has another number of dimensions, or if the segment already has [`MAX_DOCS`] vectors.
    pub fn add(&mut self, key: PassageKey, vector: &[u8]) -> Result<(), SegmentError> {
        if vector.len() != self.header.dimensions {
            return Err(SegmentError::Malformed { what: "a vector has another number of dimensions" });
        }
        if self.header.keys.len() >= MAX_DOCS {
            return Err(SegmentError::Full { most: MAX_DOCS });
        }
        self.header.keys.push(key);
        self.bytes.extend_from_slice(vector);
        Ok(())
    }

    /// Adds vectors of a segment of the same model, by their documents.
    fn copy(
        &mut self,
        header: &VectorHeader,
        segment: &Segment,
        is_wanted: impl Fn(DocKey) -> bool,
    ) -> Result<(), SegmentError> {
        if segment.blocks.len() != header.checksums.len() {
            let what = "the number of blocks in a segment does not match the header";
            return Err(SegmentError::Malformed { what });
        }
        let mut keys = header.keys.iter();
        for (number, block) in segment.blocks.iter().enumerate() {
            let vectors = header.read(number, block)?;
            for (vector, key) in vectors.chunks(header.dimensions).zip(&mut keys) {
                if is_wanted(key.doc) {
                    self.add(*key, vector)?;
                }
            }
        }
        Ok(())
    }

    /// States that the vectors of a range of events were added.
    pub fn cover(&mut self, range: EventRange) {
        if range.after < range.through {
            self.header.ranges.push(range);
        }
    }

    /// Builds the segment.
    ///
    /// # Errors
    /// Returns [`SegmentError::Compressor`] if memory is short.
    pub fn finish(self) -> Result<Segment, SegmentError> {
        let Self { mut header, bytes } = self;
        header.ranges.sort_unstable();
        header.ranges.dedup_by(|later, kept| {
            let follows = later.stream == kept.stream && later.after <= kept.through;
            if follows {
                kept.through = kept.through.max(later.through);
            }
            follows
        });
        let rows = bytes.chunks(header.dimensions.max(1) * BLOCK_ROWS);
        let blocks: Vec<Vec<u8>> = rows.map(|rows| stored(FrameKind::Vectors, rows)).collect();
        let mut raw = Vec::with_capacity(header.keys.len() * 4);
        varint::put(header.model.len() as u64, &mut raw);
        raw.extend_from_slice(header.model.as_bytes());
        varint::put(header.dimensions as u64, &mut raw);
        varint::put(header.ranges.len() as u64, &mut raw);
        for EventRange { stream, after, through } in header.ranges {
            [u64::from(stream), after, through].into_iter().for_each(|value| varint::put(value, &mut raw));
        }
        put_keys(&header.keys.iter().map(|key| key.doc).collect::<Vec<_>>(), &mut raw);
        header.keys.iter().for_each(|key| varint::put(u64::from(key.part), &mut raw));
        varint::put(blocks.len() as u64, &mut raw);
        blocks.iter().for_each(|block| raw.extend_from_slice(&checksum(block)));
        Ok(Segment { header: Framer::new()?.wrap(FrameKind::VectorHeader, &raw)?, blocks })
    }
}

/// Returns the checksum that ends a frame.
fn checksum(frame: &[u8]) -> [u8; 4] {
    frame.last_chunk().copied().unwrap_or_default()
}

impl VectorHeader {
    /// Decodes a header.
    ///
    /// # Errors
    /// Fails if the bytes are damaged or were written by a later version.
    pub fn decode(bytes: &[u8]) -> Result<Self, SegmentError> {
        let raw = unwrap(FrameKind::VectorHeader, bytes)?;
        let what = "a header of vectors does not follow the format";
        Self::parse(&raw).ok_or(SegmentError::Malformed { what })
    }

    fn parse(raw: &[u8]) -> Option<Self> {
        let mut rest = raw;
        let len = take_len(&mut rest)?;
        let (model, after) = rest.split_at_checked(len)?;
        rest = after;
        let model = std::str::from_utf8(model).ok()?.into();
        let dimensions = usize::try_from(varint::take(&mut rest)?).ok();
        let dimensions = dimensions.filter(|dimensions| (1..=MAX_DIMENSIONS).contains(dimensions))?;
        let mut ranges = vec![EventRange { stream: 0, after: 0, through: 0 }; take_len(&mut rest)?];
        for range in &mut ranges {
            range.stream = varint::take_u32(&mut rest)?;
            range.after = varint::take(&mut rest)?;
            range.through = varint::take(&mut rest)?;
        }
        let docs = parse_keys(&mut rest)?;
        let mut keys = Vec::with_capacity(docs.len());
        for doc in docs {
            keys.push(PassageKey { doc, part: varint::take_u32(&mut rest)? });
        }
        let blocks = take_len(&mut rest)?;
        let (checksums, rest) = rest.as_chunks();
        let is_whole = checksums.len() == blocks && blocks == keys.len().div_ceil(BLOCK_ROWS);
        (is_whole && rest.is_empty()).then(|| Self {
            model,
            dimensions,
            ranges,
            keys,
            checksums: checksums.to_vec(),
        })
    }

    /// Returns the name of the model that made the vectors.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Returns the number of bytes of a vector.
    #[must_use]
    pub const fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Returns the events from which the vectors were made, by stream.
    #[must_use]
    pub fn ranges(&self) -> &[EventRange] {
        &self.ranges
    }

    /// Returns the passages, in the order of their vectors.
    #[must_use]
    pub fn keys(&self) -> &[PassageKey] {
        &self.keys
    }

    /// Returns the rows of each block, in order.
    pub fn blocks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let len = self.keys.len();
        (0..len).step_by(BLOCK_ROWS).map(move |from| from..len.min(from + BLOCK_ROWS))
    }

    /// Returns the vectors of a block, one after the other.
    ///
    /// # Errors
    /// Fails if the bytes are damaged, or are not those of this block.
    pub fn read(&self, block: usize, frame: &[u8]) -> Result<Vec<u8>, SegmentError> {
        let vectors = unwrap(FrameKind::Vectors, frame)?;
        let rows = self.blocks().nth(block).map_or(0, |rows| rows.len());
        if self.checksums.get(block) != Some(&checksum(frame)) || vectors.len() != rows * self.dimensions {
            let what = "a block of vectors does not match its header";
            return Err(SegmentError::Malformed { what });
        }
        Ok(vectors)
    }
}

/// Joins segments of vectors of one model, oldest first, into one, without the documents for which `removed` is true.
///
/// # Errors
/// Fails if an input is damaged or missing, if the models differ, or if the result would have more
/// than [`MAX_DOCS`] vectors.
pub fn join_vectors(segments: &[Segment], removed: impl Fn(DocKey) -> bool) -> Result<Segment, SegmentError> {
    let malformed = |what| SegmentError::Malformed { what };
    let mut joined: Option<VectorBuilder> = None;
    for segment in segments {
        let header = VectorHeader::decode(&segment.header)?;
        let own = || VectorBuilder::new(&header.model, header.dimensions);
        let builder = joined.get_or_insert_with(own);
        if (&builder.header.model, builder.header.dimensions) != (&header.model, header.dimensions) {
            return Err(malformed("vectors of different models are joined"));
        }
        header.ranges.iter().for_each(|range| builder.cover(*range));
        builder.copy(&header, segment, |doc| !removed(doc))?;
    }
    joined.ok_or(malformed("no vectors are joined"))?.finish()
}

/// Returns the part of a segment of vectors that was made from ranges of events.
///
/// # Errors
/// Fails if the segment is damaged.
pub fn part_of_vectors(segment: &Segment, ranges: &[EventRange]) -> Result<Segment, SegmentError> {
    let header = VectorHeader::decode(&segment.header)?;
    let mut sorted = ranges.to_vec();
    sorted.sort_unstable();
    let is_part = |doc: DocKey| {
        let after = sorted.partition_point(|range| (range.stream, range.after) < (doc.stream, doc.seq));
        let range = after.checked_sub(1).and_then(|at| sorted.get(at));
        range.is_some_and(|range| range.stream == doc.stream && doc.seq <= range.through)
    };
    let mut builder = VectorBuilder::new(&header.model, header.dimensions);
    ranges.iter().for_each(|range| builder.cover(*range));
    builder.copy(&header, segment, is_part)?;
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(stream: u32, seq: u64, part: u32) -> PassageKey {
        PassageKey { doc: DocKey { stream, seq }, part }
    }

    fn segment(model: &str, keys: &[PassageKey]) -> Segment {
        let mut builder = VectorBuilder::new(model, 3);
        for key in keys {
            builder.add(*key, &[key.doc.seq as u8, key.part as u8, 7]).unwrap();
            let seq = key.doc.seq;
            builder.cover(EventRange { stream: key.doc.stream, after: seq - 1, through: seq });
        }
        builder.finish().unwrap()
    }

    fn all(segment: &Segment) -> Vec<(PassageKey, Vec<u8>)> {
        let header = VectorHeader::decode(&segment.header).unwrap();
        let blocks = segment.blocks.iter().enumerate();
        let vectors = blocks.flat_map(|(number, block)| header.read(number, block).unwrap());
        let vectors: Vec<u8> = vectors.collect();
        header.keys().iter().copied().zip(vectors.chunks(3).map(<[u8]>::to_vec)).collect()
    }

    #[test]
    fn vectors_come_back_joined_and_without_what_is_removed() {
        let many: Vec<PassageKey> = (1..200).flat_map(|seq| [key(1, seq, 0), key(1, seq, 1)]).collect();
        let (a, b) = (segment("m", &many), segment("m", &[key(9, 4, 0), key(1, 200, 2)]));
        let joined = join_vectors(&[a.clone(), b.clone()], |doc| doc.seq == 4).unwrap();
        let expected: Vec<_> =
            all(&a).into_iter().chain(all(&b)).filter(|(key, _)| key.doc.seq != 4).collect();
        assert_eq!(all(&joined), expected);
        assert_eq!(expected.len(), 2 * 198 + 1);
        let header = VectorHeader::decode(&joined.header).unwrap();
        let range = |stream, after, through| EventRange { stream, after, through };
        assert_eq!(header.ranges(), [range(1, 0, 200), range(9, 3, 4)], "what is removed stays covered");
        assert_eq!((header.model(), header.dimensions(), header.blocks().count()), ("m", 3, 4));
        let nothing = join_vectors(std::slice::from_ref(&b), |_| true).unwrap();
        assert_eq!(all(&nothing), []);
        assert!(join_vectors(&[b, segment("other", &[])], |_| false).is_err());
    }

    #[test]
    fn parts_of_a_segment_hold_all_of_it() {
        let range = |stream, after, through| EventRange { stream, after, through };
        let many: Vec<PassageKey> = (1..200).flat_map(|seq| [key(1, seq, 0), key(2, seq, 1)]).collect();
        let whole = segment("m", &many);
        let ranges = [vec![range(1, 0, 70)], vec![range(1, 70, 199), range(2, 0, 9)], vec![range(2, 9, 199)]];
        let parts = ranges.each_ref().map(|ranges| part_of_vectors(&whole, ranges).unwrap());
        for (part, ranges) in parts.iter().zip(&ranges) {
            assert_eq!(VectorHeader::decode(&part.header).unwrap().ranges(), ranges);
        }
        assert_eq!(all(&parts[1]).len(), 129 + 9);
        let again = join_vectors(&parts, |_| false).unwrap();
        let sorted = |segment: &Segment| {
            let mut all = all(segment);
            all.sort();
            all
        };
        assert_eq!(sorted(&again), sorted(&whole));
        let headers = [&again, &whole].map(|segment| VectorHeader::decode(&segment.header).unwrap());
        assert_eq!(headers[0].ranges(), headers[1].ranges());
    }

    #[test]
    fn what_is_damaged_is_found() {
        let many: Vec<PassageKey> = (1..200).map(|seq| key(1, seq, 0)).collect();
        let whole = segment("m", &many);
        assert!(join_vectors(std::slice::from_ref(&whole), |_| false).is_ok());
        let mut swapped = whole.clone();
        swapped.blocks.swap(0, 1);
        let mut missing = whole.clone();
        missing.blocks.pop();
        for damaged in [swapped, missing] {
            assert!(join_vectors(&[damaged], |_| false).is_err());
        }
        for at in 0..whole.header.len() {
            let mut header = whole.header.clone();
            header[at] ^= 1;
            assert!(VectorHeader::decode(&header).is_err(), "byte {at}");
        }
        let mut builder = VectorBuilder::new("m", 3);
        assert!(builder.add(key(1, 1, 0), &[1, 2]).is_err());
    }
}
