//! `search`: searches sessions and documents, best match first, or an exact text.

use super::call::ToolCall;
use super::exact;
use super::filters::Searched;
use crate::answer::{ToolAnswer, ToolFailure, time};
use crate::ledger::LedgerUse;
use serde_json::{Value, json};
use wunderblock::{Engine, SearchHit, SearchOptions, SearchOrder};
use wunderblock_core::fence;
use wunderblock_core::units::Tokens;

/// Default maximum number of hits.
const LIMIT: usize = 10;
/// Maximum number of hits that fill a number of tokens.
const MOST: usize = 200;

pub(super) async fn call(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolFailure> {
    let arguments = call.arguments;
    if arguments.text("exact").is_some() {
        return exact::call(call).await;
    }
    let engine = call.ledger.open(LedgerUse::Existing).await?;
    let searched = Searched::of(call, &engine).await?;
    let order = if arguments.flag("newest") { SearchOrder::Newest } else { SearchOrder::Ranked };
    let tokens = arguments.number("tokens").map(Tokens);
    let limit = arguments.limit(if tokens.is_some() { MOST } else { LIMIT });
    let options = SearchOptions {
        within: searched.within,
        session: searched.session.clone(),
        sessions: searched.sessions.clone(),
        events: searched.events.clone(),
        order,
        limit,
        tokens,
        deadline: call.deadline.clone(),
        ..SearchOptions::default()
    };
    let found = engine.recall().search(arguments.required("query"), &options).await?;
    let facts: Vec<Value> = found
        .hits
        .iter()
        .map(|hit| match &hit.document {
            Some(document) => json!({
                "address": hit.readable(&engine),
                "document": fence::plain_line(&document.name()),
                "at": time(hit.at),
            }),
            None => json!({
                "address": hit.readable(&engine),
                "session": fence::plain(hit.session.as_str()),
                "position": hit.seq,
                "at": time(hit.at),
                "role": hit.role.name(),
            }),
        })
        .collect();
    let mut text = match found.hits.as_slice() {
        [] => {
            let nothing = searched.nothing(call, &engine).await?;
            format!("{nothing} Use other words, or `exact` for an exact text.")
        }
        some => hits(&engine, some),
    };
    let mut facts = json!({ "hits": facts, "scanned": found.scanned });
    if let Some(cut) = &found.cut {
        text.push_str(&format!("\nHits may be missing: {cut}."));
        if let Some(facts) = facts.as_object_mut() {
            facts.insert("cut".to_owned(), cut.to_string().into());
        }
    }
    Ok(ToolAnswer::new(text, facts))
}

/// Returns hits in a fence, two lines each: where and when, and the text around the match.
pub(crate) fn hits(engine: &Engine, hits: &[SearchHit]) -> String {
    let lines: Vec<String> = hits
        .iter()
        .map(|hit| {
            let (address, at) = (hit.readable(engine), time(hit.at));
            let who = match &hit.document {
                Some(document) => {
                    let heading = document.heading.as_ref().map(|heading| format!(" § {heading}"));
                    fence::plain_line(&format!("{}{}", document.name(), heading.unwrap_or_default()))
                }
                None => hit.role.name().into(),
            };
            format!("{address} · {who} · {at}\n  {}", hit.snippet)
        })
        .collect();
    let label = "hits of a search in past sessions and documents; `read` shows an address whole";
    fence::data(label, &lines.join("\n"))
}
