//! `note`: saves a note in the current session.

use super::call::ToolCall;
use crate::answer::{ToolAnswer, ToolFailure};
use crate::ledger::LedgerUse;
use serde_json::json;
use wunderblock::SavedNote;
use wunderblock_core::fence;

pub(super) async fn call(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolFailure> {
    let arguments = call.arguments;
    let engine = call.ledger.open(LedgerUse::Existing).await?;
    let session = call.ledger.written_session(&engine, arguments.text("session")).await?;
    let by = arguments.text("model").unwrap_or(call.client);
    let saved = SavedNote::save(&session, arguments.required("text"), by).await?;
    let id = fence::plain(session.id().as_str());
    let text = format!("The note is saved in session {id} at {}.", saved.address);
    Ok(ToolAnswer::new(text, json!({ "session": id, "address": saved.address })))
}
