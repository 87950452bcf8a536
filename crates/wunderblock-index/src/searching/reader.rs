//! Reads the postings of a search: from stored segments, block by block, and from the tail.

use crate::searching::query::{Clause, ClauseRule, ParsedQuery};
use crate::searching::request::SearchError;
use crate::storing::block::TermBlock;
use crate::storing::docs::Docs;
use crate::storing::frame::SegmentError;
use crate::storing::header::Header;
use crate::storing::postings::{self, Postings};

/// Location of postings.
#[derive(Clone, Copy)]
pub(crate) enum Origin<'a> {
    Tail(&'a [Postings]),
    Segment(usize, &'a Header),
}

/// Reads the postings of a query's terms. The reader keeps the last block, because neighbouring terms are often in the
/// same block.
pub(crate) struct PostingsReader<'q, F> {
    query: &'q ParsedQuery,
    fetch: F,
    block: Option<(usize, u32, TermBlock)>,
}

impl<'q, F> PostingsReader<'q, F> {
    pub(crate) const fn new(query: &'q ParsedQuery, fetch: F) -> Self {
        Self { query, fetch, block: None }
    }

    /// Returns the postings of a term by document, or `None` if the source does not contain it.
    pub(crate) fn by_document<E, B>(
        &mut self,
        docs: &Docs,
        origin: Origin<'_>,
        at: usize,
    ) -> Result<Option<Postings>, SearchError<E>>
    where
        F: FnMut(usize, u32) -> Result<B, E>,
        B: AsRef<[u8]>,
    {
        let found = self.entries(origin, at)?;
        let rows = (!found.is_empty()).then(|| postings::union(found, docs.rows.len() as u32));
        Ok(rows.map(|rows| docs.by_document(rows)))
    }

    /// Returns the postings of each entry of the dictionary that belongs to a term, by row.
    pub(crate) fn entries<E, B>(
        &mut self,
        origin: Origin<'_>,
        at: usize,
    ) -> Result<Vec<Postings>, SearchError<E>>
    where
        F: FnMut(usize, u32) -> Result<B, E>,
        B: AsRef<[u8]>,
    {
        let (segment, header) = match origin {
            Origin::Tail(postings) => {
                return Ok(postings.get(at).filter(|found| found.docs > 0).cloned().into_iter().collect());
            }
            Origin::Segment(segment, header) => (segment, header),
        };
        let Some(term) = self.query.terms.get(at) else { return Ok(Vec::new()) };
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

/// Returns the terms of each excluded word. A document is excluded if it contains all terms of an excluded word.
/// Phrases are omitted, because they are checked in the text.
pub(crate) fn exclusions(query: &ParsedQuery) -> impl Iterator<Item = &[usize]> {
    let excludes = |clause: &&Clause| clause.need == ClauseRule::MustNot && clause.phrase.is_none();
    query.clauses.iter().filter(excludes).map(|clause| clause.needs.as_slice())
}
