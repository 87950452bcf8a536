//! Blocks of about 16 KB that hold terms with their postings. A look-up reads one block.
//!
//! Terms are sorted and front-coded. Values of one kind are stored together, because zstd compresses them better that
//! way:
//!
//! ```text
//! n varint │ n × bytes shared with the previous term │ n × own bytes │ the own bytes
//! │ n × documents varint │ n × postings
//! ```

use crate::storing::frame::{FrameKind, SegmentError, unwrap};
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
    docs: Vec<u8>,
    postings: Vec<u8>,
    first: Vec<u8>,
    last: Vec<u8>,
}

impl Columns {
    pub(crate) fn is_empty(&self) -> bool {
        self.shared.is_empty()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.shared.len() * 2 + self.text.len() + self.docs.len() + self.postings.len()
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
        varint::put(u64::from(postings.docs), &mut self.docs);
        self.postings.extend_from_slice(&postings.bytes);
        self.last.truncate(shared);
        self.last.extend_from_slice(own);
    }

    /// Returns the block's first term and its bytes, and empties the columns.
    pub(crate) fn finish(&mut self) -> (Vec<u8>, Vec<u8>) {
        let mut raw = Vec::with_capacity(self.bytes() + 8);
        varint::put(self.shared.len() as u64, &mut raw);
        for column in [&mut self.shared, &mut self.own, &mut self.text, &mut self.docs, &mut self.postings] {
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
    /// Start of the numbers of documents in `raw`.
    docs_at: usize,
}

impl BlockTerms {
    /// Decodes the terms of a block and checks that they are sorted and distinct.
    pub(crate) fn decode(frame: &[u8]) -> Result<Self, SegmentError> {
        let raw = unwrap(FrameKind::Block, frame)?;
        let (text, ends, docs_at) = parse(&raw).ok_or(MALFORMED_BLOCK)?;
        Ok(Self { raw, text, ends, docs_at })
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
    /// For each term, the number of documents and the range of the postings in `terms.raw`.
    postings: Vec<(u32, Range<usize>)>,
}

impl TermBlock {
    /// Decodes a block and checks that its terms are sorted and distinct. Postings are checked later, when they are
    /// read.
    pub(crate) fn decode(frame: &[u8]) -> Result<Self, SegmentError> {
        Self::of(BlockTerms::decode(frame)?)
    }

    /// Finds the postings of a block's terms.
    pub(crate) fn of(terms: BlockTerms) -> Result<Self, SegmentError> {
        let postings = parse_postings(&terms.raw, terms.docs_at, terms.ends.len()).ok_or(MALFORMED_BLOCK)?;
        Ok(Self { terms, postings })
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

    /// Returns the number of documents that contain a term, and the term's packed postings, unchecked. Callers must
    /// check the postings.
    pub(crate) fn packed(&self, at: usize) -> (u32, &[u8]) {
        let entry =
            self.postings.get(at).and_then(|(docs, range)| Some((*docs, self.terms.raw.get(range.clone())?)));
        entry.unwrap_or_default()
    }

    /// Returns the checked postings of a term, in a segment of `limit` documents.
    pub(crate) fn postings(&self, at: usize, limit: u32) -> Result<Postings, SegmentError> {
        let malformed = SegmentError::Malformed { what: "the postings of a term do not follow the format" };
        let (docs, mut bytes) = self.packed(at);
        let packed = postings::check(docs, &mut bytes, limit).ok_or(malformed)?;
        Ok(Postings::of_packed(docs, packed))
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

/// Returns the number of documents of each of `n` terms, and the range of its postings, from the columns that begin at
/// `docs_at`.
fn parse_postings(raw: &[u8], docs_at: usize, n: usize) -> Option<Vec<(u32, Range<usize>)>> {
    let mut rest = raw.get(docs_at..)?;
    let mut postings = Vec::with_capacity(n);
    for _ in 0..n {
        postings.push((varint::take_u32(&mut rest).filter(|docs| *docs > 0)?, 0..0));
    }
    for (docs, range) in &mut postings {
        let start = raw.len() - rest.len();
        postings::skip(*docs, &mut rest)?;
        *range = start..raw.len() - rest.len();
    }
    rest.is_empty().then_some(postings)
}
