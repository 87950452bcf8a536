//! Erasure in imported files.

use super::loss::Raw;
use crate::engine::Engine;
use crate::error::Error;
use crate::imported_records::{RecordHit, RecordQuery, find_records};
use crate::originals::{readers_of, source_info};
use crate::store::{Answer, Erasure, Gone, HandleTarget, Query, SourceInfo, SourceNo, SourceSpan, Write};
use std::collections::{BTreeMap, BTreeSet};
use wunderblock_core::id::{Handle, StreamId};

/// Returns the revisions from which streams were read, without duplicates.
pub(super) async fn sources_of(
    engine: &Engine,
    streams: &BTreeSet<StreamId>,
) -> Result<Vec<SourceInfo>, Error> {
    let mut found: BTreeMap<(SourceNo, u32), SourceInfo> = BTreeMap::new();
    for stream in streams {
        let query = Query::SourcesOf { tenant: engine.tenant.no, stream: stream.clone() };
        let sources = engine.ask(query, Answer::sources).await?;
        found.extend(sources.into_iter().map(|source| ((source.no, source.revision.no), source)));
    }
    Ok(found.into_values().collect())
}

/// Returns the byte ranges of sessions within their files, and the coordinates of their records. If a file contains
/// no other session, all of its bytes are returned. Content that is added to a file later is new, so it is not
/// erased.
pub(super) async fn records_of(
    engine: &Engine,
    streams: &BTreeSet<StreamId>,
    sessions: &BTreeSet<String>,
) -> Result<Raw, Error> {
    let mut raw = Raw::default();
    for source in sources_of(engine, streams).await? {
        let (no, revision) = (source.no, source.revision.no);
        let alone = readers_of(engine, no, revision).await?.iter().all(|stream| streams.contains(stream));
        if alone {
            raw.spans.insert(SourceSpan { source: source.handle, revision, offset: 0, len: u64::MAX });
        }
        let wanted = RecordQuery { sessions: sessions.clone(), whole: true, ..RecordQuery::default() };
        for RecordHit { span, session, record } in find_records(engine, source, wanted).await? {
            raw.spans.extend(Some(span).filter(|_| !alone));
            raw.erasures.insert(Erasure { session, what: Gone::Record(record) });
        }
    }
    Ok(raw)
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
        let named = engine.ask(Query::Resolve { tenant: engine.tenant.no, handle }, Answer::named).await?;
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
