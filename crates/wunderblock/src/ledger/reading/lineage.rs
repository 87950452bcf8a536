//! Relations between the streams of a ledger: branches of a session, and the streams that hold its positions.

use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::reading::query_batch::{AnswerKey, Answers, EVERY, QueryBatch};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use wunderblock_core::id::StreamId;
use wunderblock_core::units::Seq;
use wunderblock_store::{
    Answer, DerivedTable, Query, StreamFilter, StreamInfo, StreamKind, Stretch, TenantNo,
};

/// All streams of a ledger, by id.
pub(crate) struct Streams<'s>(HashMap<&'s StreamId, &'s StreamInfo>);

/// Positions of a stream that are stored in a stream of its line: the stream, the first and the last position.
pub(crate) type LinePart<'s> = (&'s StreamInfo, Seq, Seq);

impl<'s> Streams<'s> {
    pub(crate) fn new(streams: &'s [StreamInfo]) -> Self {
        Self(streams.iter().map(|info| (&info.id, info)).collect())
    }

    pub(crate) fn get(&self, id: &StreamId) -> Option<&'s StreamInfo> {
        self.0.get(id).copied()
    }

    /// Returns the streams that hold a stream's positions from `from` on; the stream itself comes first.
    pub(crate) fn line(&self, info: &'s StreamInfo, from: Seq) -> Vec<LinePart<'s>> {
        let mut line = Vec::new();
        let (mut at, mut to) = (info, info.head);
        loop {
            let base = at.base();
            if base < to || line.is_empty() {
                line.push((at, base.next(), to));
            }
            to = to.min(base);
            if to < from {
                return line;
            }
            match at.fork.as_ref().and_then(|(parent, _)| self.get(parent)) {
                Some(parent) if line.len() <= self.0.len() => at = parent,
                _ => return line,
            }
        }
    }
}

/// Returns the name that a session and its branches share.
pub(crate) fn root(id: &StreamId) -> &str {
    id.as_str().split('~').next().unwrap_or_default()
}

/// Returns the session's own name, without a branch number or a copy mark.
pub(crate) fn native(id: &StreamId) -> &str {
    let root = Some(root(id)).filter(|root| !root.is_empty()).unwrap_or(id.as_str());
    root.split('@').next().filter(|root| !root.is_empty()).unwrap_or(root)
}

/// Returns a session and its branches: `ID`, `ID~2`, `ID~3` and so on, if they forked from each other.
pub(crate) fn own_streams(id: &StreamId, streams: &[StreamInfo]) -> BTreeSet<StreamId> {
    let mut joined: BTreeMap<&StreamId, Vec<&StreamId>> = BTreeMap::new();
    for info in streams.iter().filter(|info| root(&info.id) == root(id)) {
        if let Some((parent, _)) = info.fork.as_ref().filter(|(parent, _)| root(parent) == root(id)) {
            joined.entry(&info.id).or_default().push(parent);
            joined.entry(parent).or_default().push(&info.id);
        }
    }
    let mut own = BTreeSet::from([id.clone()]);
    let mut next = vec![id];
    while let Some(one) = next.pop() {
        for other in joined.remove(one).unwrap_or_default() {
            if own.insert(other.clone()) {
                next.push(other);
            }
        }
    }
    own
}

/// Streams that were asked for.
pub(crate) type AskedStreams = Vec<AnswerKey<Vec<StreamInfo>>>;

/// Asks for the streams of some kinds that pass a filter. A query has streams of one kind.
pub(crate) fn ask_streams(
    batch: &mut QueryBatch,
    tenant: TenantNo,
    kinds: &[StreamKind],
    filter: &StreamFilter,
) -> AskedStreams {
    let filter = |kind| StreamFilter { kind, ..filter.clone() };
    let query = |kind| Query::Streams { tenant, filter: filter(kind), limit: EVERY };
    kinds.iter().map(|kind| batch.ask(query(*kind), Answer::streams)).collect()
}

/// Asks for the streams of some kinds whose events wait for any of some derived tables.
pub(crate) fn ask_behind(
    batch: &mut QueryBatch,
    tenant: TenantNo,
    kinds: &[StreamKind],
    tables: &[DerivedTable],
) -> AskedStreams {
    let query = |of| Query::Behind { tenant, of, tables: tables.to_vec(), limit: EVERY };
    kinds.iter().map(|kind| batch.ask(query(*kind), Answer::streams)).collect()
}

/// Returns the streams that were asked for.
pub(crate) fn take_streams(answers: &mut Answers, asked: AskedStreams) -> Result<Vec<StreamInfo>, Error> {
    let streams: Result<Vec<_>, _> = asked.into_iter().map(|key| answers.take(key)).collect();
    Ok(streams?.into_iter().flatten().collect())
}

impl Engine {
    /// Returns the streams of all kinds.
    pub(crate) async fn every_stream(&self) -> Result<Vec<StreamInfo>, Error> {
        let mut batch = QueryBatch::default();
        let asked = ask_streams(&mut batch, self.tenant.no, &StreamKind::ALL, &StreamFilter::default());
        take_streams(&mut self.ask_all(batch).await?, asked)
    }

    /// Returns a stream of any kind.
    pub(crate) async fn stream(&self, stream: &StreamId) -> Result<Option<StreamInfo>, Error> {
        let (tenant, mut batch) = (self.tenant.no, QueryBatch::default());
        let query = |of| Query::Stream { tenant, of, stream: stream.clone() };
        let asked = StreamKind::ALL.map(|kind| batch.ask(query(kind), Answer::stream));
        let mut answers = self.ask_all(batch).await?;
        let found: Result<Vec<_>, _> = asked.into_iter().map(|key| answers.take(key)).collect();
        Ok(found?.into_iter().flatten().next().map(|info| *info))
    }
}

/// Returns the lineage of a stream: the stretches of streams that hold its positions.
pub(crate) async fn lineage_of(engine: &Engine, stream: &StreamId) -> Result<Vec<Stretch>, Error> {
    engine.ask(Query::Lineage { tenant: engine.tenant.no, stream: stream.clone() }, Answer::lineage).await
}
