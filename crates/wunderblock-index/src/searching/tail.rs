//! Documents that are not indexed yet, scanned for one query and treated as the newest segment.
//!
//! Recording does not wait for the index, so a search reads the newest documents as text. Documents that are not
//! indexed yet count in the statistics and are scored by the same formula as indexed documents, so their hits are
//! ranked correctly among the indexed ones.

use crate::passages::passages;
use crate::passages::voice::Voice;
use crate::searching::query::ParsedQuery;
use crate::searching::term::Term;
use crate::storing::docs::{DocKey, Docs, DocsWriter, Row};
use crate::storing::frame::SegmentError;
use crate::storing::postings::{Posting, Postings};
use crate::words::terms;
use std::collections::HashMap;

/// Documents after the newest segment, with their postings for the terms of one query.
#[derive(Clone, Debug)]
pub struct Tail {
    pub(crate) docs: Docs,
    /// Postings of each term of the query.
    pub(crate) postings: Vec<Postings>,
}

impl Tail {
    /// Returns the tail of documents of whole texts, oldest first, whose terms are counted.
    #[must_use]
    pub fn of(query: &ParsedQuery, documents: impl IntoIterator<Item = (DocKey, TermCounts)>) -> Self {
        let mut writer = TailWriter::of(query);
        for (key, counts) in documents {
            writer.counts = counts;
            writer.end_row(&Row::WHOLE);
            writer.docs.end_document(key, &mut writer.rows);
        }
        writer.finish()
    }

    /// Returns the tail of one of the queries whose terms were scanned together: [`ParsedQuery::terms_of`].
    #[must_use]
    pub fn of_query(&self, scanned: &ParsedQuery, query: &ParsedQuery) -> Self {
        let postings = query.terms.iter().map(|term| {
            let at = scanned.terms.binary_search(term).ok();
            at.and_then(|at| self.postings.get(at)).cloned().unwrap_or_default()
        });
        Self { docs: self.docs.clone(), postings: postings.collect() }
    }

    /// Joins tails of one query, oldest first. The texts of the tails do not have to be in memory at the same time.
    ///
    /// # Errors
    /// Fails if there are more documents than can be numbered.
    pub fn join(query: &ParsedQuery, tails: Vec<Self>) -> Result<Self, SegmentError> {
        let malformed = SegmentError::Malformed { what: "there are too many documents to scan" };
        let mut docs = DocsWriter::default();
        let mut postings = vec![Postings::default(); query.terms.len()];
        for tail in tails {
            let (shift, limit) = (docs.docs().rows.len() as u32, tail.docs.rows.len() as u32);
            for (to, from) in postings.iter_mut().zip(&tail.postings).filter(|(_, from)| from.docs > 0) {
                to.append(&from.bytes, shift, limit).ok_or(malformed)?;
            }
            tail.docs.keyed().for_each(|(key, row)| docs.copy(&tail.docs, key, row));
            // A text that is kept as bytes has the key of the message in its place.
            docs.close();
        }
        Ok(Self { docs: docs.finish(), postings })
    }
}

/// Scans documents for the terms of a query, oldest first, in the way in which a segment is built from them.
pub struct TailWriter<'q> {
    counter: TermCounter<'q>,
    docs: DocsWriter,
    postings: Vec<Postings>,
    /// Complete rows of the current document.
    rows: Vec<Row>,
    counts: TermCounts,
    /// Whether the current row is one of whole texts.
    is_whole: bool,
}

impl<'q> TailWriter<'q> {
    /// Creates an empty writer.
    #[must_use]
    pub fn of(query: &'q ParsedQuery) -> Self {
        Self {
            counter: TermCounter::of(query),
            docs: DocsWriter::default(),
            postings: vec![Postings::default(); query.terms.len()],
            rows: Vec::new(),
            counts: TermCounts::default(),
            is_whole: false,
        }
    }

    /// Adds a whole text to the current document, as [`crate::SegmentBuilder::add_text`] does.
    pub fn add_text(&mut self, text: &str) {
        self.is_whole = true;
        self.counter.count(text, &mut self.counts);
    }

    /// Adds a text that was said to the current document, as [`crate::SegmentBuilder::add_spoken`] does.
    pub fn add_spoken(&mut self, voice: &Voice<'_>, text: &str) {
        self.end_whole();
        for passage in passages(voice, text) {
            self.counter.count(passage.indexed, &mut self.counts);
            let row = self.docs.row(voice, passage.traits, 0);
            self.end_row(&row);
        }
    }

    /// Ends the current document and assigns its key.
    pub fn end_document(&mut self, key: DocKey) {
        self.end_whole();
        self.docs.end_document(key, &mut self.rows);
    }

    /// Returns the tail of the added documents.
    #[must_use]
    pub fn finish(self) -> Tail {
        Tail { docs: self.docs.finish(), postings: self.postings }
    }

    fn end_whole(&mut self) {
        if std::mem::take(&mut self.is_whole) {
            self.end_row(&Row::WHOLE);
        }
    }

    fn end_row(&mut self, row: &Row) {
        let TermCounts { len, counts } = std::mem::take(&mut self.counts);
        let number = (self.docs.docs().rows.len() + self.rows.len()) as u32;
        for (count, postings) in counts.iter().zip(&mut self.postings).filter(|(count, _)| **count > 0) {
            postings.push(Posting { doc: number, count: *count });
        }
        self.rows.push(Row { len, ..*row });
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
    /// Terms with several entries, by the first byte of those.
    ranges: HashMap<u8, Vec<(usize, &'a Term)>>,
    terms: usize,
}

impl<'a> TermCounter<'a> {
    /// Creates a counter of a query's terms.
    #[must_use]
    pub fn of(query: &'a ParsedQuery) -> Self {
        let (exact, ranges, terms) = (HashMap::new(), HashMap::new(), query.terms.len());
        let mut wanted = Self { first: [false; 256], exact, ranges, terms };
        for (at, term) in query.terms.iter().enumerate() {
            let Some(first) = term.bytes.first() else { continue };
            if term.is_range() {
                wanted.ranges.entry(*first).or_default().push((at, term));
            } else {
                wanted.exact.insert(&term.bytes, at);
            }
            if let Some(flag) = wanted.first.get_mut(usize::from(*first)) {
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

    fn count_term(&self, entry: &[u8], counts: &mut Vec<u32>) {
        let Some(first) = entry.first().filter(|byte| self.first.get(usize::from(**byte)) == Some(&true))
        else {
            return;
        };
        let ranges = self.ranges.get(first).into_iter().flatten();
        let ranges = ranges.filter(|(_, term)| term.has(entry)).map(|(at, _)| at);
        for at in self.exact.get(entry).into_iter().chain(ranges) {
            if counts.is_empty() {
                counts.resize(self.terms, 0);
            }
            if let Some(count) = counts.get_mut(*at) {
                *count = count.saturating_add(1);
            }
        }
    }
}
