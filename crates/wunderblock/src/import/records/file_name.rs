//! Names of files whose sessions have no ids.

use super::name::{file_of, has_no_ids, new_name, offset_of};
use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::reading::originals::readers_of;
use std::path::Path;
use wunderblock_core::id::StreamId;
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_store::{Answer, EventFilter, Query, ReadOrder, SourceInfo, SourceNo};
use wunderblock_wire::transcript::Format;

/// Returns the name of a revision's file.
pub(crate) async fn file_name(engine: &Engine, source: &SourceInfo, format: Format) -> Result<String, Error> {
    let known =
        if has_no_ids(format) { called_name(engine, source.no, source.revision.no).await? } else { None };
    Ok(known.unwrap_or_else(|| new_name(Path::new(&source.key))))
}

/// Returns the name of the file after which the sessions of a revision are named.
pub(crate) async fn called_name(
    engine: &Engine,
    source: SourceNo,
    revision: u32,
) -> Result<Option<String>, Error> {
    let streams = readers_of(engine, source, revision).await?;
    Ok(streams.iter().find_map(file_of).map(ToOwned::to_owned))
}

/// Returns the offset of the last record without an id in a stream.
pub(crate) async fn last_nameless(engine: &Engine, stream: &StreamId) -> Result<Option<u64>, Error> {
    let mut to = Seq(i64::MAX.unsigned_abs());
    loop {
        let query = Query::Events {
            tenant: engine.tenant.no,
            stream: stream.clone(),
            from: Seq(1),
            to,
            order: ReadOrder::Descending,
            limit: 64,
            text: Bytes(64 << 10),
            counts: false,
            filter: EventFilter::default(),
        };
        let rows = engine.ask(query, Answer::events).await?;
        if let Some(offset) = rows.iter().find_map(|row| offset_of(row.id.as_str())) {
            return Ok(Some(offset));
        }
        match rows.last() {
            Some(row) if row.seq > Seq(1) => to = row.seq.prev(),
            _ => return Ok(None),
        }
    }
}
