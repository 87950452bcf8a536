//! Reads the postings of a search: from stored segments, block by block, and from the tail.

use crate::searching::query::{Clause, ClauseRule, ParsedQuery};
use crate::searching::request::SearchError;
use crate::searching::scope::Visible;
use crate::storing::block::TermBlock;
use crate::storing::docs::{DocKey, Docs};
use crate::storing::frame::SegmentError;
use crate::storing::header::Header;
use crate::storing::postings::{self, Postings};

/// A segment or the tail, with the visible part of its documents.
pub(crate) struct PostingsSource<'a> {
    pub(crate) docs: &'a Docs,
    pub(crate) visible: Visible,
    pub(crate) origin: Origin<'a>,
}

/// Location of a source's postings.
pub(crate) enum Origin<'a> {
    Tail(&'a [Postings]),
    Segment(usize, &'a Header),
}

impl PostingsSource<'_> {
    pub(crate) fn key(&self, doc: u32) -> DocKey {
        self.docs.all.get(doc as usize).map_or(DocKey { stream: 0, seq: 0 }, |doc| doc.key())
    }

    /// Returns the number of visible documents that contain the term.
    pub(crate) fn frequency(&self, postings: &Postings) -> u64 {
        match self.visible {
            Visible::All => u64::from(postings.docs),
            _ => postings.iter().filter(|posting| self.visible.has(posting.doc)).count() as u64,
        }
    }
}

/// Reads postings. The reader keeps the last block, because neighbouring terms are often in the same block.
pub(crate) struct PostingsReader<F> {
    fetch: F,
    block: Option<(usize, u32, TermBlock)>,
}

impl<F> PostingsReader<F> {
    pub(crate) const fn new(fetch: F) -> Self {
        Self { fetch, block: None }
    }

    /// Returns the postings of a term by document, or `None` if the source does not contain it.
    pub(crate) fn postings<E, B>(
        &mut self,
        source: &PostingsSource<'_>,
        query: &ParsedQuery,
        at: usize,
    ) -> Result<Option<Postings>, SearchError<E>>
    where
        F: FnMut(usize, u32) -> Result<B, E>,
        B: AsRef<[u8]>,
    {
        Ok(self.rows(source, query, at)?.map(|rows| source.docs.by_document(rows)))
    }

    /// Returns the postings of a term by row, or `None` if the source does not contain it.
    pub(crate) fn rows<E, B>(
        &mut self,
        source: &PostingsSource<'_>,
        query: &ParsedQuery,
        at: usize,
    ) -> Result<Option<Postings>, SearchError<E>>
    where
        F: FnMut(usize, u32) -> Result<B, E>,
        B: AsRef<[u8]>,
    {
        let found = self.entries(source, query, at)?;
        Ok((!found.is_empty()).then(|| postings::union(found, source.docs.rows.len() as u32)))
    }

    /// Returns the postings of each entry of the dictionary that belongs to a term, by row.
    pub(crate) fn entries<E, B>(
        &mut self,
        source: &PostingsSource<'_>,
        query: &ParsedQuery,
        at: usize,
    ) -> Result<Vec<Postings>, SearchError<E>>
    where
        F: FnMut(usize, u32) -> Result<B, E>,
        B: AsRef<[u8]>,
    {
        let (segment, header) = match source.origin {
            Origin::Tail(postings) => {
                return Ok(postings.get(at).filter(|found| found.docs > 0).cloned().into_iter().collect());
            }
            Origin::Segment(segment, header) => (segment, header),
        };
        let Some(term) = query.terms.get(at) else { return Ok(Vec::new()) };
        let (bytes, is_range, limit) = (&term.bytes, term.is_range(), header.len() as u32);
        // The entries of a term may begin in the middle of a block and continue over several blocks.
        let mut number = header.block_of(bytes).unwrap_or(0);
        let mut found: Vec<Postings> = Vec::new();
        while let Some(first) = header.first_terms.get(number as usize) {
            if **first > **bytes && !(is_range && first.starts_with(bytes)) {
                break;
            }
            let block = self.block(segment, number, first)?;
            let mut place = block.seek(bytes);
            while place < block.len()
                && (block.term(place) == &**bytes || is_range && block.term(place).starts_with(bytes))
            {
                if term.has(block.term(place)) {
                    found.push(block.postings(place, limit)?);
                }
                place += 1;
            }
            if !is_range || place < block.len() {
                break;
            }
            number += 1;
        }
        Ok(found)
    }

    fn block<E, B>(&mut self, segment: usize, number: u32, first: &[u8]) -> Result<&TermBlock, SearchError<E>>
    where
        F: FnMut(usize, u32) -> Result<B, E>,
        B: AsRef<[u8]>,
    {
        if !matches!(&self.block, Some((s, n, _)) if (*s, *n) == (segment, number)) {
            let frame = (self.fetch)(segment, number).map_err(SearchError::Source)?;
            let block = TermBlock::decode(frame.as_ref())?;
            if block.term(0) != first {
                let what = "the first term of a block does not match the header";
                return Err(SegmentError::Malformed { what }.into());
            }
            self.block = Some((segment, number, block));
        }
        let lost = SegmentError::Malformed { what: "a block is missing" };
        self.block.as_ref().map(|(_, _, block)| block).ok_or(lost.into())
    }
}

/// Returns, for each document, the number of lists that contain it.
pub(crate) fn tally(docs: usize, lists: &[&Postings]) -> Vec<u16> {
    let mut counts = vec![0u16; docs];
    for posting in lists.iter().flat_map(|list| list.iter()) {
        if let Some(count) = counts.get_mut(posting.doc as usize) {
            *count = count.saturating_add(1);
        }
    }
    counts
}

/// Returns the postings of all given terms, or `None` if any term has none.
pub(crate) fn all_of<'a>(found: &'a [Option<Postings>], terms: &[usize]) -> Option<Vec<&'a Postings>> {
    terms.iter().map(|at| found.get(*at).and_then(Option::as_ref)).collect()
}

/// Returns the terms of each excluded word. A document is excluded if it contains all terms of an excluded word.
/// Phrases are omitted, because they are checked in the text.
pub(crate) fn exclusions(query: &ParsedQuery) -> Vec<&[usize]> {
    let excludes = |clause: &&Clause| clause.need == ClauseRule::MustNot && clause.phrase.is_none();
    query.clauses.iter().filter(excludes).map(|clause| clause.needs.as_slice()).collect()
}

/// Removes from `docs` the documents that contain all terms of an exclusion.
pub(crate) fn exclude(
    source: &PostingsSource<'_>,
    found: &[Option<Postings>],
    exclusions: &[&[usize]],
    docs: &mut Vec<u32>,
) {
    for terms in exclusions {
        if let Some(lists) = all_of(found, terms) {
            let counts = tally(source.docs.all.len(), &lists);
            docs.retain(|doc| {
                counts.get(*doc as usize).is_none_or(|count| usize::from(*count) < lists.len())
            });
        }
    }
}
