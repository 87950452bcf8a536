//! `grep`: finds an exact text in the originals, newest first.

use super::call::ToolCall;
use crate::answer::{ToolAnswer, ToolFailure, time};
use crate::ledger::LedgerUse;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use wunderblock::{Engine, GrepOptions, Match};
use wunderblock_core::{fence, stub};

/// Default maximum number of matches.
const LIMIT: usize = 20;
/// Maximum number of bytes that are shown of a line, before and after the match.
const LINE: usize = 200;

pub(super) async fn call(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolFailure> {
    let arguments = call.arguments;
    let engine = call.ledger.open(LedgerUse::Existing).await?;
    let session = call.named_session(&engine).await?;
    let (regex, ignore_case) = (arguments.flag("regex"), arguments.flag("ignore_case"));
    let options = GrepOptions { session, regex, ignore_case, masked: true, ..GrepOptions::default() };
    let limit = arguments.limit(LIMIT);
    let mut matches: Vec<Match> = Vec::new();
    let mut more = false;
    let mut found = |one: Match| {
        more = matches.len() == limit;
        if more {
            return ControlFlow::Break(());
        }
        matches.push(one);
        ControlFlow::Continue(())
    };
    engine.grep(arguments.required("pattern"), &options, &mut found).await?;
    let facts: Vec<Value> = matches.iter().map(|one| facts(&engine, one)).collect();
    let text = if matches.is_empty() {
        "Nothing was found. `search` finds words in any form and order.".to_owned()
    } else {
        let lines: Vec<String> = matches.iter().map(|one| line(&engine, one)).collect();
        let mut text = fence::data("matching lines of past sessions, newest first", &lines.join("\n"));
        if more {
            text.push_str("\nThere are further matches; raise `limit`, or use a longer pattern.");
        }
        text
    };
    Ok(ToolAnswer::new(text, json!({ "matches": facts, "more": more })))
}

fn facts(engine: &Engine, one: &Match) -> Value {
    json!({
        "address": one.address(engine).to_string(),
        "session": fence::plain(one.session.as_str()),
        "position": one.seq,
        "line": one.line,
        "at": time(one.at),
        "role": one.role.name(),
    })
}

/// Returns a matching line with its place. Of a long line, only the part around the match is shown.
fn line(engine: &Engine, one: &Match) -> String {
    let (before, rest) = one.text.split_at_checked(one.found.start).unwrap_or(("", &one.text));
    let lead = stub::tail(before, LINE);
    let shown = stub::head(rest, one.found.len().saturating_add(LINE));
    let cut = |is_cut: bool| if is_cut { "…" } else { "" };
    let (first, last) = (cut(lead.len() < before.len()), cut(shown.len() < rest.len()));
    format!("{} line {}: {first}{lead}{shown}{last}", one.address(engine), one.line)
}
