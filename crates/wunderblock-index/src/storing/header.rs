//! Header of a segment: its documents, and the first term of each block.
//!
//! ```text
//! documents varint
//! runs of one stream varint │ per run: stream varint, documents varint
//! per document: position, zigzag varint: as itself for the first of a run, else against one past the document before
//! per document: length in terms varint
//! blocks varint │ per block: length of its first term 1, the first term
//! ```

use crate::storing::frame::{FrameKind, Framer, SegmentError, unwrap};
use crate::storing::varint;
use crate::storing::words::MAX_TERM_BYTES;

/// Maximum number of documents in a segment.
pub const MAX_DOCS: usize = 1 << 20;

/// Identifies a document by the store's number for its stream and by the document's position in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocKey {
    /// Number of the stream.
    pub stream: u32,
    /// Position in the stream.
    pub seq: u64,
}

/// A document of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Doc {
    pub(crate) seq: u64,
    pub(crate) stream: u32,
    /// Length of the document in terms.
    pub(crate) len: u32,
}

impl Doc {
    pub(crate) const fn key(self) -> DocKey {
        DocKey { stream: self.stream, seq: self.seq }
    }
}

/// Summary of one stream's documents in a segment. If a scope contains all or none of a stream's documents, they do
/// not have to be checked individually.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamSpan {
    pub(crate) stream: u32,
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) docs: u64,
    pub(crate) terms: u64,
}

/// Documents of a segment, oldest first, with sums by stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Docs {
    pub(crate) all: Vec<Doc>,
    /// Summaries of the streams, ordered by stream.
    pub(crate) spans: Vec<StreamSpan>,
}

impl Docs {
    pub(crate) fn new(all: Vec<Doc>) -> Self {
        let mut spans: Vec<StreamSpan> = Vec::new();
        for doc in &all {
            let one = StreamSpan {
                stream: doc.stream,
                first: doc.seq,
                last: doc.seq,
                docs: 1,
                terms: u64::from(doc.len),
            };
            match spans.last_mut() {
                Some(span) if span.stream == doc.stream => span.join(&one),
                _ => spans.push(one),
            }
        }
        spans.sort_by_key(|span| span.stream);
        spans.dedup_by(|later, kept| {
            let same = later.stream == kept.stream;
            if same {
                kept.join(later);
            }
            same
        });
        Self { all, spans }
    }
}

impl StreamSpan {
    fn join(&mut self, other: &Self) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.docs += other.docs;
        self.terms += other.terms;
    }
}

/// A decoded header. Callers should keep the header in memory: it takes up 16 bytes per document, and one term per 16
/// KB of index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub(crate) docs: Docs,
    pub(crate) first_terms: Vec<Box<[u8]>>,
}

impl Header {
    /// Decodes a header.
    ///
    /// # Errors
    /// Fails if the bytes are damaged or were written by a later version.
    pub fn decode(bytes: &[u8]) -> Result<Self, SegmentError> {
        let raw = unwrap(FrameKind::Header, bytes)?;
        let malformed = SegmentError::Malformed { what: "a segment's header does not follow the format" };
        parse(&raw).ok_or(malformed)
    }

    /// Returns the number of documents in the segment.
    #[must_use]
    pub fn len(&self) -> usize {
        self.docs.all.len()
    }

    /// Returns whether the segment has no documents. A segment becomes empty if all its documents are removed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.docs.all.is_empty()
    }

    /// Returns the documents, oldest first.
    pub fn docs(&self) -> impl DoubleEndedIterator<Item = DocKey> + '_ {
        self.docs.all.iter().map(|doc| doc.key())
    }

    /// Returns the first and last position of each stream in this segment: `(stream, first, last)`, ordered by
    /// stream.
    pub fn streams(&self) -> impl Iterator<Item = (u32, u64, u64)> + '_ {
        self.docs.spans.iter().map(|span| (span.stream, span.first, span.last))
    }

    /// Returns the number of blocks in the segment.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.first_terms.len()
    }

    /// Returns the only block that can contain a term; `None` if the term precedes all blocks.
    #[must_use]
    pub fn block_of(&self, term: &[u8]) -> Option<u32> {
        let after = self.first_terms.partition_point(|first| &**first <= term);
        after.checked_sub(1).and_then(|block| u32::try_from(block).ok())
    }
}

/// Encodes a header.
pub(crate) fn encode(
    docs: &[Doc],
    first_terms: &[Box<[u8]>],
    framer: &mut Framer,
) -> Result<Vec<u8>, SegmentError> {
    let mut raw = Vec::with_capacity(docs.len() * 4 + first_terms.len() * 16);
    let runs: Vec<&[Doc]> = docs.chunk_by(|a, b| a.stream == b.stream).collect();
    varint::put(docs.len() as u64, &mut raw);
    varint::put(runs.len() as u64, &mut raw);
    for run in &runs {
        varint::put(run.first().map_or(0, |doc| u64::from(doc.stream)), &mut raw);
        varint::put(run.len() as u64, &mut raw);
    }
    for run in &runs {
        let mut expected = 0u64;
        for doc in *run {
            varint::put(varint::zigzag(doc.seq.wrapping_sub(expected).cast_signed()), &mut raw);
            expected = doc.seq.wrapping_add(1);
        }
    }
    for doc in docs {
        varint::put(u64::from(doc.len), &mut raw);
    }
    varint::put(first_terms.len() as u64, &mut raw);
    for term in first_terms {
        raw.push(term.len() as u8);
        raw.extend_from_slice(term);
    }
    framer.wrap(FrameKind::Header, &raw)
}

fn parse(raw: &[u8]) -> Option<Header> {
    let mut rest = raw;
    // No length may exceed the number of remaining bytes, which bounds the allocations below.
    let take_len =
        |rest: &mut &[u8]| usize::try_from(varint::take(rest)?).ok().filter(|len| *len <= rest.len());
    let n = take_len(&mut rest).filter(|n| *n <= MAX_DOCS)?;
    let runs = take_len(&mut rest)?;
    let mut docs: Vec<Doc> = Vec::with_capacity(n);
    let mut starts = vec![false; n];
    for _ in 0..runs {
        let stream = varint::take_u32(&mut rest)?;
        let len = usize::try_from(varint::take(&mut rest)?).ok().filter(|len| *len > 0)?;
        *starts.get_mut(docs.len())? = true;
        let end = docs.len().checked_add(len).filter(|end| *end <= n)?;
        docs.resize(end, Doc { seq: 0, stream, len: 0 });
    }
    if docs.len() != n {
        return None;
    }
    let mut expected = 0u64;
    for (doc, starts) in docs.iter_mut().zip(starts) {
        expected = if starts { 0 } else { expected };
        doc.seq = expected.wrapping_add(varint::unzigzag(varint::take(&mut rest)?).cast_unsigned());
        expected = doc.seq.wrapping_add(1);
    }
    for doc in &mut docs {
        doc.len = varint::take_u32(&mut rest)?;
    }
    let blocks = take_len(&mut rest)?;
    let mut first_terms: Vec<Box<[u8]>> = Vec::with_capacity(blocks);
    for _ in 0..blocks {
        let (&len, tail) = rest.split_first()?;
        let (term, tail) = tail.split_at_checked(usize::from(len))?;
        let follows = first_terms.last().is_none_or(|before| &**before < term);
        if !follows || !(1..=MAX_TERM_BYTES).contains(&term.len()) {
            return None;
        }
        first_terms.push(term.into());
        rest = tail;
    }
    rest.is_empty().then(|| Header { docs: Docs::new(docs), first_terms })
}
