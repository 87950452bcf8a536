//! Reads imported files in the ledger: their rows and their bytes.

use crate::base::error::{Error, write_error};
use crate::base::future::BoxFuture;
use crate::ledger::engine::{Engine, unexpected};
use std::path::Path;
use wunderblock_core::id::StreamId;
use wunderblock_store::codec::name_handle;
use wunderblock_store::{Answer, Query, SourceBy, SourceFilter, SourceInfo, SourceNo, codec};

/// Maximum number of chunks of a source per query.
const SOURCE_READ: u64 = 8;

pub(crate) async fn source_info(
    engine: &Engine,
    no: SourceNo,
    revision: Option<u32>,
) -> Result<SourceInfo, Error> {
    let query = Query::Source { tenant: engine.tenant.no, by: SourceBy::No(no), revision };
    engine.ask(query, Answer::source).await?.map(|info| *info).ok_or_else(unexpected)
}

/// Copies bytes of a source's revision to a writer, and verifies the checksum of each chunk. Returns the number of
/// bytes.
pub(crate) async fn copy_source(
    engine: &Engine,
    info: &SourceInfo,
    from: u64,
    to: u64,
    out: &mut (dyn std::io::Write + Send),
) -> Result<u64, Error> {
    let mut at = from;
    while at < to {
        let revision = info.revision.no;
        let query = Query::Chunks { source: info.no, revision, from: at, to, limit: SOURCE_READ };
        let chunks = engine.ask(query, Answer::chunks).await?;
        if chunks.is_empty() {
            break;
        }
        for chunk in chunks {
            let bytes = codec::unpack_chunk(&chunk)?;
            if chunk.offset > at {
                let why = format!("bytes {at} to {} of `{}` are missing", chunk.offset, info.key);
                return Err(Error::Store(wunderblock_store::StoreError::Damaged(why)));
            }
            // The range may begin and end inside a chunk.
            let begin = usize::try_from(at.saturating_sub(chunk.offset)).unwrap_or(usize::MAX);
            let end = chunk.len.min(to.saturating_sub(chunk.offset));
            let end = usize::try_from(end).unwrap_or(usize::MAX).min(bytes.len());
            let part = bytes.get(begin..end).unwrap_or_default();
            out.write_all(part).map_err(|error| write_error(&error))?;
            at = chunk.offset + end as u64;
        }
    }
    Ok(at - from)
}

/// Returns the source that a path was imported as, with its latest revision.
pub(crate) async fn newest_source(engine: &Engine, path: &Path) -> Result<Option<SourceInfo>, Error> {
    let by = SourceBy::Key(path.to_string_lossy().into_owned());
    let query = Query::Source { tenant: engine.tenant.no, by, revision: None };
    Ok(engine.ask(query, Answer::source).await?.map(|info| *info))
}

/// Returns the handle of the source for a path.
pub(crate) fn source_handle(engine: &Engine, path: &Path) -> wunderblock_core::id::Handle {
    name_handle(&engine.tenant.key, "source", &path.to_string_lossy())
}

/// Returns all revisions of all sources.
pub(crate) async fn list_revisions(engine: &Engine) -> Result<Vec<SourceInfo>, Error> {
    let filter = SourceFilter { older: true, ..SourceFilter::default() };
    engine.ask(Query::Sources { tenant: engine.tenant.no, filter }, Answer::sources).await
}

/// Returns the files that a session was read from, each with the revision that holds the session; the latest file
/// comes last.
///
/// # Errors
/// Returns an error if the ledger cannot be read.
pub fn originals<'a>(session: &'a crate::ledger::session::Session) -> BoxFuture<'a, Vec<SourceInfo>> {
    Box::pin(async move {
        let engine = &session.engine;
        let query = Query::SourcesOf { tenant: engine.tenant.no, stream: session.id.clone() };
        engine.ask(query, Answer::sources).await
    })
}

/// Returns the streams that were read from a revision.
pub(crate) async fn readers_of(
    engine: &Engine,
    source: SourceNo,
    revision: u32,
) -> Result<Vec<StreamId>, Error> {
    let query = Query::ReadFrom { tenant: engine.tenant.no, source, revision: Some(revision) };
    let streams = engine.ask(query, Answer::streams).await?;
    Ok(streams.into_iter().map(|info| info.id).collect())
}
