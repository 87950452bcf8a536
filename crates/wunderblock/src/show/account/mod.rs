//! What sessions cost: reported usage, priced by the prices of its day, and what cache misses wasted.
//!
//! ```text
//! usage.measured ─ store ─► UsageRow ─ price of the day ─► Spend, summed by day, project, model, agent or session
//! ```
//! Amounts are never guessed: usage without a known price counts as unpriced, and a session without usage has none.

mod breaks;
mod gain;
mod miss;
mod model_rows;
mod status;
mod tools;

pub use breaks::{BrokenPrefix, broken_prefixes};
pub use gain::{Gain, GainedText, gain};
pub use miss::{CacheMiss, MissCause};
pub use status::Status;
pub use tools::{ToolUse, tools};

use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use crate::ledger::reading::query_batch::QueryBatch;
use crate::rules::catalog::{BilledTokens, Catalog, MicroDollars};
use miss::MissWatch;
use model_rows::ModelRows;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::ops::AddAssign;
use wunderblock_core::units::{Millis, Tokens};
use wunderblock_store::{Answer, Query, StreamFilter, StreamInfo, StreamNo, UsageRow};

/// Sum of reported usage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Spend {
    /// Number of replies.
    pub replies: u64,
    /// Number of replies without a known price. Their cost is not part of `cost`.
    pub unpriced: u64,
    /// Input tokens that were neither read from nor written to a cache.
    pub input: Tokens,
    /// Input tokens read from the cache.
    pub cache_read: Tokens,
    /// Input tokens written to the cache.
    pub cache_write: Tokens,
    /// Output tokens, including reasoning.
    pub output: Tokens,
    /// Cost in millionths of a US dollar.
    pub cost: MicroDollars,
    /// Tokens that the previous request of the session had in common with a request, but that were not read from the
    /// cache.
    pub missed: Tokens,
    /// Part of `cost` that reading the missed tokens from the cache would have saved.
    pub wasted: MicroDollars,
    /// Cache misses by cause: their number, and what they wasted.
    pub misses: BTreeMap<MissCause, (u64, MicroDollars)>,
}

impl AddAssign<&Self> for Spend {
    fn add_assign(&mut self, other: &Self) {
        self.replies += other.replies;
        self.unpriced += other.unpriced;
        self.input += other.input;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.output += other.output;
        self.cost += other.cost;
        self.missed += other.missed;
        self.wasted += other.wasted;
        for (cause, (count, wasted)) in &other.misses {
            let own = self.misses.entry(*cause).or_default();
            own.0 += count;
            own.1 += *wasted;
        }
    }
}

/// One reply, as [`spend`] groups it.
#[derive(Clone, Copy, Debug)]
pub struct SpentReply<'r> {
    /// Session that contains the reply.
    pub session: &'r StreamInfo,
    /// Time of the report.
    pub at: Millis,
    /// Name of the model, if known.
    pub model: Option<&'r str>,
}

/// Sums the reported usage of the sessions that pass a filter, in groups: `group` names the group of a reply, or
/// leaves the reply out. The filter's time limits the replies.
///
/// # Errors
/// Returns an error if the ledger cannot be read.
pub fn spend<'a>(
    engine: &'a Engine,
    filter: StreamFilter,
    group: &'a (dyn Fn(SpentReply<'_>) -> Option<String> + Sync),
) -> BoxFuture<'a, BTreeMap<String, Spend>> {
    Box::pin(async move {
        let tenant = engine.tenant.no;
        let mut batch = QueryBatch::default();
        let usage = batch.ask(Query::Usage { tenant, filter: filter.clone() }, Answer::usage);
        // A session may have older messages than its replies, so its time is not a condition.
        let all = StreamFilter { since: None, ..filter };
        let streams =
            batch.ask(Query::Streams { tenant, filter: all, limit: u64::from(u32::MAX) }, Answer::streams);
        let mut answers = engine.ask_all(batch).await?;
        let (rows, streams) = (answers.take(usage)?, answers.take(streams)?);
        let streams = streams.into_iter().map(|info| (info.no, info)).collect();
        Ok(summed(&engine.config.catalog, &rows, &streams, group))
    })
}

fn summed(
    catalog: &Catalog,
    rows: &[UsageRow],
    streams: &HashMap<StreamNo, StreamInfo>,
    group: &(dyn Fn(SpentReply<'_>) -> Option<String> + Sync),
) -> BTreeMap<String, Spend> {
    let mut sums: BTreeMap<String, Spend> = BTreeMap::new();
    let (mut models, mut watch) = (ModelRows::new(catalog), MissWatch::default());
    for row in rows {
        let Some(session) = streams.get(&row.stream) else { continue };
        let model = row.usage.model.as_deref();
        let miss = watch.next(&mut models, row);
        let Some(name) = group(SpentReply { session, at: row.at, model }) else { continue };
        *sums.entry(name).or_default() += &spend_of(&mut models, row, miss);
    }
    sums
}

/// Returns the spend of one reply.
fn spend_of<'r>(models: &mut ModelRows<'r>, row: &'r UsageRow, miss: Option<CacheMiss>) -> Spend {
    let price = row.usage.model.as_deref().and_then(|model| models.of(model).price_at(row.at));
    let billed = BilledTokens::from(&row.usage);
    let BilledTokens { input, cache_read, cache_write, output } = billed;
    let mut spend = Spend { replies: 1, input, cache_read, cache_write, output, ..Spend::default() };
    match price {
        Some(price) => spend.cost = price.cost(billed),
        None => spend.unpriced = 1,
    }
    if let Some(CacheMiss { tokens, cause }) = miss {
        let moved = tokens.min(input + cache_write);
        // The tokens were billed as input or as cache writes, of which the writes are the later part.
        let as_input = moved.min(input);
        let cheaper = BilledTokens {
            input: input.saturating_sub(as_input),
            cache_read: cache_read + moved,
            cache_write: cache_write.saturating_sub(moved.saturating_sub(as_input)),
            output,
        };
        let wasted = price.map_or(MicroDollars::ZERO, |price| spend.cost.saturating_sub(price.cost(cheaper)));
        (spend.missed, spend.wasted) = (moved, wasted);
        spend.misses.insert(cause, (1, wasted));
    }
    spend
}
