//! What Claude Code reports about its sub-agents: beside the result of the call, and in notifications of those that
//! work in the background.

use super::sessions::agent_session;
use crate::transcript::parsing::blocks::first_word;
use crate::transcript::parsing::object::Object;
use crate::transcript::record::{RecordItem, TranscriptRecord};
use wunderblock_core::event::{SubagentOutcome, SubagentReturned, SubagentSpawned};
use wunderblock_core::id::CallId;
use wunderblock_core::message::{Message, Part};
use wunderblock_core::units::Tokens;

/// First characters of a notification of work in the background.
const NOTIFICATION: &str = "<task-notification>";

/// Returns what a message reports about a sub-agent: its start, its end, or both.
pub(super) fn reported(object: &Object<'_>, message: &Message) -> Vec<RecordItem> {
    let call = message.parts.iter().find_map(|part| match part {
        Part::ToolResult { call, .. } => Some(call.clone()),
        _ => None,
    });
    let Some(result) = object.object("toolUseResult") else { return Vec::new() };
    let agent = first_word(&result, &["agentId", "agent_id"]);
    let Some(spawned) = agent.and_then(|agent| RecordItem::spawned(&agent_session(&agent))) else {
        return Vec::new();
    };
    let returned = outcome(&result).map(|outcome| SubagentReturned {
        call: call.clone(),
        model: result.word("resolvedModel"),
        tokens: result.number("totalTokens").map(Tokens),
        millis: result.number("totalDurationMs"),
        ..SubagentReturned::new(spawned.session.clone(), outcome)
    });
    let spawned = SubagentSpawned { call, agent: result.word("agentType"), ..spawned };
    let returned = returned.map(|returned| RecordItem::Returned(Box::new(returned)));
    [RecordItem::Spawned(Box::new(spawned))].into_iter().chain(returned).collect()
}

/// Returns how the work ended. `None` if it goes on in the background, or if the record does not say.
fn outcome(result: &Object<'_>) -> Option<SubagentOutcome> {
    match result.text("status") {
        Some(status) => ended(&status),
        None => result.has("totalDurationMs").then(|| match result.flag("wasInterrupted") {
            true => SubagentOutcome::Stopped,
            false => SubagentOutcome::Done,
        }),
    }
}

fn ended(status: &str) -> Option<SubagentOutcome> {
    match status {
        "completed" => Some(SubagentOutcome::Done),
        "failed" | "error" => Some(SubagentOutcome::Failed),
        "killed" | "stopped" | "cancelled" | "interrupted" => Some(SubagentOutcome::Stopped),
        _ => None,
    }
}

/// Adds the end of a sub-agent's work to the record that notifies its parent. Commands in the background have
/// notifications of the same form.
pub(super) fn notified(record: &mut TranscriptRecord) {
    let texts = record.items.iter().filter_map(|item| match item {
        RecordItem::Message(message) => Some(message),
        _ => None,
    });
    let texts = texts.flat_map(|message| message.parts.iter().flat_map(Part::bodies));
    let notes: Vec<RecordItem> = texts
        .filter_map(|body| notification(body.inline()?))
        .map(|returned| RecordItem::Returned(Box::new(returned)))
        .collect();
    record.items.extend(notes);
}

fn notification(text: &str) -> Option<SubagentReturned> {
    let text = text.trim_start().strip_prefix(NOTIFICATION)?;
    // The result is the sub-agent's own text, so the fields before it count, and the usage after it.
    let (before, after) = match text.split_once("<result>") {
        Some((before, rest)) => (before, rest.rsplit_once("</result>").map_or("", |(_, after)| after)),
        None => (text, text),
    };
    let is_agent = element(before, "summary")?.starts_with("Agent ");
    let session = RecordItem::spawned(&agent_session(element(before, "task-id")?))?.session;
    let outcome = ended(element(before, "status")?).filter(|_| is_agent)?;
    let number = |name| element(after, name).and_then(|number| number.parse().ok());
    Some(SubagentReturned {
        call: element(before, "tool-use-id").map(|call| CallId(call.into())),
        tokens: number("total_tokens").map(Tokens),
        millis: number("duration_ms"),
        ..SubagentReturned::new(session, outcome)
    })
}

/// Returns the text of the first element with a name.
fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (inner, _) = rest.split_once(&format!("</{name}>"))?;
    Some(inner.trim()).filter(|inner| !inner.is_empty())
}
