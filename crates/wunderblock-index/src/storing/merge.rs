//! Joining segments, and removing documents from segments.
//!
//! Both operations walk the terms of all inputs in order, with one block of each input in memory. A term that occurs
//! only in removed documents is not written, so it is absent from the bytes rather than merely hidden.
//!
//! A walk can be split into [`TermRange`]s for several threads, so that only the threads' current blocks are in
//! memory. Low memory use matters because segments are joined repeatedly as a ledger grows, and become larger each
//! time.

use crate::storing::block::TermBlock;
use crate::storing::docs::{DocKey, Docs, DocsWriter};
use crate::storing::frame::SegmentError;
use crate::storing::header::{Header, MAX_DOCS};
use crate::storing::postings::Postings;
use crate::storing::segment::{Segment, SegmentPart, SegmentWriter};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Range;

/// Joins neighbouring segments, oldest first, into one.
///
/// # Errors
/// Fails if an input is damaged, or if the result would have more than [`MAX_DOCS`] rows.
pub fn merge(segments: &[Segment]) -> Result<Segment, SegmentError> {
    rewrite(segments, |_| true)
}

/// Returns the segment without the documents for which `removed` is true. The result may be empty.
///
/// # Errors
/// Fails if the input is damaged.
pub fn without(segment: &Segment, removed: impl Fn(DocKey) -> bool) -> Result<Segment, SegmentError> {
    rewrite(std::slice::from_ref(segment), |key| !removed(key))
}

fn rewrite(segments: &[Segment], keep: impl Fn(DocKey) -> bool) -> Result<Segment, SegmentError> {
    let headers = segments.iter().map(|s| Header::decode(&s.header)).collect::<Result<Vec<_>, _>>()?;
    if segments.iter().zip(&headers).any(|(segment, header)| segment.blocks.len() != header.blocks()) {
        let what = "the number of blocks in a segment does not match the header";
        return Err(SegmentError::Malformed { what });
    }
    let join = MergePlan::new(headers, keep)?;
    let blocks: Vec<&[Vec<u8>]> = segments.iter().map(|segment| segment.blocks.as_slice()).collect();
    let part = join.part(&TermRange::default(), &blocks)?;
    join.finish(vec![part])
}

/// Checks a whole segment: checksums, the order of terms, the header's directory of blocks, the documents that
/// postings name, and whether the postings add up to the documents' lengths.
///
/// # Errors
/// Returns the first problem found.
pub fn verify(segment: &Segment) -> Result<(), SegmentError> {
    let malformed = |what| Err(SegmentError::Malformed { what });
    let header = Header::decode(&segment.header)?;
    if segment.blocks.len() != header.blocks() {
        return malformed("the number of blocks in a segment does not match the header");
    }
    let mut lens = vec![0u32; header.len()];
    let mut input = MergeInput::open(&header, 0, &segment.blocks, &[])?;
    while input.term().is_some() {
        for posting in input.postings()?.iter() {
            if let Some(len) = lens.get_mut(posting.doc as usize) {
                *len = len.saturating_add(posting.count);
            }
        }
        input.advance()?;
    }
    if lens.iter().zip(&header.docs.rows).any(|(len, row)| *len != row.len) {
        return malformed("the postings of a segment do not add up to its documents");
    }
    Ok(())
}

/// A range of terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermRange {
    /// First term of the range; empty for a range from the beginning.
    from: Box<[u8]>,
    /// First term after the range; `None` for a range up to the end.
    to: Option<Box<[u8]>>,
}

/// Rows of an input that remain in the result.
enum Survivors {
    /// All rows remain: the first gets this number, and the others follow in order.
    From(u32),
    /// New number of each row; `None` for one of a removed document.
    Some(Vec<Option<u32>>),
}

/// A plan to join segments.
pub struct MergePlan {
    headers: Vec<Header>,
    kept: Vec<Survivors>,
    docs: Docs,
}

impl MergePlan {
    /// Plans the join of neighbouring segments, oldest first, without the documents for which `keep` is false.
    ///
    /// # Errors
    /// Fails if the segments have more than [`MAX_DOCS`] rows.
    pub fn new(headers: Vec<Header>, keep: impl Fn(DocKey) -> bool) -> Result<Self, SegmentError> {
        let mut docs = DocsWriter::default();
        let mut kept = Vec::with_capacity(headers.len());
        for header in &headers {
            let before = docs.docs().rows.len();
            if before + header.len() > MAX_DOCS {
                return Err(SegmentError::Full { most: MAX_DOCS });
            }
            let is_whole = header.docs().all(&keep);
            let mut numbers = Vec::new();
            for (key, row) in header.docs.keyed() {
                let keeps = is_whole || keep(key);
                if !is_whole {
                    numbers.push(keeps.then_some(docs.docs().rows.len() as u32));
                }
                if keeps {
                    docs.copy(&header.docs, key, row);
                }
            }
            kept.push(if is_whole { Survivors::From(before as u32) } else { Survivors::Some(numbers) });
        }
        Ok(Self { headers, kept, docs: docs.finish() })
    }

    /// Splits the walk into ranges that read about `blocks` blocks each.
    #[must_use]
    pub fn ranges(&self, blocks: usize) -> Vec<TermRange> {
        let mut terms: Vec<&[u8]> =
            self.headers.iter().flat_map(|header| header.first_terms.iter().map(|term| &**term)).collect();
        terms.sort_unstable();
        let mut cuts: Vec<Box<[u8]>> =
            terms.into_iter().step_by(blocks.max(1)).skip(1).map(Into::into).collect();
        cuts.dedup();
        let ends = cuts.iter().cloned().map(Some).chain([None]);
        let starts = std::iter::once(Box::default()).chain(cuts.iter().cloned());
        starts.zip(ends).map(|(from, to)| TermRange { from, to }).collect()
    }

    /// Returns, for each input, the blocks that may contain terms of a range.
    #[must_use]
    pub fn wanted(&self, range: &TermRange) -> Vec<Range<u32>> {
        let wanted = |header: &Header| {
            let from = header.block_of(&range.from).unwrap_or_default();
            let before = |to: &[u8]| header.first_terms.partition_point(|first| &**first < to);
            let to = range.to.as_deref().map_or(header.blocks(), before);
            from..u32::try_from(to).unwrap_or(u32::MAX).max(from)
        };
        self.headers.iter().map(wanted).collect()
    }

    /// Joins the terms of a range. `blocks` are the blocks that [`MergePlan::wanted`] returns for each input.
    ///
    /// # Errors
    /// Fails if an input is damaged, or if blocks are missing.
    pub fn part<B: AsRef<[Vec<u8>]>>(
        &self,
        range: &TermRange,
        blocks: &[B],
    ) -> Result<SegmentPart, SegmentError> {
        let wanted = self.wanted(range);
        if wanted.len() != blocks.len()
            || wanted.iter().zip(blocks).any(|(wanted, blocks)| wanted.len() != blocks.as_ref().len())
        {
            return Err(SegmentError::Malformed { what: "blocks of a segment are missing" });
        }
        let mut inputs = Vec::with_capacity(blocks.len());
        for ((header, wanted), blocks) in self.headers.iter().zip(wanted).zip(blocks) {
            inputs.push(MergeInput::open(header, wanted.start as usize, blocks.as_ref(), &range.from)?);
        }
        let ends = |term: &[u8]| range.to.as_deref().is_some_and(|to| term >= to);
        let mut heap: BinaryHeap<Reverse<(Vec<u8>, usize)>> = BinaryHeap::new();
        for (at, input) in inputs.iter().enumerate() {
            heap.extend(input.term().filter(|term| !ends(term)).map(|term| Reverse((term.to_vec(), at))));
        }
        let mut writer = SegmentWriter::new()?;
        let (mut term, mut postings) = (Vec::new(), Postings::default());
        // Replacing the smallest entry in place costs less than removing it and adding the next one.
        while let Some(mut top) = heap.peek_mut() {
            let Reverse((next, at)) = &mut *top;
            if *next != term {
                write(&mut writer, &term, &mut postings)?;
                term.clone_from(next);
            }
            let (Some(input), Some(kept)) = (inputs.get_mut(*at), self.kept.get(*at)) else { break };
            input.take(kept, &mut postings)?;
            input.advance()?;
            match input.term().filter(|term| !ends(term)) {
                Some(after) => {
                    next.clear();
                    next.extend_from_slice(after);
                }
                None => {
                    PeekMut::pop(top);
                }
            }
        }
        write(&mut writer, &term, &mut postings)?;
        writer.part()
    }

    /// Joins the parts of all ranges, in order, into the segment.
    ///
    /// # Errors
    /// Returns [`SegmentError::Compressor`] if memory is short.
    pub fn finish(&self, parts: Vec<SegmentPart>) -> Result<Segment, SegmentError> {
        SegmentPart::join(parts, &self.docs)
    }
}

fn write(writer: &mut SegmentWriter, term: &[u8], postings: &mut Postings) -> Result<(), SegmentError> {
    if postings.docs > 0 {
        writer.push(term, postings)?;
    }
    postings.clear();
    Ok(())
}

/// Cursor over the terms of a segment, or over neighbouring blocks of it.
struct MergeInput<'a> {
    header: &'a Header,
    blocks: std::slice::Iter<'a, Vec<u8>>,
    /// Number of the next block to load.
    number: usize,
    block: Option<TermBlock>,
    at: usize,
}

impl<'a> MergeInput<'a> {
    /// Opens a cursor at the first term at or after `from`. `number` is the number of the first given block.
    fn open(
        header: &'a Header,
        number: usize,
        blocks: &'a [Vec<u8>],
        from: &[u8],
    ) -> Result<Self, SegmentError> {
        let mut input = Self { header, blocks: blocks.iter(), number, block: None, at: 0 };
        input.load()?;
        input.at = input.block.as_ref().map_or(0, |block| block.seek(from));
        if input.block.as_ref().is_some_and(|block| input.at >= block.len()) {
            input.load()?;
        }
        Ok(input)
    }

    /// Loads the next block, and checks that its terms follow those of the previous block. Decoding checks the order
    /// within a block.
    fn load(&mut self) -> Result<(), SegmentError> {
        self.at = 0;
        let before = self.block.take();
        let Some(frame) = self.blocks.next() else { return Ok(()) };
        let block = TermBlock::decode(frame)?;
        if self.header.first_terms.get(self.number).map(|term| &**term) != Some(block.term(0)) {
            return Err(SegmentError::Malformed {
                what: "the first term of a block does not match the header",
            });
        }
        if before.is_some_and(|before| before.term(before.len() - 1) >= block.term(0)) {
            return Err(SegmentError::Malformed { what: "the terms of a segment are out of order" });
        }
        self.number += 1;
        self.block = Some(block);
        Ok(())
    }

    fn term(&self) -> Option<&[u8]> {
        self.block.as_ref().map(|block| block.term(self.at))
    }

    fn postings(&self) -> Result<Postings, SegmentError> {
        let block = self.block.as_ref().ok_or(SegmentError::Malformed { what: "a segment ends early" })?;
        block.postings(self.at, self.header.len() as u32)
    }

    /// Appends the current term's postings. Inputs with the same term are visited in order, so document numbers
    /// ascend.
    fn take(&self, kept: &Survivors, postings: &mut Postings) -> Result<(), SegmentError> {
        let malformed = SegmentError::Malformed { what: "the postings of a term do not follow the format" };
        match (kept, &self.block) {
            (_, None) => Err(malformed),
            (Survivors::From(first), Some(block)) => {
                let limit = self.header.len() as u32;
                postings.append(block.packed(self.at), *first, limit).ok_or(malformed)
            }
            (Survivors::Some(numbers), _) => {
                for mut posting in self.postings()?.iter() {
                    if let Some(doc) = numbers.get(posting.doc as usize).copied().flatten() {
                        posting.doc = doc;
                        postings.push(posting);
                    }
                }
                Ok(())
            }
        }
    }

    fn advance(&mut self) -> Result<(), SegmentError> {
        self.at += 1;
        if self.block.as_ref().is_some_and(|block| self.at < block.len()) { Ok(()) } else { self.load() }
    }
}
