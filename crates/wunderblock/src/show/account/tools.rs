//! Tools that a session used: calls, errors, and tokens of results.

use super::gain::tokens_of;
use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use crate::ledger::reading::stored::decode_event;
use crate::limits::{CATCH_UP_BYTES, CATCH_UP_EVENTS};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use wunderblock_core::event::Fact;
use wunderblock_core::id::CallId;
use wunderblock_core::message::Part;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_store::{Answer, EventFilter, Query, ReadOrder, StoredEvent, StreamFilter, StreamInfo};

/// Use of one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolUse {
    /// Number of calls.
    pub calls: u64,
    /// Number of results that report an error.
    pub errors: u64,
    /// Tokens (o200k) of the results.
    pub tokens: Tokens,
}

/// Returns the tools that sessions used, by name. `wanted` chooses among the sessions that pass a filter; the filter's
/// time limits the messages. A branch counts from its fork on, so that no call is counted twice. Results without a
/// known call belong to the tool `unknown`.
///
/// # Errors
/// Returns an error if the ledger cannot be read.
pub fn tools<'a>(
    engine: &'a Engine,
    filter: StreamFilter,
    wanted: &'a (dyn Fn(&StreamInfo) -> bool + Sync),
) -> BoxFuture<'a, BTreeMap<String, ToolUse>> {
    Box::pin(async move {
        let events = EventFilter { since: filter.since, ..EventFilter::default() };
        let mut all = engine.listed(StreamFilter { since: None, ..filter }, u64::from(u32::MAX)).await?;
        // A branch continues calls of its parent, which is older.
        all.sort_by_key(|info| info.no);
        let mut counting = Counting::default();
        for info in all.iter().filter(|info| wanted(info)) {
            let mut from = info.base().next();
            while from <= info.head {
                let rows = page(engine, info, from, &events).await?;
                let Some(last) = rows.last().map(|row| row.seq) else { break };
                for row in &rows {
                    counting.add(engine, info, row).await?;
                }
                from = last.next();
            }
        }
        Ok(counting.used)
    })
}

async fn page(
    engine: &Engine,
    info: &StreamInfo,
    from: Seq,
    filter: &EventFilter,
) -> Result<Vec<StoredEvent>, Error> {
    let query = Query::Events {
        tenant: engine.tenant.no,
        stream: info.id.clone(),
        from,
        to: info.head,
        order: ReadOrder::Ascending,
        limit: CATCH_UP_EVENTS,
        text: CATCH_UP_BYTES,
        counts: true,
        filter: filter.clone(),
    };
    engine.ask(query, Answer::events).await
}

#[derive(Default)]
struct Counting {
    used: BTreeMap<String, ToolUse>,
    names: HashMap<CallId, Box<str>>,
}

impl Counting {
    async fn add(&mut self, engine: &Engine, info: &StreamInfo, row: &StoredEvent) -> Result<(), Error> {
        let Some(Fact::MessageAppended(said)) = decode_event(engine, &info.id, row)?.fact else {
            return Ok(());
        };
        for part in &said.message.parts {
            match part {
                Part::ToolCall { call, name, .. } => {
                    self.names.insert(call.clone(), name.clone());
                    self.used.entry(name.to_string()).or_default().calls += 1;
                }
                Part::ToolResult { call, failed, .. } => {
                    let tokens = tokens_of(engine, row, part).await?;
                    let name = self.names.get(call).map_or("unknown", |name| name);
                    let used = self.used.entry(name.to_owned()).or_default();
                    used.errors += u64::from(*failed);
                    used.tokens += tokens;
                }
                _ => {}
            }
        }
        Ok(())
    }
}
