//! Batches of queries to the ledger, with answers by key.
//!
//! Queries of one [`QueryBatch`] are sent together and see the same snapshot. Each answer is retrieved with the key
//! returned when its query was added, so adding another query in between does not change any other answer.

use crate::base::error::Error;
use crate::ledger::engine::{Engine, unexpected};
use wunderblock_core::id::StreamId;
use wunderblock_core::units::Seq;
use wunderblock_store::{Answer, Marked, Query, StoreError};

/// Limit for queries that return all rows.
pub(crate) const EVERY: u64 = u32::MAX as u64;

/// Upper bound of all positions: no event comes after it.
pub(crate) const NEWEST: Seq = Seq(i64::MAX as u64);

/// Queries that are sent together.
#[derive(Default)]
pub(crate) struct QueryBatch(Vec<Query>);

/// Key of an answer in a batch.
pub(crate) struct AnswerKey<T> {
    place: usize,
    read: fn(Answer) -> Option<T>,
}

impl QueryBatch {
    /// Returns whether the batch has no queries.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a query. `read` converts the query's answer, for example [`Answer::events`].
    pub(crate) fn ask<T>(&mut self, query: Query, read: fn(Answer) -> Option<T>) -> AnswerKey<T> {
        self.0.push(query);
        AnswerKey { place: self.0.len() - 1, read }
    }
}

/// Answers of a batch.
pub(crate) struct Answers(Vec<Option<Answer>>);

impl Answers {
    /// Returns the answer to a query. Each answer can be taken only once.
    pub(crate) fn take<T>(&mut self, asked: AnswerKey<T>) -> Result<T, Error> {
        let answer = self.0.get_mut(asked.place).and_then(Option::take);
        answer.and_then(asked.read).ok_or_else(unexpected)
    }
}

impl Engine {
    /// Sends all queries of a batch together.
    pub(crate) async fn ask_all(&self, batch: QueryBatch) -> Result<Answers, Error> {
        match self.storage.query(batch.0).await {
            Err(StoreError::NoStream(id)) => Err(Error::NoSession(id.to_string())),
            answers => Ok(Answers(answers?.into_iter().map(Some).collect())),
        }
    }

    /// Sends one query.
    pub(crate) async fn ask<T>(&self, query: Query, read: fn(Answer) -> Option<T>) -> Result<T, Error> {
        let answer = self.storage.query(vec![query]).await?.pop();
        answer.and_then(read).ok_or_else(unexpected)
    }
}

/// Returns the query for a stream's control events up to a position, newest first, at most `limit` of them.
pub(crate) fn marked(engine: &Engine, stream: &StreamId, what: Marked, to: Seq, limit: u64) -> Query {
    Query::Marked { tenant: engine.tenant.no, stream: stream.clone(), what, to, limit }
}
