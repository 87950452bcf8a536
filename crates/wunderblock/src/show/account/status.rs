//! Status of a session in few numbers, for a line that is shown all the time.

use super::{Spend, summed};
use crate::base::future::BoxFuture;
use crate::lanes::recap::open_items;
use crate::ledger::reading::query_batch::QueryBatch;
use crate::ledger::session::Session;
use crate::rules::catalog::BilledTokens;
use serde::Serialize;
use wunderblock_core::units::Tokens;
use wunderblock_core::work::TodoItem;
use wunderblock_store::{Answer, EventUsage, Query, StreamFilter};

/// Status of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// Model of the latest reply, if a reply with usage is recorded.
    pub model: Option<Box<str>>,
    /// Tokens of the latest request with its reply, as its provider counted them: the context of the next request
    /// begins with them. `None` if no usage is recorded.
    pub context: Option<Tokens>,
    /// Window of that model in tokens, if the model is known.
    pub window: Option<Tokens>,
    /// Usage and cost of the session with all of its branches.
    pub spend: Spend,
    /// Open items of the agent's list, in the agent's order.
    pub open: Vec<TodoItem>,
}

impl Status {
    /// Reads the status of a session from its stored usage and its latest events.
    ///
    /// # Errors
    /// Returns an error if the session does not exist, or if the ledger cannot be read.
    pub fn of<'a>(session: &'a Session) -> BoxFuture<'a, Self> {
        Box::pin(async move {
            let engine = session.engine();
            let tenant = engine.tenant.no;
            let root = session.id().root();
            let filter = StreamFilter { prefix: root.to_owned(), ..StreamFilter::default() };
            let mut batch = QueryBatch::default();
            let usage = batch.ask(Query::Usage { tenant, filter: filter.clone() }, Answer::usage);
            let limit = u64::from(u32::MAX);
            let streams = batch.ask(Query::Streams { tenant, filter, limit }, Answer::streams);
            let mut answers = engine.ask_all(batch).await?;
            let (rows, streams) = (answers.take(usage)?, answers.take(streams)?);
            let own = streams.iter().find(|info| info.id == *session.id()).map(|info| info.no);
            let latest = rows.iter().rfind(|row| Some(row.stream) == own).map(|row| &row.usage);
            let streams = streams.into_iter().map(|info| (info.no, info)).collect();
            let catalog = &engine.config.catalog;
            let group = |reply: super::SpentReply<'_>| (reply.session.id.root() == root).then(String::new);
            let spend = summed(catalog, &rows, &streams, &group).remove("").unwrap_or_default();
            let model = latest.and_then(|usage| usage.model.clone());
            let window = model.as_deref().map(|model| catalog.lookup(model).row.window);
            let open = open_items(session).await?;
            Ok(Self { context: latest.map(context), window, model, spend, open })
        })
    }
}

/// Returns the tokens of a request with its reply.
fn context(usage: &EventUsage) -> Tokens {
    BilledTokens::from(usage).prompt() + usage.output
}
