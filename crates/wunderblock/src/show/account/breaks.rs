//! The first place at which a request did not continue the previous one, for cache misses of which both requests are
//! known: requests that this engine built, and requests in imported logs.

use super::miss::{MissCause, MissWatch};
use super::model_rows::ModelRows;
use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use crate::ledger::reading::originals::{copy_source, source_info};
use crate::ledger::reading::query_batch::marked;
use crate::ledger::reading::stored::{decode_event, rows_at};
use crate::limits::MAX_DOCUMENT;
use serde::Serialize;
use std::collections::HashMap;
use wunderblock_core::event::{EventSource, Fact};
use wunderblock_core::id::StreamId;
use wunderblock_core::units::{Millis, Seq, Tokens};
use wunderblock_store::{Answer, Marked, Query, StreamFilter, StreamInfo, UsageRow};
use wunderblock_wire::transcript::Format;
use wunderblock_wire::{PromptBreak, first_break, request_at};

/// A cache miss whose cause is a changed beginning, with the place of the change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BrokenPrefix {
    /// Session of the request.
    pub session: StreamId,
    /// Position of the usage report.
    pub seq: Seq,
    /// Time of the usage report.
    pub at: Millis,
    /// Number of tokens that were not read from the cache.
    pub tokens: Tokens,
    /// First place that differs. `None` if one of the two requests is not known, or if the later one continues the
    /// other.
    pub place: Option<PromptBreak>,
}

/// Returns the cache misses that a changed beginning caused, in the sessions that pass a filter and that `wanted`
/// chooses. The filter's time limits the replies. At most the latest `limit` misses are examined.
///
/// # Errors
/// Returns an error if the ledger cannot be read.
pub fn broken_prefixes<'a>(
    engine: &'a Engine,
    filter: StreamFilter,
    wanted: &'a (dyn Fn(&StreamInfo) -> bool + Sync),
    limit: usize,
) -> BoxFuture<'a, Vec<BrokenPrefix>> {
    Box::pin(async move {
        let tenant = engine.tenant.no;
        let rows = engine.ask(Query::Usage { tenant, filter: filter.clone() }, Answer::usage).await?;
        let all = engine.listed(StreamFilter { since: None, ..filter }, u64::from(u32::MAX)).await?;
        let sessions: HashMap<_, _> =
            all.into_iter().filter(|info| wanted(info)).map(|info| (info.no, info)).collect();
        let (mut models, mut watch) = (ModelRows::new(&engine.config.catalog), MissWatch::default());
        let mut misses = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            let miss = watch.next(&mut models, row);
            let miss = miss.filter(|miss| miss.cause == MissCause::Changed);
            let Some((miss, info)) = miss.zip(sessions.get(&row.stream)) else { continue };
            misses.push((index, miss.tokens, info));
        }
        misses.sort_by_key(|(index, ..)| rows.get(*index).map(|row| row.at));
        let skipped = misses.len().saturating_sub(limit);
        let mut found = Vec::new();
        for (index, tokens, info) in misses.into_iter().skip(skipped) {
            let row = |index: Option<usize>| rows.get(index?).filter(|row| row.stream == info.no);
            let (Some(this), before) = (row(Some(index)), row(index.checked_sub(1))) else { continue };
            let earlier = row(index.checked_sub(2));
            let place = match before {
                Some(before) => place(engine, info, [earlier, Some(before), Some(this)]).await?,
                None => None,
            };
            let (session, seq, at) = (info.id.clone(), this.seq, this.at);
            found.push(BrokenPrefix { session, seq, at, tokens, place });
        }
        Ok(found)
    })
}

/// Compares the requests of the last two of three reports that follow each other.
async fn place(
    engine: &Engine,
    info: &StreamInfo,
    [earlier, before, this]: [Option<&UsageRow>; 3],
) -> Result<Option<PromptBreak>, Error> {
    let Some(old) = request_of(engine, info, earlier, before).await? else { return Ok(None) };
    let Some(new) = request_of(engine, info, before, this).await? else { return Ok(None) };
    Ok(first_break(&old, &new))
}

/// Returns the request of a report: from the log that the report was read from, or as it was built between the report
/// and the one before it. `None` if it is not known.
async fn request_of(
    engine: &Engine,
    info: &StreamInfo,
    before: Option<&UsageRow>,
    this: Option<&UsageRow>,
) -> Result<Option<Vec<u8>>, Error> {
    let Some(this) = this else { return Ok(None) };
    let rows = rows_at(engine, &info.id, vec![this.seq]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let event = decode_event(engine, &info.id, row)?;
    if let EventSource::Import { revision, offset, .. } = event.source {
        return logged(engine, info, revision, offset).await;
    }
    let stated = match &event.fact {
        Some(Fact::UsageMeasured(usage)) => usage.request,
        _ => None,
    };
    let query = marked(engine, &info.id, Marked::Kind("context.built"), stated.unwrap_or(this.seq), 1);
    let built = engine.ask(query, Answer::events).await?.first().map(|row| row.seq);
    let is_its = |at: &Seq| Some(*at) == stated || before.is_none_or(|before| before.seq < *at);
    let Some(at) = built.filter(is_its) else { return Ok(None) };
    match engine.session_by_id(info.id.clone()).replay(Some(at)).await {
        Ok(request) => Ok((!request.erased).then_some(request.body)),
        // A request whose record is from an unsupported version cannot be rebuilt.
        Err(_) => Ok(None),
    }
}

/// Returns whether entries of a format hold whole requests.
fn is_request_log(format: &str) -> bool {
    let logs = [Format::Anthropic, Format::OpenaiResponses, Format::Gemini, Format::OpenaiChat];
    Format::from_name(format).is_some_and(|format| logs.contains(&format))
}

/// Returns the request in the entry of an imported log at an offset.
async fn logged(
    engine: &Engine,
    info: &StreamInfo,
    revision: u32,
    offset: u64,
) -> Result<Option<Vec<u8>>, Error> {
    let Some((source, _)) = info.source else { return Ok(None) };
    let source = source_info(engine, source, Some(revision)).await?;
    if source.revision.len > MAX_DOCUMENT || !is_request_log(&source.revision.format) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    copy_source(engine, &source, 0, source.revision.len, &mut bytes).await?;
    let log = String::from_utf8(bytes).ok();
    let offset = usize::try_from(offset).ok();
    Ok(log.zip(offset).and_then(|(log, offset)| Some(request_at(&log, offset)?.as_bytes().to_vec())))
}
