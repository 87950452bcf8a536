//! `search` with `exact`: finds a text, or a regular expression, in the originals, newest first.

use super::call::ToolCall;
use super::filters::Searched;
use crate::answer::{ToolAnswer, ToolFailure, time};
use crate::ledger::LedgerUse;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use wunderblock::{Engine, GrepOptions, Match};
use wunderblock_core::{fence, stub};

/// Default maximum number of matches.
const LIMIT: usize = 20;
/// Maximum number of bytes that are shown of a line: before the match, of it, and after it.
const LINE: usize = 200;

pub(super) async fn call(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolFailure> {
    let arguments = call.arguments;
    let engine = call.ledger.open(LedgerUse::Existing).await?;
    let searched = Searched::of(call, &engine).await?;
    let options = GrepOptions {
        within: searched.within,
        session: searched.session.clone(),
        sessions: searched.sessions.clone(),
        events: searched.events.clone(),
        regex: arguments.text("exact") == Some("regex"),
        deadline: call.deadline.clone(),
        masked: true,
        ..GrepOptions::default()
    };
    let limit = arguments.limit(LIMIT);
    // A line may be as long as a message, so only what is shown of it is kept.
    let mut matches: Vec<(Value, String)> = Vec::new();
    let mut more = false;
    let mut found = |one: Match| {
        more = matches.len() == limit;
        if more {
            return ControlFlow::Break(());
        }
        matches.push((facts(&engine, &one), line(&engine, &one)));
        ControlFlow::Continue(())
    };
    let stopped = engine.recall().grep(arguments.required("query"), &options, &mut found).await?;
    let (facts, lines): (Vec<Value>, Vec<String>) = matches.into_iter().unzip();
    let mut text = if lines.is_empty() {
        let nothing = searched.nothing(call, &engine).await?;
        format!("{nothing} Without `exact`, words are found in any form and order.")
    } else {
        let mut text =
            fence::data("matching lines of past sessions and documents, newest first", &lines.join("\n"));
        if more {
            text.push_str("\nThere are further matches; raise `limit`, or use a longer text.");
        }
        text
    };
    let stopped = stopped.map(|stop| {
        let address = stop.address(&engine);
        text.push_str(&format!(
            "\nThe search was given up at {address}: earlier messages were not searched. Give a `session`, or a simpler \
             pattern."
        ));
        address.to_string()
    });
    let mut facts = json!({ "hits": facts, "more": more });
    if let (Some(address), Some(facts)) = (stopped, facts.as_object_mut()) {
        facts.insert("stopped".to_owned(), address.into());
    }
    Ok(ToolAnswer::new(text, facts))
}

fn facts(engine: &Engine, one: &Match) -> Value {
    let (address, line, at) = (one.readable(engine), one.line, time(one.at));
    match &one.document {
        Some(document) => {
            let document = fence::plain_line(&document.name());
            json!({ "address": address, "document": document, "line": line, "at": at })
        }
        None => json!({
            "address": address,
            "session": fence::plain(one.session.as_str()),
            "position": one.seq,
            "line": line,
            "at": at,
            "role": one.role.name(),
        }),
    }
}

/// Returns a matching line with its place. Of a long line, only the part around the match is shown.
fn line(engine: &Engine, one: &Match) -> String {
    let (before, rest) = one.text.split_at_checked(one.found.start).unwrap_or(("", &one.text));
    let lead = stub::tail(before, LINE);
    let shown = stub::head(rest, one.found.len().min(LINE).saturating_add(LINE));
    let cut = |is_cut: bool| if is_cut { "…" } else { "" };
    let (first, last) = (cut(lead.len() < before.len()), cut(shown.len() < rest.len()));
    let document =
        one.document.as_ref().map(|document| format!(" · {}", fence::plain_line(&document.name())));
    let (address, document) = (one.readable(engine), document.unwrap_or_default());
    format!("{address}{document} line {}: {first}{lead}{shown}{last}", one.line)
}
