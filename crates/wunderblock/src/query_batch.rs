//! Questions to the ledger, and their answers by name.
//!
//! Queries of one [`QueryBatch`] travel together and see one snapshot. Each answer is taken with what asking gave, so that a
//! further question in between changes none of the others.

use crate::engine::{Engine, unexpected};
use crate::error::Error;
use crate::store::{Answer, Marked, Query, StoreError};
use wunderblock_core::id::StreamId;
use wunderblock_core::units::Seq;

/// As many rows as there are.
pub(crate) const EVERY: u64 = u32::MAX as u64;

/// The position of nothing yet: no event is past it.
pub(crate) const NEWEST: Seq = Seq(i64::MAX as u64);

/// Questions that travel together.
#[derive(Default)]
pub(crate) struct QueryBatch(Vec<Query>);

/// What an answer is taken with.
pub(crate) struct AnswerKey<T> {
    place: usize,
    read: fn(Answer) -> Option<T>,
}

impl QueryBatch {
    /// Whether nothing is asked.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a question whose answer is read as a kind: [`Answer::events`] and so on.
    pub(crate) fn ask<T>(&mut self, query: Query, read: fn(Answer) -> Option<T>) -> AnswerKey<T> {
        self.0.push(query);
        AnswerKey { place: self.0.len() - 1, read }
    }
}

/// The answers of a batch.
pub(crate) struct Answers(Vec<Option<Answer>>);

impl Answers {
    /// The answer to a question, once.
    pub(crate) fn take<T>(&mut self, asked: AnswerKey<T>) -> Result<T, Error> {
        let answer = self.0.get_mut(asked.place).and_then(Option::take);
        answer.and_then(asked.read).ok_or_else(unexpected)
    }
}

impl Engine {
    /// Asks all questions of a batch at once.
    pub(crate) async fn ask_all(&self, batch: QueryBatch) -> Result<Answers, Error> {
        match self.storage.query(batch.0).await {
            Err(StoreError::NoStream(id)) => Err(Error::NoSession(id.to_string())),
            answers => Ok(Answers(answers?.into_iter().map(Some).collect())),
        }
    }

    /// Asks one question.
    pub(crate) async fn ask<T>(&self, query: Query, read: fn(Answer) -> Option<T>) -> Result<T, Error> {
        let answer = self.storage.query(vec![query]).await?.pop();
        answer.and_then(read).ok_or_else(unexpected)
    }
}

/// The query for a stream's control events up to a position, the newest first, at most `limit` of them.
pub(crate) fn marked(engine: &Engine, stream: &StreamId, what: Marked, (to, limit): (Seq, u64)) -> Query {
    Query::Marked { tenant: engine.tenant.no, stream: stream.clone(), what, to, limit }
}
