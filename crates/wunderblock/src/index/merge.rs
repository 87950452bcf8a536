//! Several segments as one, and segments without some of their documents.
//!
//! Both are the same walk: terms in order over all inputs, a block of each in memory at a time. What a removed document
//! alone held is not written again, so its terms are gone from the bytes, not hidden.

use super::block::Block;
use super::frame::SegmentError;
use super::header::{Doc, DocKey, Header, MAX_DOCS};
use super::postings::Postings;
use super::segment::{Segment, Writer};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Joins neighbouring segments, oldest first, into one.
///
/// # Errors
/// When an input is damaged, or the result would hold more than [`MAX_DOCS`] documents.
pub fn merge(segments: &[Segment]) -> Result<Segment, SegmentError> {
    rewrite(segments, |_| true)
}

/// The segment without the documents for which `removed` says yes. May be empty.
///
/// # Errors
/// When the input is damaged.
pub fn without(segment: &Segment, removed: impl Fn(DocKey) -> bool) -> Result<Segment, SegmentError> {
    rewrite(std::slice::from_ref(segment), |key| !removed(key))
}

/// Checks all of a segment: checksums, order, that the header's directory is true, that postings name documents the
/// segment has, and that they add up to the documents' lengths.
///
/// # Errors
/// What is wrong first.
pub fn verify(segment: &Segment) -> Result<(), SegmentError> {
    let malformed = |what| Err(SegmentError::Malformed { what });
    let header = Header::decode(&segment.header)?;
    let mut lens = vec![0u32; header.len()];
    let mut input = Input::open(segment, &header)?;
    while input.term().is_some() {
        for posting in input.postings()?.iter() {
            if let Some(len) = lens.get_mut(posting.doc as usize) {
                *len = len.saturating_add(posting.count);
            }
        }
        input.advance()?;
    }
    if lens.iter().zip(&header.docs.all).any(|(len, doc)| *len != doc.len) {
        return malformed("the postings of a segment do not add up to its documents");
    }
    Ok(())
}

/// The new number of each document, by input; `None` for what goes.
type Renumbered = Vec<Vec<Option<u32>>>;

fn renumber(
    headers: &[Header],
    keep: impl Fn(DocKey) -> bool,
) -> Result<(Vec<Doc>, Renumbered), SegmentError> {
    let mut docs = Vec::new();
    let mut numbers = Vec::with_capacity(headers.len());
    for header in headers {
        let number = |doc: &Doc| {
            keep(doc.key()).then(|| {
                docs.push(*doc);
                docs.len() as u32 - 1
            })
        };
        numbers.push(header.docs.all.iter().map(number).collect());
        if docs.len() > MAX_DOCS {
            return Err(SegmentError::Full { most: MAX_DOCS });
        }
    }
    Ok((docs, numbers))
}

fn rewrite(segments: &[Segment], keep: impl Fn(DocKey) -> bool) -> Result<Segment, SegmentError> {
    let headers = segments.iter().map(|s| Header::decode(&s.header)).collect::<Result<Vec<_>, _>>()?;
    let (docs, numbers) = renumber(&headers, keep)?;
    let mut inputs = Vec::with_capacity(segments.len());
    for (segment, header) in segments.iter().zip(&headers) {
        inputs.push(Input::open(segment, header)?);
    }
    let mut heap: BinaryHeap<Reverse<(Vec<u8>, usize)>> = BinaryHeap::new();
    for (at, input) in inputs.iter().enumerate() {
        heap.extend(input.term().map(|term| Reverse((term.to_vec(), at))));
    }
    let mut writer = Writer::new()?;
    let mut term = Vec::new();
    let mut postings = Postings::default();
    while let Some(mut top) = heap.peek_mut() {
        let Reverse((next, at)) = &mut *top;
        if *next != term {
            write(&mut writer, &term, &mut postings)?;
            term.clone_from(next);
        }
        let (Some(input), Some(numbers)) = (inputs.get_mut(*at), numbers.get(*at)) else { break };
        for mut posting in input.postings()?.iter() {
            // Inputs with the same term come in their order, so new numbers ascend.
            if let Some(doc) = numbers.get(posting.doc as usize).copied().flatten() {
                posting.doc = doc;
                postings.push(posting);
            }
        }
        input.advance()?;
        match input.term() {
            Some(after) => {
                next.clear();
                next.extend_from_slice(after);
            }
            None => {
                std::collections::binary_heap::PeekMut::pop(top);
            }
        }
    }
    write(&mut writer, &term, &mut postings)?;
    writer.finish(&docs)
}

fn write(writer: &mut Writer, term: &[u8], postings: &mut Postings) -> Result<(), SegmentError> {
    if postings.docs > 0 {
        writer.push(term, postings)?;
    }
    postings.clear();
    Ok(())
}

/// A segment while its terms are walked.
struct Input<'a> {
    header: &'a Header,
    blocks: &'a [Vec<u8>],
    /// The number of the block at hand.
    number: usize,
    block: Option<Block>,
    at: usize,
}

impl<'a> Input<'a> {
    fn open(segment: &'a Segment, header: &'a Header) -> Result<Self, SegmentError> {
        if segment.blocks.len() != header.blocks() {
            return Err(SegmentError::Malformed {
                what: "a segment has another number of blocks than its header says",
            });
        }
        let mut input = Self { header, blocks: &segment.blocks, number: 0, block: None, at: 0 };
        input.load()?;
        Ok(input)
    }

    /// Reads the block at hand. Its terms must come after those before; within it, reading has checked that.
    fn load(&mut self) -> Result<(), SegmentError> {
        self.at = 0;
        let before = self.block.take();
        self.block = self.blocks.get(self.number).map(|frame| Block::decode(frame)).transpose()?;
        let first = self.block.as_ref().map(|block| block.term(0));
        if first != self.header.first_terms.get(self.number).map(|term| &**term) {
            return Err(SegmentError::Malformed {
                what: "a block begins with another term than its header says",
            });
        }
        let last = before.as_ref().map(|block| block.term(block.len() - 1));
        if first.is_some() && last >= first {
            return Err(SegmentError::Malformed { what: "the terms of a segment are out of order" });
        }
        Ok(())
    }

    fn term(&self) -> Option<&[u8]> {
        self.block.as_ref().map(|block| block.term(self.at))
    }

    fn postings(&self) -> Result<Postings, SegmentError> {
        let block = self.block.as_ref().ok_or(SegmentError::Malformed { what: "a segment ends early" })?;
        block.postings(self.at, self.header.len() as u32)
    }

    fn advance(&mut self) -> Result<(), SegmentError> {
        self.at += 1;
        if self.block.as_ref().is_some_and(|block| self.at < block.len()) {
            return Ok(());
        }
        self.number += 1;
        self.load()
    }
}
