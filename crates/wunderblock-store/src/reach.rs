//! What a door may see of a tenant, and a store that answers only within that.

use super::{Answer, Answering, Commit, Query, SourceNo, Storage, StoreError, TenantNo, Written};
use std::fmt;
use std::sync::Arc;
use wunderblock_core::id::{Scope, StreamId};

/// What a door may see of a tenant: the streams whose scope keeps every limit.
///
/// Limits are compared as a whole: a user is never taken for another whose name begins in the same way. There is no
/// default, so every door states its reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach(Vec<ScopeLimit>);

/// Value that a part of a scope must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScopeLimit {
    /// The user; `None` for streams without one.
    User(Option<String>),
    /// The project; `None` for streams without one.
    Project(Option<String>),
    /// The agent; `None` for streams without one.
    Agent(Option<String>),
}

impl Reach {
    /// Returns the reach of everything that a tenant holds.
    #[must_use]
    pub const fn tenant() -> Self {
        Self(Vec::new())
    }

    /// Returns what is in this reach and keeps a limit.
    #[must_use]
    pub fn and(mut self, limit: ScopeLimit) -> Self {
        if !self.0.contains(&limit) {
            self.0.push(limit);
        }
        self
    }

    /// Returns what is in both reaches. Nothing is, if they name two projects or two users.
    #[must_use]
    pub fn within(&self, other: &Self) -> Self {
        other.0.iter().cloned().fold(self.clone(), Self::and)
    }

    /// Returns the limits.
    #[must_use]
    pub fn limits(&self) -> &[ScopeLimit] {
        &self.0
    }

    /// Returns whether the reach is the whole tenant.
    #[must_use]
    pub const fn is_tenant(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a stream with this scope is in reach.
    #[must_use]
    pub fn admits(&self, scope: &Scope) -> bool {
        self.0.iter().all(|limit| match limit {
            ScopeLimit::User(user) => *user == scope.user,
            ScopeLimit::Project(project) => *project == scope.project,
            ScopeLimit::Agent(agent) => *agent == scope.agent,
        })
    }
}

impl fmt::Display for Reach {
    /// Writes the reach as the object of a sentence: `the project x and the user y`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_tenant() {
            return f.write_str("the whole ledger");
        }
        let limits = self.0.iter().map(|limit| match limit {
            ScopeLimit::User(user) => ("user", user),
            ScopeLimit::Project(project) => ("project", project),
            ScopeLimit::Agent(agent) => ("agent", agent),
        });
        let words = limits.map(|(part, value)| match value {
            Some(value) => format!("the {part} {value}"),
            None => format!("no {part}"),
        });
        f.write_str(&words.collect::<Vec<_>>().join(" and of "))
    }
}

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
    /// Returns what the query reads. A new query must be decided here: no case stands for the others.
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
