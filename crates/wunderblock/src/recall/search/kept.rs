//! Which texts of a tenant are kept as bytes.

use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use crate::ledger::kept_bytes::{KeptText, KeptTexts, LONG_RECORD, TOO_LONG, kept_outputs};
use crate::ledger::reading::stored::decode_event;
use crate::limits::MAX_LINE;
use crate::recall::search::{SearchOptions, SearchOrder, search};
use std::collections::BTreeMap;
use wunderblock_core::event::{EventSource, Fact};
use wunderblock_core::id::StreamId;
use wunderblock_core::message::MessageOrigin;
use wunderblock_core::units::Seq;
use wunderblock_store::{Answer, BYTES, EventFilter, Query, SourceFilter, SourceInfo};

/// Returns all texts of the tenant that are kept as bytes.
pub(crate) fn kept_texts(engine: &Engine) -> BoxFuture<'_, KeptTexts> {
    Box::pin(async move {
        let tenant = engine.tenant.no;
        let filter = SourceFilter { min_len: MAX_LINE as u64, older: true, ..SourceFilter::default() };
        let mut long = engine.ask(Query::Sources { tenant, filter }, Answer::sources).await?;
        long.retain(|info| info.revision.format != BYTES);
        let mut texts = kept_outputs(engine).await?;
        // Only a large file can contain a long record.
        if !long.is_empty() {
            texts.extend(long_records(engine, &long).await?);
        }
        Ok(texts)
    })
}

/// Returns the records of sources that are too long to be parsed. Their messages are found by their words.
async fn long_records(engine: &Engine, sources: &[SourceInfo]) -> Result<KeptTexts, Error> {
    let options = SearchOptions {
        order: SearchOrder::Newest,
        limit: usize::MAX,
        messages_only: true,
        ..SearchOptions::default()
    };
    let mut by_stream: BTreeMap<StreamId, Vec<Seq>> = BTreeMap::new();
    for hit in search(engine, &format!("\"{TOO_LONG}\""), &options).await?.hits {
        by_stream.entry(hit.session).or_default().push(hit.seq);
    }
    let mut texts = KeptTexts::new();
    for (stream, seqs) in by_stream {
        let (tenant, filter) = (engine.tenant.no, EventFilter::default());
        let query = Query::At { tenant, stream: stream.clone(), seqs, filter };
        for row in engine.ask(query, Answer::events).await? {
            let event = decode_event(engine, &stream, &row)?;
            let Some(Fact::MessageAppended(said)) = event.fact else { continue };
            // Anyone may quote the words, but only an import gives a message this origin.
            let is_long = said.message.standing == MessageOrigin::Aside(LONG_RECORD.into());
            let EventSource::Import { source, revision, offset, len } = event.source else { continue };
            let holds = |info: &&SourceInfo| info.handle == source && info.revision.no == revision;
            if let Some(info) = sources.iter().find(holds).filter(|_| is_long) {
                let text = KeptText { source: info.clone(), from: offset, to: offset.saturating_add(len) };
                texts.insert((row.stream, row.seq), text);
            }
        }
    }
    Ok(texts)
}
