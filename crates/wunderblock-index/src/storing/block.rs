//! Blocks of about 16 KB that hold terms with their postings. A look-up reads one block.
//!
//! Terms are sorted and front-coded. Values of one kind are stored together, because zstd compresses them better that
//! way:
//!
//! ```text
//! n varint │ n × bytes shared with the previous term │ n × own bytes │ the own bytes
//! │ n × length of the postings in bytes varint │ n × postings
//! ```
//! In versions 1 and 2, the number of documents of each term is in the place of the length, so the postings of all terms
//! must be read to find those of one.

use crate::storing::frame::{FrameKind, SegmentError, unwrap, version};
use crate::storing::postings::{self, Postings};
use crate::storing::varint;
use crate::words::MAX_TERM_BYTES;
use memchr::memmem::Finder;
use std::ops::Range;

/// Uncompressed size in bytes at which a block ends. A term's postings are never split, so a block with a frequent
/// term may be larger.
pub(crate) const BLOCK_BYTES: usize = 16 << 10;

/// Columns of a block under construction.
#[derive(Default)]
pub(crate) struct Columns {
    shared: Vec<u8>,
    own: Vec<u8>,
    text: Vec<u8>,
    lens: Vec<u8>,
    postings: Vec<u8>,
    first: Vec<u8>,
    last: Vec<u8>,
}

impl Columns {
    pub(crate) fn is_empty(&self) -> bool {
        self.shared.is_empty()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.shared.len() * 2 + self.text.len() + self.lens.len() + self.postings.len()
    }

    /// Appends a term. Terms must be in ascending order.
    pub(crate) fn push(&mut self, term: &[u8], postings: &Postings) {
        let shared = if self.is_empty() {
            self.first.extend_from_slice(term);
            0
        } else {
            self.last.iter().zip(term).take_while(|(a, b)| a == b).count()
        };
        let own = term.get(shared..).unwrap_or_default();
        self.shared.push(shared as u8);
        self.own.push(own.len() as u8);
        self.text.extend_from_slice(own);
        varint::put(postings.bytes.len() as u64, &mut self.lens);
        self.postings.extend_from_slice(&postings.bytes);
        self.last.truncate(shared);
        self.last.extend_from_slice(own);
    }

    /// Returns the block's first term and its bytes, and empties the columns.
    pub(crate) fn finish(&mut self) -> (Vec<u8>, Vec<u8>) {
        let mut raw = Vec::with_capacity(self.bytes() + 8);
        varint::put(self.shared.len() as u64, &mut raw);
        for column in [&mut self.shared, &mut self.own, &mut self.text, &mut self.lens, &mut self.postings] {
            raw.append(column);
        }
        self.last.clear();
        (std::mem::take(&mut self.first), raw)
    }
}

/// Terms of a decoded block. Their postings are found on demand.
#[derive(Debug)]
pub(crate) struct BlockTerms {
    raw: Vec<u8>,
    /// All terms in full, concatenated.
    text: Vec<u8>,
    /// End of each term in `text`.
    ends: Vec<usize>,
    /// Start of what follows the terms in `raw`.
    terms_end: usize,
    version: u8,
}

impl BlockTerms {
    /// Decodes the terms of a block and checks that they are sorted and distinct.
    pub(crate) fn decode(frame: &[u8]) -> Result<Self, SegmentError> {
        let raw = unwrap(FrameKind::Block, frame)?;
        let (text, ends, terms_end) = parse(&raw).ok_or(MALFORMED_BLOCK)?;
        Ok(Self { raw, text, ends, terms_end, version: version(frame) })
    }

    /// Returns all terms in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).map(|at| self.term(at))
    }

    fn term(&self, at: usize) -> &[u8] {
        self.range(at).and_then(|range| self.text.get(range)).unwrap_or_default()
    }

    fn range(&self, at: usize) -> Option<Range<usize>> {
        let start = at.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        Some(start..*self.ends.get(at)?)
    }

    /// Returns the indexes of the terms that contain a string, in order.
    pub(crate) fn containing(&self, finder: &Finder<'_>) -> impl Iterator<Item = usize> {
        let mut from = 0;
        std::iter::from_fn(move || {
            loop {
                let at = from + finder.find(self.text.get(from..)?)?;
                let place = self.ends.partition_point(|end| *end <= at);
                let end = *self.ends.get(place)?;
                if at + finder.needle().len() <= end {
                    from = end;
                    return Some(place);
                }
                from = at + 1;
            }
        })
    }
}

/// A decoded block.
#[derive(Debug)]
pub(crate) struct TermBlock {
    terms: BlockTerms,
    /// For each term, the range of the postings in `terms.raw`.
    postings: Vec<Range<usize>>,
}

impl TermBlock {
    /// Decodes a block and checks that its terms are sorted and distinct. Postings are checked later, when they are
    /// read.
    pub(crate) fn decode(frame: &[u8]) -> Result<Self, SegmentError> {
        Self::of(BlockTerms::decode(frame)?)
    }

    /// Finds the postings of a block's terms.
    pub(crate) fn of(terms: BlockTerms) -> Result<Self, SegmentError> {
        let ranges = if terms.version < 3 { ranges_by_documents(&terms) } else { ranges(&terms) };
        Ok(Self { postings: ranges.ok_or(MALFORMED_BLOCK)?, terms })
    }

    pub(crate) fn len(&self) -> usize {
        self.postings.len()
    }

    pub(crate) fn term(&self, at: usize) -> &[u8] {
        self.terms.term(at)
    }

    /// Returns the index of the first term that is not less than the given one.
    pub(crate) fn seek(&self, term: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.term(middle) < term { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Returns a term's packed postings, unchecked. Callers must check the postings.
    pub(crate) fn packed(&self, at: usize) -> &[u8] {
        self.postings.get(at).and_then(|range| self.terms.raw.get(range.clone())).unwrap_or_default()
    }

    /// Returns the checked postings of a term, in a segment of `limit` rows.
    pub(crate) fn postings(&self, at: usize, limit: u32) -> Result<Postings, SegmentError> {
        let malformed = SegmentError::Malformed { what: "the postings of a term do not follow the format" };
        Postings::of_packed(self.packed(at), limit).ok_or(malformed)
    }
}

const MALFORMED_BLOCK: SegmentError =
    SegmentError::Malformed { what: "a block of terms does not follow the format" };

/// Returns the terms of a block, concatenated, with the end of each, and the place of the columns after them.
fn parse(raw: &[u8]) -> Option<(Vec<u8>, Vec<usize>, usize)> {
    let mut rest = raw;
    // Every entry takes at least four bytes, so a valid block has fewer entries than the limit allows. This limit
    // also bounds the allocations below.
    let n = usize::try_from(varint::take(&mut rest)?).ok().filter(|n| (1..=BLOCK_BYTES).contains(n))?;
    let (shared, rest) = rest.split_at_checked(n)?;
    let (own, rest) = rest.split_at_checked(n)?;
    let (mut own_text, rest) = rest.split_at_checked(own.iter().map(|len| usize::from(*len)).sum())?;
    let (mut text, mut ends) = (Vec::with_capacity(n * 8), Vec::with_capacity(n));
    let mut before = 0..0;
    for (shared, own) in shared.iter().zip(own) {
        let (shared, own) = (usize::from(*shared), usize::from(*own));
        let (head, tail) = own_text.split_at_checked(own)?;
        own_text = tail;
        let term = text.len()..text.len() + shared + own;
        if shared > before.len() || term.len() > MAX_TERM_BYTES {
            return None;
        }
        // The shared bytes are as many as possible, so the first own byte decides the order.
        let (first, next) = (head.first()?, text.get(before.start + shared..before.end)?.first());
        if next.is_some_and(|next| first <= next) {
            return None;
        }
        text.extend_from_within(before.start..before.start + shared);
        text.extend_from_slice(head);
        ends.push(term.end);
        before = term;
    }
    Some((text, ends, raw.len() - rest.len()))
}

/// Returns the range of the postings of each term.
fn ranges(terms: &BlockTerms) -> Option<Vec<Range<usize>>> {
    let mut rest = terms.raw.get(terms.terms_end..)?;
    let mut ranges = Vec::with_capacity(terms.ends.len());
    for _ in 0..terms.ends.len() {
        ranges.push(0..usize::try_from(varint::take(&mut rest)?).ok()?);
    }
    let mut start = terms.raw.len() - rest.len();
    for range in &mut ranges {
        *range = start..start.checked_add(range.end)?;
        start = range.end;
    }
    (start == terms.raw.len()).then_some(ranges)
}

/// Returns the range of the postings of each term of a block that has their numbers of documents.
fn ranges_by_documents(terms: &BlockTerms) -> Option<Vec<Range<usize>>> {
    let mut rest = terms.raw.get(terms.terms_end..)?;
    let mut docs = Vec::with_capacity(terms.ends.len());
    for _ in 0..terms.ends.len() {
        docs.push(varint::take_u32(&mut rest).filter(|docs| *docs > 0)?);
    }
    let mut ranges = Vec::with_capacity(docs.len());
    for docs in docs {
        let start = terms.raw.len() - rest.len();
        postings::skip(docs, &mut rest)?;
        ranges.push(start..terms.raw.len() - rest.len());
    }
    rest.is_empty().then_some(ranges)
}
