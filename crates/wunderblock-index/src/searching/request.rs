//! Request for a search, and its hits.

use crate::searching::query::ParsedQuery;
use crate::searching::scope::DocScope;
use crate::searching::score::HitStrength;
use crate::storing::docs::DocKey;
use crate::storing::frame::SegmentError;

/// Order of hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchOrder {
    /// Best hits first, and newest first among hits with equal scores.
    Ranked,
    /// Newest first.
    Newest,
}

/// A search: query, scope, order and limit.
#[derive(Clone, Copy, Debug)]
pub struct IndexSearch<'a> {
    /// Words and phrases to look for.
    pub query: &'a ParsedQuery,
    /// Documents that the searcher may see.
    pub scope: &'a DocScope,
    /// Order of the hits.
    pub order: SearchOrder,
    /// Maximum number of hits.
    pub limit: usize,
}

/// A document found by a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocHit {
    /// Key of the document.
    pub doc: DocKey,
    /// Score with 16 fractional bits; zero if hits are ordered by age.
    pub score: i64,
    /// How well the document answers the query; zero if hits are ordered by age.
    pub strength: HitStrength,
    /// Words and phrases of the query that the document contains, as written in the query.
    pub matched: Vec<Box<str>>,
}

/// Reason why a search failed: a damaged index, or an error `E` of the caller's `fetch` or `check`.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError<E> {
    /// Bytes of the index are damaged.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// A block could not be read, or a text could not be checked.
    #[error(transparent)]
    Source(E),
}
