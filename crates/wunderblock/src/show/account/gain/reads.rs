//! Calls of models that read an original after all.
//!
//! A call counts if its tool is our `read`, or a shell in which `wunderblock read` or `wunderblock expand` runs, and
//! it names a handle. Calls that no session records are unknown.

use super::facts::{Gain, LedgerFacts, ShownText};
use super::outputs::ShownOutput;
use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::reading::stored::{decode_event, read_texts, rows_at};
use crate::recall::search::SearchOptions;
use crate::rules::tokens::Counted;
use std::collections::BTreeMap;
use wunderblock_core::event::Fact;
use wunderblock_core::id::{CallId, Handle, HandlePrefix, StreamId};
use wunderblock_core::message::{Body, Message, Part, Role};
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};
use wunderblock_store::{Answer, BodyCount, EventFilter, Query, ReadOrder, StoredEvent};

/// Maximum number of events after a call among which its result is searched.
const RESULT_EVENTS: u64 = 32;
/// First word of every handle, as the index has it.
const HANDLE: &str = "wb";

/// Adds each read to the output whose original was read. Returns the other reads: of stubs, summaries and gaps in
/// requests.
pub(super) async fn attributed(
    engine: &Engine,
    ledger: &LedgerFacts,
    since: Option<Millis>,
    outputs: &mut [ShownOutput],
) -> Result<Vec<ShownText>, Error> {
    let mut known: BTreeMap<Handle, usize> = BTreeMap::new();
    for (index, output) in outputs.iter().enumerate() {
        known.extend(output.handle.map(|handle| (handle, index)));
    }
    let mut others = Vec::new();
    for read in calls(engine, ledger, since).await? {
        let tokens = result_tokens(engine, &read).await?;
        let range = read.handle.first..=read.handle.last;
        let output = known.range(range).next().and_then(|(_, index)| outputs.get_mut(*index));
        match output {
            Some(output) => {
                let gain = std::mem::take(&mut output.text.gain);
                output.text.gain = gain.with_reads(1, tokens);
            }
            None => {
                let Some(session) = ledger.numbers.get(&read.stream).and_then(|no| ledger.session(*no))
                else {
                    continue;
                };
                let gain = Gain { reads: 1, read: tokens, ..Gain::default() };
                others.push(ShownText {
                    session: session.clone(),
                    at: read.at,
                    command: "read".to_owned(),
                    gain,
                });
            }
        }
    }
    Ok(others)
}

/// A call that reads what a handle names.
struct ReadCall {
    stream: StreamId,
    seq: Seq,
    at: Millis,
    call: CallId,
    handle: HandlePrefix,
}

/// Finds the calls with the text index, which holds the arguments of calls.
async fn calls(engine: &Engine, ledger: &LedgerFacts, since: Option<Millis>) -> Result<Vec<ReadCall>, Error> {
    let events = EventFilter { role: Some(Role::Assistant), since, ..EventFilter::default() };
    let options = SearchOptions {
        limit: usize::MAX,
        free_text: true,
        messages_only: true,
        events,
        ..SearchOptions::default()
    };
    let hits = engine.recall().search(HANDLE, &options).await?.hits;
    let mut found = Vec::new();
    for hit in hits {
        let Some(info) = ledger.numbers.get(&hit.session).and_then(|no| ledger.streams.get(no)) else {
            continue;
        };
        // Calls in a session of outputs are commands that ran, and no model reads with them.
        if crate::ledger::recording::output::keeps_outputs(&info.id) {
            continue;
        }
        let rows = rows_at(engine, &hit.session, vec![hit.seq]).await?;
        let Some(row) = rows.first() else { continue };
        let Some(Fact::MessageAppended(said)) = decode_event(engine, &hit.session, row)?.fact else {
            continue;
        };
        let inputs = said.message.parts.iter().flat_map(Part::bodies).filter_map(Body::handle);
        let texts = read_texts(engine, inputs.collect::<Vec<_>>()).await?;
        for (call, handle) in reading_calls(&said.message, &texts) {
            found.push(ReadCall { stream: hit.session.clone(), seq: hit.seq, at: hit.at, call, handle });
        }
    }
    Ok(found)
}

/// Returns a message's calls that read what a handle names, each with the first handle that it names.
pub(super) fn reading_calls(message: &Message, texts: &dyn Bodies) -> Vec<(CallId, HandlePrefix)> {
    let reading = |part: &Part| {
        let Part::ToolCall { call, name, input, .. } = part else { return None };
        let input = match input {
            Body::Inline(text) => &**text,
            Body::Blob { blob, .. } => texts.text(*blob)?,
        };
        let ours = name.contains("wunderblock") && name.ends_with("read");
        let typed = || ["wunderblock read ", "wunderblock expand "].iter().any(|words| input.contains(words));
        if !ours && !typed() {
            return None;
        }
        Some((call.clone(), first_handle(input)?))
    };
    message.parts.iter().filter_map(reading).collect()
}

/// Returns the first handle in a text.
fn first_handle(text: &str) -> Option<HandlePrefix> {
    text.match_indices("wb:").find_map(|(at, _)| {
        let rest = text.get(at + 3..)?;
        let digits = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
        text.get(at..at + 3 + digits)?.parse().ok()
    })
}

/// Returns the tokens (o200k) of a call's result; zero if no result is recorded.
async fn result_tokens(engine: &Engine, read: &ReadCall) -> Result<Tokens, Error> {
    let query = Query::Events {
        tenant: engine.tenant.no,
        stream: read.stream.clone(),
        from: read.seq.next(),
        to: crate::ledger::reading::query_batch::NEWEST,
        order: ReadOrder::Ascending,
        limit: RESULT_EVENTS,
        text: Bytes(u64::MAX),
        counts: true,
        filter: EventFilter::default(),
    };
    for row in engine.ask(query, Answer::events).await? {
        let Some(Fact::MessageAppended(said)) = decode_event(engine, &read.stream, &row)?.fact else {
            continue;
        };
        let result = said.message.parts.iter().find(|part| match part {
            Part::ToolResult { call, .. } => *call == read.call,
            _ => false,
        });
        if let Some(result) = result {
            return tokens_of(engine, &row, result).await;
        }
    }
    Ok(Tokens::ZERO)
}

/// Returns the tokens (o200k) of a part's texts.
pub(in crate::show::account) async fn tokens_of(
    engine: &Engine,
    row: &StoredEvent,
    part: &Part,
) -> Result<Tokens, Error> {
    let counts: BTreeMap<Handle, BodyCount> = row.counts.iter().copied().collect();
    let uncounted = part.bodies().into_iter().filter_map(Body::handle);
    let uncounted: Vec<Handle> = uncounted.filter(|handle| !counts.contains_key(handle)).collect();
    let texts = read_texts(engine, uncounted).await?;
    let own = |text: &str| u64::from(Counted::of(text).o200k);
    let tokens = |body: &Body| match body {
        Body::Inline(text) => own(text),
        Body::Blob { blob, .. } => match counts.get(blob) {
            Some(count) => u64::from(count.o200k),
            None => texts.text(*blob).map_or(0, own),
        },
    };
    Ok(Tokens(part.bodies().into_iter().map(tokens).sum()))
}
