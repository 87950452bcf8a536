//! Outputs of commands that were shown shortened.

use super::facts::{Gain, LedgerFacts, RecordedFact, ShownText};
use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::reading::query_batch::QueryBatch;
use crate::ledger::reading::stored::{decode_event, read_texts};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use wunderblock_core::event::{ContentReduced, Fact};
use wunderblock_core::id::Handle;
use wunderblock_core::message::{Body, Message, Part};
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_reduce::program;
use wunderblock_store::{Answer, EventFilter, Query, StreamNo};

/// A shown output.
pub(super) struct ShownOutput {
    pub(super) text: ShownText,
    /// Handle of the original.
    pub(super) handle: Option<Handle>,
}

/// Returns the shown outputs. A lane's own reductions are part of its requests, and are not outputs.
pub(super) async fn shown(engine: &Engine, ledger: &LedgerFacts) -> Result<Vec<ShownOutput>, Error> {
    let reduced: Vec<(&RecordedFact, &ContentReduced)> = ledger
        .events
        .iter()
        .filter_map(|recorded| match &recorded.fact {
            Fact::ContentReduced(fact) if recorded.is_output => Some((recorded, &**fact)),
            _ => None,
        })
        .collect();
    let mut wanted: BTreeMap<StreamNo, Vec<Seq>> = BTreeMap::new();
    for (recorded, fact) in &reduced {
        // The call directly precedes its result.
        wanted.entry(recorded.stream).or_default().extend([fact.target.prev(), fact.target]);
    }
    let messages = messages(engine, ledger, wanted).await?;
    let calls = messages.values().filter_map(call).filter_map(|(_, input)| input.handle());
    let inputs = read_texts(engine, calls.collect::<Vec<_>>()).await?;
    let output = |(recorded, fact): (&RecordedFact, &ContentReduced)| {
        let mut session = ledger.session(recorded.stream)?.clone();
        let asked = messages.get(&(recorded.stream, fact.target.prev())).and_then(call);
        let input = asked.map(|(_, input)| match input {
            Body::Inline(text) => &**text,
            Body::Blob { blob, .. } => inputs.text(*blob).unwrap_or_default(),
        });
        let input: CallInput = input.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        // The session of outputs that belong to no other has no project of its own.
        session.scope.project = session.scope.project.take().or(input.cwd);
        let line = input.command.as_deref().and_then(program);
        let command = line.or_else(|| asked.map(|(tool, _)| tool.to_owned()));
        let window = window(engine, session.model.as_deref());
        let text = ShownText {
            session,
            at: recorded.at,
            command: command.unwrap_or_else(|| "unknown".to_owned()),
            gain: of_output(fact, window),
        };
        let handle = messages.get(&(recorded.stream, fact.target)).and_then(original);
        Some(ShownOutput { text, handle })
    };
    Ok(reduced.into_iter().filter_map(output).collect())
}

/// Arguments of the tools `run` and `reduce`.
#[derive(Default, Deserialize)]
struct CallInput {
    command: Option<String>,
    cwd: Option<String>,
}

/// Returns the gain of an output. More than the window would not have been shown in any case.
fn of_output(fact: &ContentReduced, window: Tokens) -> Gain {
    match &fact.how {
        Some(how) => Gain::of_text(how.tokens_before.min(window.max(how.tokens_after)), how.tokens_after),
        None => Gain { unknown: 1, ..Gain::default() },
    }
}

/// Returns the window of a model; for an unknown model, the catalog's default.
fn window(engine: &Engine, model: Option<&str>) -> Tokens {
    engine.config.catalog.lookup(model.unwrap_or_default()).row.window
}

async fn messages(
    engine: &Engine,
    ledger: &LedgerFacts,
    wanted: BTreeMap<StreamNo, Vec<Seq>>,
) -> Result<HashMap<(StreamNo, Seq), Message>, Error> {
    let mut batch = QueryBatch::default();
    let mut asked = Vec::new();
    for (no, seqs) in wanted {
        let Some(info) = ledger.streams.get(&no) else { continue };
        let (tenant, stream) = (engine.tenant.no, info.id.clone());
        let query = Query::At { tenant, stream, seqs, filter: EventFilter::default() };
        asked.push((info, batch.ask(query, Answer::events)));
    }
    let mut found = HashMap::new();
    if batch.is_empty() {
        return Ok(found);
    }
    let mut answers = engine.ask_all(batch).await?;
    for (info, key) in asked {
        for row in answers.take(key)? {
            if let Some(Fact::MessageAppended(said)) = decode_event(engine, &info.id, &row)?.fact {
                found.insert((info.no, row.seq), said.message);
            }
        }
    }
    Ok(found)
}

/// Returns the tool and the arguments of a message's call.
fn call(message: &Message) -> Option<(&str, &Body)> {
    message.parts.iter().find_map(|part| match part {
        Part::ToolCall { name, input, .. } => Some((&**name, input)),
        _ => None,
    })
}

/// Returns the handle of the original in a result.
fn original(message: &Message) -> Option<Handle> {
    message.parts.iter().flat_map(Part::bodies).find_map(Body::handle)
}
