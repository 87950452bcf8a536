//! Request for a search, and its hits.

use crate::searching::query::ParsedQuery;
use crate::searching::scope::DocScope;
use crate::storing::docs::DocKey;
use crate::storing::frame::SegmentError;

/// A search for the newest documents with all words of a query.
#[derive(Clone, Copy, Debug)]
pub struct IndexSearch<'a> {
    /// Words and phrases to look for.
    pub query: &'a ParsedQuery,
    /// Documents that the searcher may see.
    pub scope: &'a DocScope,
    /// Maximum number of hits.
    pub limit: usize,
}

/// A document found by a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocHit {
    /// Key of the document.
    pub doc: DocKey,
    /// Length of the document in terms.
    pub len: u32,
    /// Words and phrases of the query that the document contains, as written in the query.
    pub matched: Vec<Box<str>>,
}

/// Reason why a search failed: a damaged index, or an error `E` of the caller's `fetch`.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError<E> {
    /// Bytes of the index are damaged.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// A block could not be read.
    #[error(transparent)]
    Source(E),
}
