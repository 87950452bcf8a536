//! Documents that are not indexed yet, scanned for one query and treated as the newest segment.
//!
//! Recording does not wait for the index, so a search reads the newest documents as text. Documents that are not
//! indexed yet count in the statistics and are scored by the same formula as indexed documents, so their hits are
//! ranked correctly among the indexed ones.

use crate::searching::query::ParsedQuery;
use crate::storing::frame::SegmentError;
use crate::storing::header::{Doc, DocKey, Docs};
use crate::storing::postings::{Posting, Postings};
use crate::storing::words::terms;
use std::collections::HashMap;

/// Documents after the newest segment, with their postings for the terms of one query.
#[derive(Clone, Debug)]
pub struct Tail {
    pub(crate) docs: Docs,
    /// Postings of each term of the query.
    pub(crate) postings: Vec<Postings>,
}

impl Tail {
    /// Scans the texts of documents, oldest first, for the terms of a query, in one pass.
    #[must_use]
    pub fn scan<'t, T>(query: &ParsedQuery, documents: impl IntoIterator<Item = (DocKey, T)>) -> Self
    where
        T: IntoIterator<Item = &'t str>,
    {
        let counter = TermCounter::of(query);
        let documents = documents.into_iter().map(|(key, texts)| {
            let mut counts = TermCounts::default();
            texts.into_iter().for_each(|text| counter.count(text, &mut counts));
            (key, counts)
        });
        Self::of(query, documents)
    }

    /// Returns the tail of documents, oldest first, whose terms are counted.
    #[must_use]
    pub fn of(query: &ParsedQuery, documents: impl IntoIterator<Item = (DocKey, TermCounts)>) -> Self {
        let mut postings = vec![Postings::default(); query.terms.len()];
        let mut docs = Vec::new();
        for (number, (key, counts)) in (0u32..).zip(documents) {
            for (count, postings) in counts.counts.iter().zip(&mut postings) {
                if *count > 0 {
                    postings.push(Posting { doc: number, count: *count });
                }
            }
            docs.push(Doc { seq: key.seq, stream: key.stream, len: counts.len });
        }
        Self { docs: Docs::new(docs), postings }
    }

    /// Joins tails of one query, oldest first. The texts of the tails do not have to be in memory at the same time.
    ///
    /// # Errors
    /// Fails if there are more documents than can be numbered.
    pub fn join(query: &ParsedQuery, tails: Vec<Self>) -> Result<Self, SegmentError> {
        let malformed = SegmentError::Malformed { what: "there are too many documents to scan" };
        let mut docs: Vec<Doc> = Vec::new();
        let mut postings = vec![Postings::default(); query.terms.len()];
        for tail in tails {
            let (shift, limit) = (docs.len() as u32, tail.docs.all.len() as u32);
            for (to, from) in postings.iter_mut().zip(&tail.postings).filter(|(_, from)| from.docs > 0) {
                to.append(from.docs, &from.bytes, shift, limit).ok_or(malformed)?;
            }
            docs.extend_from_slice(&tail.docs.all);
        }
        Ok(Self { docs: Docs::new(docs), postings })
    }
}

/// Counts of a query's terms in a document, whose text may come in parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermCounts {
    /// Number of terms in the document.
    pub len: u32,
    /// Number of occurrences of each term of the query. Empty if none occurs.
    counts: Vec<u32>,
}

impl TermCounts {
    /// Adds the counts of another part of the document.
    pub fn add(&mut self, other: &Self) {
        self.len = self.len.saturating_add(other.len);
        self.counts.resize(self.counts.len().max(other.counts.len()), 0);
        for (count, other) in self.counts.iter_mut().zip(&other.counts) {
            *count = count.saturating_add(*other);
        }
    }

    /// Returns the number of different terms of the query that occur.
    #[must_use]
    pub fn different(&self) -> usize {
        self.counts.iter().filter(|count| **count > 0).count()
    }
}

/// Index of a query's terms by their bytes, which counts them in texts.
pub struct TermCounter<'a> {
    /// Whether any term begins with this byte. This test rejects most words of a text.
    first: [bool; 256],
    exact: HashMap<&'a [u8], usize>,
    prefixes: HashMap<&'a [u8], usize>,
    terms: usize,
}

impl<'a> TermCounter<'a> {
    /// Creates a counter of a query's terms.
    #[must_use]
    pub fn of(query: &'a ParsedQuery) -> Self {
        let (exact, prefixes, terms) = (HashMap::new(), HashMap::new(), query.terms.len());
        let mut wanted = Self { first: [false; 256], exact, prefixes, terms };
        for (at, term) in query.terms.iter().enumerate() {
            let by_kind = if term.prefix { &mut wanted.prefixes } else { &mut wanted.exact };
            by_kind.insert(&term.bytes, at);
            if let Some(flag) = term.bytes.first().and_then(|byte| wanted.first.get_mut(usize::from(*byte))) {
                *flag = true;
            }
        }
        wanted
    }

    /// Adds the counts of a text.
    pub fn count(&self, text: &str, counts: &mut TermCounts) {
        terms(text, |term| {
            counts.len = counts.len.saturating_add(1);
            self.count_term(term, &mut counts.counts);
        });
    }

    fn count_term(&self, term: &[u8], counts: &mut Vec<u32>) {
        let Some(first) = term.first().filter(|byte| self.first.get(usize::from(**byte)) == Some(&true))
        else {
            return;
        };
        // A prefix is a single character, and the first byte shows its length.
        let char_len = (first.leading_ones() as usize).max(1);
        let prefix = term.get(..char_len).and_then(|prefix| self.prefixes.get(prefix));
        for at in self.exact.get(term).into_iter().chain(prefix) {
            if counts.is_empty() {
                counts.resize(self.terms, 0);
            }
            if let Some(count) = counts.get_mut(*at) {
                *count = count.saturating_add(1);
            }
        }
    }
}
