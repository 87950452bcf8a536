//! `pin`: keeps a message in every request, or in none, or takes that back.

use super::call::ToolCall;
use crate::answer::{ToolAnswer, ToolFailure};
use crate::ledger::LedgerUse;
use serde_json::json;
use wunderblock::{Address, Visibility};
use wunderblock_core::fence;

pub(super) async fn call(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolFailure> {
    let arguments = call.arguments;
    let engine = call.ledger.open(LedgerUse::Existing).await?;
    let (address, _) = Address::of_place(&engine, arguments.required("address")).await?;
    let (session, seq) = address.entry(&engine).await?;
    let wanted = match arguments.required("action") {
        "pin" => Visibility::Pin,
        "unpin" => Visibility::Unpin,
        "hide" => Visibility::Hide,
        _ => Visibility::Unhide,
    };
    let done = wanted.set(&session, seq).await?;
    let id = fence::plain(session.id().as_str());
    let already = if done.recorded.is_none() { " already" } else { "" };
    let mut text = format!("Message {seq} of session {id} is {}{already}.", wanted.word());
    if wanted == Visibility::Pin && done.hidden {
        text.push_str(" It is hidden, so no request shows it; `unhide` lets requests show it.");
    }
    if wanted == Visibility::Hide && !done.told_by.is_empty() {
        text.push_str(" A summary was made with it, and may still tell of it.");
    }
    text.push('\n');
    text.push_str(&fence::data("the message in a few words", &done.entry.what));
    let facts = json!({
        "session": id,
        "position": seq,
        "changed": done.recorded.is_some(),
        "hidden": done.hidden,
    });
    Ok(ToolAnswer::new(text, facts))
}
