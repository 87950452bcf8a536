//! Erasure in imported files.

use super::loss::Raw;
use crate::base::error::Error;
use crate::import::records::find::{RecordQuery, find_records};
use crate::ledger::engine::Engine;
use crate::ledger::reading::originals::{readers_of, source_info};
use crate::ledger::reading::query_batch::QueryBatch;
use std::collections::BTreeSet;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_store::{Answer, HandleTarget, Query, SourceInfo, SourceSpan, StreamKind, Write};

/// Returns the revisions from which each of some streams was read.
pub(super) async fn sources_of<'s>(
    engine: &Engine,
    streams: impl Iterator<Item = &'s StreamId>,
) -> Result<Vec<Vec<SourceInfo>>, Error> {
    let (tenant, mut batch) = (engine.tenant.no, QueryBatch::default());
    let ask =
        |stream: &StreamId| batch.ask(Query::SourcesOf { tenant, stream: stream.clone() }, Answer::sources);
    let asked: Vec<_> = streams.map(ask).collect();
    let mut answers = engine.ask_all(batch).await?;
    asked.into_iter().map(|key| answers.take(key)).collect()
}

impl Raw {
    /// Adds the records of a revision that match a query. If whole sessions are wanted and the file has no others, all
    /// of its bytes are added. Content that is added to a file later is new, so it is not erased.
    pub(super) async fn search(
        &mut self,
        engine: &Engine,
        source: SourceInfo,
        wanted: &RecordQuery,
        own: &BTreeSet<StreamId>,
    ) -> Result<(), Error> {
        let (handle, no, revision) = (source.handle, source.no, source.revision.no);
        let is_own = |stream: &StreamId| own.contains(stream);
        let alone = wanted.whole && readers_of(engine, no, revision).await?.iter().all(is_own);
        if alone {
            self.spans.insert(SourceSpan { source: handle, revision, offset: 0, len: u64::MAX });
        }
        for hit in find_records(engine, source, wanted.clone()).await? {
            self.take(&engine.tenant.key, &hit);
        }
        Ok(())
    }
}

/// Returns the writes that give each format-1 revision its own copy of its bytes. Revisions of format 1 share the
/// bytes of a common beginning, which must not be overwritten if a stream outside `own` was read from them.
pub(super) async fn unshared_writes(
    engine: &Engine,
    spans: &[SourceSpan],
    own: &BTreeSet<StreamId>,
) -> Result<Vec<Write>, Error> {
    let mut writes = Vec::new();
    for handle in spans.iter().map(|span| span.source).collect::<BTreeSet<Handle>>() {
        let named = engine
            .ask(Query::Resolve { tenant: engine.tenant.no, of: StreamKind::Session, handle }, Answer::named)
            .await?;
        let Some(HandleTarget::Source(source, None)) = named else { continue };
        let newest = source_info(engine, source, None).await?.revision.no;
        let mut before = 0;
        for revision in 1..=newest {
            let info = source_info(engine, source, Some(revision)).await?.revision;
            if info.shared > 0 && info.shared < before {
                let readers = readers_of(engine, source, revision).await?;
                let earlier = readers_of(engine, source, revision - 1).await?;
                let foreign = |streams: &[StreamId]| streams.iter().any(|stream| !own.contains(stream));
                if foreign(&readers) || foreign(&earlier) {
                    writes.push(Write::Unshare { source, revision });
                }
            }
            before = info.len;
        }
    }
    Ok(writes)
}
