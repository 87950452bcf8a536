//! The request for a search, and its hits.

use super::frame::SegmentError;
use super::header::DocKey;
use super::query::ParsedQuery;
use super::scope::DocScope;

/// In which order hits come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchOrder {
    /// The best first; among equals the newest.
    Ranked,
    /// The newest first.
    Newest,
}

/// What is looked for, by whom, and how much of it.
#[derive(Clone, Copy, Debug)]
pub struct IndexSearch<'a> {
    /// The words.
    pub query: &'a ParsedQuery,
    /// What the searcher may see.
    pub scope: &'a DocScope,
    /// Best or newest first.
    pub order: SearchOrder,
    /// How many hits at most.
    pub limit: usize,
}

/// A document found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocHit {
    /// Which.
    pub doc: DocKey,
    /// How good, with 16 fractional bits; zero where hits are ordered by age.
    pub score: i64,
    /// The words and phrases of the query that it has, as they were asked for.
    pub matched: Vec<Box<str>>,
}

/// Why a search failed: the index is damaged, or `E`, what the caller's reading or checking said.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError<E> {
    /// Bytes of the index are not what they should be.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// A block could not be read, or a text not be checked.
    #[error(transparent)]
    Source(E),
}
