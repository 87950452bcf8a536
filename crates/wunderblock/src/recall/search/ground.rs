//! What a search reads, from one snapshot.

use super::options::{SearchIn, SearchOptions};
use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::header_cache::SegmentKey;
use crate::ledger::reading::lineage::{ask_behind, ask_streams, take_streams};
use crate::ledger::reading::query_batch::QueryBatch;
use crate::limits::{SCAN_BYTES, SCAN_EVENTS};
use crate::recall::document::key_of;
use std::sync::Arc;
use wunderblock_core::id::StreamId;
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_index::{DocKey, DocScope, Header, VectorHeader};
use wunderblock_store::{Answer, DerivedTable, EventFilter, Query, StreamInfo, StreamNo, Stretch, TenantNo};

/// State of the index and the ledger: every document is either indexed or waiting, and none is both.
pub(super) struct Ground {
    pub(super) scope: DocScope,
    /// Streams with documents in scope; `None` if all have.
    streams: Option<Vec<StreamNo>>,
    /// Documents that pass the filter for events; `None` if all do. The others still count in the ranking.
    pub(super) passing: Option<DocScope>,
    /// Streams with events that are not indexed yet, or have no vectors yet.
    pub(super) behind: Vec<StreamInfo>,
    /// Index segments, newest first.
    pub(super) segments: Vec<(u64, Arc<Header>)>,
    /// Segments of vectors.
    pub(super) vectors: Vec<(SegmentKey, Arc<VectorHeader>)>,
}

impl Ground {
    pub(super) async fn find(engine: &Engine, options: &SearchOptions) -> Result<Self, Error> {
        let (tenant, kinds) = (engine.tenant.no, options.within.kinds());
        let mut batch = QueryBatch::default();
        let behind = ask_behind(&mut batch, tenant, kinds, &[DerivedTable::Words, DerivedTable::Vectors]);
        let mut ask = |table| batch.ask(Query::Segments { tenant, table }, Answer::segments);
        let (segments, vectors) = (ask(DerivedTable::Words), ask(DerivedTable::Vectors));
        let lineage = options.session.as_ref().map(|id| batch.ask(lineage(tenant, id), Answer::lineage));
        let except = options.except.as_ref().filter(|_| lineage.is_none());
        let excepted = except.map(|id| batch.ask(self::lineage(tenant, id), Answer::lineage));
        let before = options.before.as_ref();
        let cut = before.map(|(id, seq)| (batch.ask(self::lineage(tenant, id), Answer::lineage), *seq));
        // Only what is in reach may count in a ranking, and the segments hold words of all sessions.
        let is_part = options.within != SearchIn::Everything || !engine.reach.is_tenant();
        let is_chosen = !options.sessions.is_open() || except.is_some() || before.is_some() || is_part;
        let filter = Some(&options.sessions).filter(|_| lineage.is_none() && is_chosen);
        let chosen = filter.map(|filter| ask_streams(&mut batch, tenant, kinds, filter));
        let mut answers = engine.ask_all(batch).await?;
        let (behind, segments) = (take_streams(&mut answers, behind)?, answers.take(segments)?);
        let segments = engine.known.headers(segments)?;
        let vectors = engine.known.vector_headers(answers.take(vectors)?)?;
        let scope = DocScope::everything();
        let mut ground = Self { scope, streams: None, passing: None, behind, segments, vectors };
        let cut = cut.map(|(key, seq)| Ok::<_, Error>((answers.take(key)?, seq))).transpose()?;
        if let Some(chosen) = chosen {
            let mut chosen = take_streams(&mut answers, chosen)?;
            if let (Some(except), Some(excepted)) = (except, excepted) {
                leave_out(&mut chosen, except, &answers.take(excepted)?);
            }
            ground.narrow_to(&chosen, cut.as_ref());
            ground.streams = Some(chosen.iter().map(|info| info.no).collect());
        }
        if let Some(lineage) = lineage {
            let mut stretches = answers.take(lineage)?;
            if let Some((_, before)) = cut {
                stretches.iter_mut().for_each(|stretch| stretch.to = stretch.to.min(before.prev()));
            }
            let ranges = stretches.iter().map(|stretch| (stretch.no.0, stretch.from.0..=stretch.to.0));
            ground.scope = DocScope::of(ranges);
            ground.behind.retain(|info| stretches.iter().any(|stretch| stretch.no == info.no));
            ground.streams = Some(stretches.iter().map(|stretch| stretch.no).collect());
        }
        Ok(ground)
    }

    /// Asks the store which documents pass a filter for events.
    pub(super) async fn filtered(mut self, engine: &Engine, filter: &EventFilter) -> Result<Self, Error> {
        if !filter.is_open() {
            let (tenant, streams) = (engine.tenant.no, self.streams.clone());
            let passing = Query::Passing { tenant, streams, filter: filter.clone() };
            let places = engine.ask(passing, Answer::holders).await?;
            let places = places.into_iter().filter(|(no, seq)| self.scope.contains(key_of(*no, *seq)));
            self.passing = Some(DocScope::of(places.map(|(no, seq)| (no.0, seq.0..=seq.0))));
        }
        Ok(self)
    }

    /// Returns whether a document may be a hit.
    pub(super) fn passes(&self, key: DocKey) -> bool {
        self.passing.as_ref().is_none_or(|passing| passing.contains(key))
    }

    /// Limits the search to sessions. A fork is searched from its own positions on: the earlier ones belong to the
    /// session that it continues. `cut` has the line of a session, and the position at which it ends. Of a document, the
    /// current version is searched.
    fn narrow_to(&mut self, chosen: &[StreamInfo], cut: Option<&(Vec<Stretch>, Seq)>) {
        let end = |info: &StreamInfo| {
            let own = cut.filter(|(line, _)| line.iter().any(|stretch| stretch.no == info.no));
            own.map_or(info.head, |(_, before)| info.head.min(before.prev()))
        };
        self.scope = DocScope::of(chosen.iter().map(|info| (info.no.0, info.first().0..=end(info).0)));
        self.behind.retain(|info| chosen.iter().any(|chosen| chosen.no == info.no));
    }

    /// Returns whether more is waiting to be indexed than a search scans quickly. The waiting text of a session is
    /// estimated from the average length of its events.
    pub(super) fn is_far_behind(&self, table: DerivedTable) -> bool {
        let waiting = |info: &StreamInfo| info.head.0.saturating_sub(info.reach(table).0);
        let events: u64 = self.behind.iter().map(waiting).sum();
        let text = |info: &StreamInfo| Bytes(info.text.0 / info.head.0.max(1) * waiting(info));
        events > SCAN_EVENTS || self.behind.iter().map(text).sum::<Bytes>() > SCAN_BYTES
    }
}

fn lineage(tenant: TenantNo, stream: &StreamId) -> Query {
    Query::Lineage { tenant, stream: stream.clone() }
}

/// Removes a session from others, with its branches and sub-agents, and the sessions that it continues.
fn leave_out(chosen: &mut Vec<StreamInfo>, except: &StreamId, continued: &[Stretch]) {
    let root = |id: &StreamId| id.root() == except.root();
    let is_own = |info: &StreamInfo| root(&info.id) || info.parent.as_ref().is_some_and(root);
    chosen.retain(|info| !is_own(info) && !continued.iter().any(|stretch| stretch.no == info.no));
}
