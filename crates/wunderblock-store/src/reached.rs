//! What a query reads, and a store that answers only within a reach.

use crate::query::{Answer, Query};
use crate::reach::Reach;
use crate::{Answering, Commit, SourceNo, Storage, StoreError, TenantNo, Written};
use std::sync::Arc;
use wunderblock_core::id::StreamId;

/// What a query reads, as far as a reach decides whether it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuerySubject<'q> {
    /// One stream, which must be in reach. Otherwise it is unknown.
    Stream(TenantNo, &'q StreamId),
    /// Bytes of one source, which must be in reach. Otherwise it has none.
    Source(SourceNo),
    /// What the query selects, which the store limits to the reach.
    Selected,
    /// State of the tenant, and tables made from all of its streams, which are the same within every reach.
    Shared,
}

impl Query {
    /// Returns what the query reads. A new query does not compile until it is decided here.
    #[must_use]
    pub const fn subject(&self) -> QuerySubject<'_> {
        match self {
            Self::Lineage { tenant, stream }
            | Self::Events { tenant, stream, .. }
            | Self::At { tenant, stream, .. }
            | Self::Marked { tenant, stream, .. }
            | Self::BodiesOf { tenant, stream, .. }
            | Self::Tallies { tenant, stream, .. }
            | Self::SourcesOf { tenant, stream }
            | Self::Ids { tenant, stream, .. } => QuerySubject::Stream(*tenant, stream),
            Self::Lost { since, stream, .. } => QuerySubject::Stream(since.tenant, stream),
            Self::Chunks { source, .. } => QuerySubject::Source(*source),
            Self::Within { .. }
            | Self::Tenants
            | Self::Stream { .. }
            | Self::Streams { .. }
            | Self::StreamsByNo { .. }
            | Self::Passing { .. }
            | Self::OfKinds { .. }
            | Self::PlacesOfKinds { .. }
            | Self::Blobs { .. }
            | Self::Counts { .. }
            | Self::Resolve { .. }
            | Self::Handles { .. }
            | Self::Holders { .. }
            | Self::Source { .. }
            | Self::ReadFrom { .. }
            | Self::Sources { .. }
            | Self::Records { .. }
            | Self::Usage { .. }
            | Self::Unsettled { .. }
            | Self::Behind { .. } => QuerySubject::Selected,
            Self::Tenant { .. }
            | Self::Erasures { .. }
            | Self::Erased { .. }
            | Self::Lease { .. }
            | Self::Epoch { .. }
            | Self::Segments { .. }
            | Self::Blocks { .. }
            | Self::SegmentBlocks { .. } => QuerySubject::Shared,
        }
    }

    /// Returns the answer to a query whose subject is not in reach.
    ///
    /// # Errors
    /// Returns the error for an unknown stream, if the query fails for one.
    pub fn unseen(&self) -> Result<Answer, StoreError> {
        match (self, self.subject()) {
            (Self::SourcesOf { .. }, _) => Ok(Answer::Sources(Vec::new())),
            (_, QuerySubject::Stream(_, stream)) => Err(StoreError::NoStream(stream.clone())),
            _ => Ok(Answer::Chunks(Vec::new())),
        }
    }
}

/// A store that answers every query within a reach. Writes pass: a door writes to streams that it has found.
pub struct Reached {
    whole: Arc<dyn Storage>,
    reach: Reach,
}

impl Reached {
    /// Limits a store to a reach.
    pub fn new(whole: Arc<dyn Storage>, reach: Reach) -> Self {
        Self { whole, reach }
    }
}

impl Storage for Reached {
    fn commit(&self, commit: Commit) -> Answering<'_, Vec<Written>> {
        self.whole.commit(commit)
    }

    fn query(&self, queries: Vec<Query>) -> Answering<'_, Vec<Answer>> {
        let within = |query| Query::Within { reach: self.reach.clone(), query: Box::new(query) };
        self.whole.query(queries.into_iter().map(within).collect())
    }
}
