//! What Codex reports about its sub-agents. Each works in the background until its parent waits for it or closes it.

use crate::transcript::parsing::object::{Object, string};
use crate::transcript::record::RecordItem;
use serde_json::value::RawValue;
use wunderblock_core::event::{SubagentOutcome, SubagentReturned, SubagentSpawned};
use wunderblock_core::id::CallId;

/// Returns the start of a sub-agent.
pub(super) fn spawned(event: &Object<'_>) -> Option<RecordItem> {
    let spawned = RecordItem::spawned(&event.word("new_thread_id")?)?;
    Some(RecordItem::Spawned(Box::new(SubagentSpawned {
        call: event.word("call_id").map(CallId),
        agent: event.word("new_agent_role"),
        model: event.word("model"),
        ..spawned
    })))
}

/// Returns the ends of the sub-agents for which their parent waited.
pub(super) fn waited(event: &Object<'_>) -> Vec<RecordItem> {
    let agents = event.array("agent_statuses").unwrap_or_default();
    let agents = agents.into_iter().filter_map(Object::of);
    agents.filter_map(|agent| returned(&agent.word("thread_id")?, ended(agent.get("status")?)?)).collect()
}

/// Returns the end of a sub-agent that its parent closed. One that still works is stopped by it.
pub(super) fn closed(event: &Object<'_>) -> Option<RecordItem> {
    let outcome = event.get("status").and_then(ended).unwrap_or(SubagentOutcome::Stopped);
    returned(&event.word("receiver_thread_id")?, outcome)
}

fn returned(session: &str, outcome: SubagentOutcome) -> Option<RecordItem> {
    let session = RecordItem::spawned(session)?.session;
    Some(RecordItem::Returned(Box::new(SubagentReturned::new(session, outcome))))
}

/// Returns how the work ended. `None` if it goes on.
fn ended(status: &RawValue) -> Option<SubagentOutcome> {
    if let Some(status) = Object::of(status) {
        let failed = status.has("errored").then_some(SubagentOutcome::Failed);
        return if status.has("completed") { Some(SubagentOutcome::Done) } else { failed };
    }
    let status = string(status)?;
    matches!(status.as_ref(), "interrupted" | "shutdown").then_some(SubagentOutcome::Stopped)
}
