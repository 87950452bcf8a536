//! Blocks of about 16 KB that hold terms with their postings. A look-up reads one block.
//!
//! Terms are sorted and front-coded. Values of one kind are stored together, because zstd compresses them better that
//! way:
//!
//! ```text
//! n varint │ n × bytes shared with the previous term │ n × own bytes │ the own bytes
//! │ n × documents varint │ n × postings
//! ```

use super::frame::{FrameKind, SegmentError, unwrap};
use super::postings::{self, Postings};
use super::varint;
use super::words::MAX_TERM_BYTES;
use std::ops::Range;

/// Uncompressed size in bytes at which a block ends. A term's postings are never split, so a block with a frequent
/// term may be larger.
pub(super) const BLOCK_BYTES: usize = 16 << 10;

/// Columns of a block under construction.
#[derive(Default)]
pub(super) struct Columns {
    shared: Vec<u8>,
    own: Vec<u8>,
    text: Vec<u8>,
    docs: Vec<u8>,
    postings: Vec<u8>,
    first: Vec<u8>,
    last: Vec<u8>,
}

impl Columns {
    pub(super) fn is_empty(&self) -> bool {
        self.shared.is_empty()
    }

    pub(super) fn bytes(&self) -> usize {
        self.shared.len() * 2 + self.text.len() + self.docs.len() + self.postings.len()
    }

    /// Appends a term. Terms must be in ascending order.
    pub(super) fn push(&mut self, term: &[u8], postings: &Postings) {
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
    pub(super) fn finish(&mut self) -> (Vec<u8>, Vec<u8>) {
        let mut raw = Vec::with_capacity(self.bytes() + 8);
        varint::put(self.shared.len() as u64, &mut raw);
        for column in [&mut self.shared, &mut self.own, &mut self.text, &mut self.docs, &mut self.postings] {
            raw.append(column);
        }
        self.last.clear();
        (std::mem::take(&mut self.first), raw)
    }
}

/// A decoded block.
#[derive(Debug)]
pub(super) struct TermBlock {
    raw: Vec<u8>,
    /// All terms in full, concatenated.
    text: Vec<u8>,
    entries: Vec<BlockTerm>,
}

/// A term of a block, as ranges of the block's buffers.
#[derive(Debug)]
struct BlockTerm {
    /// Range of the term in `text`.
    term: Range<usize>,
    docs: u32,
    /// Range of the postings in `raw`.
    postings: Range<usize>,
}

impl TermBlock {
    /// Decodes a block and checks that its terms are sorted and distinct. Postings are checked later, when they are
    /// read.
    pub(super) fn decode(frame: &[u8]) -> Result<Self, SegmentError> {
        let raw = unwrap(FrameKind::Block, frame)?;
        let malformed = SegmentError::Malformed { what: "a block of terms does not follow the format" };
        parse(&raw).ok_or(malformed).map(|(text, entries)| Self { raw, text, entries })
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn term(&self, at: usize) -> &[u8] {
        self.entries.get(at).map(|entry| self.term_of(entry)).unwrap_or_default()
    }

    fn term_of(&self, entry: &BlockTerm) -> &[u8] {
        self.text.get(entry.term.clone()).unwrap_or_default()
    }

    /// Returns the index of the first term that is not less than the given one.
    pub(super) fn seek(&self, term: &[u8]) -> usize {
        self.entries.partition_point(|entry| self.term_of(entry) < term)
    }

    /// Returns the number of documents that contain a term, and the term's packed postings, unchecked. Callers must
    /// check the postings.
    pub(super) fn packed(&self, at: usize) -> (u32, &[u8]) {
        let entry = self.entries.get(at);
        let packed = entry.and_then(|entry| self.raw.get(entry.postings.clone()));
        (entry.map_or(0, |entry| entry.docs), packed.unwrap_or_default())
    }

    /// Returns the checked postings of a term, in a segment of `limit` documents.
    pub(super) fn postings(&self, at: usize, limit: u32) -> Result<Postings, SegmentError> {
        let malformed = SegmentError::Malformed { what: "the postings of a term do not follow the format" };
        let entry = self.entries.get(at).ok_or(malformed)?;
        let mut bytes = self.raw.get(entry.postings.clone()).unwrap_or_default();
        let packed = postings::check(entry.docs, &mut bytes, limit).ok_or(malformed)?;
        Ok(Postings::of_packed(entry.docs, packed))
    }
}

/// Splits a block into its columns.
fn parse(raw: &[u8]) -> Option<(Vec<u8>, Vec<BlockTerm>)> {
    let mut rest = raw;
    // Every entry takes at least four bytes, so a valid block has fewer entries than the limit allows. This limit
    // also bounds the allocations below.
    let n = usize::try_from(varint::take(&mut rest)?).ok().filter(|n| (1..=BLOCK_BYTES).contains(n))?;
    let (shared, rest) = rest.split_at_checked(n)?;
    let (own, rest) = rest.split_at_checked(n)?;
    let (mut own_text, rest) = rest.split_at_checked(own.iter().map(|len| usize::from(*len)).sum())?;
    let (mut text, mut entries) = (Vec::with_capacity(n * 8), Vec::with_capacity(n));
    let mut before = 0..0;
    for (shared, own) in shared.iter().zip(own) {
        let (shared, own) = (usize::from(*shared), usize::from(*own));
        let (head, tail) = own_text.split_at_checked(own)?;
        own_text = tail;
        let term = text.len()..text.len() + shared + own;
        if shared > before.len() || !(1..=MAX_TERM_BYTES).contains(&term.len()) {
            return None;
        }
        text.extend_from_within(before.start..before.start + shared);
        text.extend_from_slice(head);
        if text.get(before.clone())? >= text.get(term.clone())? {
            return None;
        }
        before.clone_from(&term);
        entries.push(BlockTerm { term, docs: 0, postings: 0..0 });
    }
    let mut rest = rest;
    for entry in &mut entries {
        entry.docs = varint::take_u32(&mut rest).filter(|docs| *docs > 0)?;
    }
    for entry in &mut entries {
        let start = raw.len() - rest.len();
        postings::skip(entry.docs, &mut rest)?;
        entry.postings = start..raw.len() - rest.len();
    }
    rest.is_empty().then_some((text, entries))
}
