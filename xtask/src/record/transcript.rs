//! The records of a session in Claude Code's format: one JSON object per line, a tree over `parentUuid`.
//!
//! Ids are UUIDv5 of the record's number. Times follow from a fixed start and plausible durations. Usage is computed
//! from o200k counts, because no model was called.

use super::sanitise::ROOT;
use crate::program::ChoreResult;
use jiff::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;
use wunderblock::tokens::Vocabulary;

const MODEL: &str = "claude-sonnet-4-5";
/// Version of the imitated format.
const VERSION: &str = "2.0.37";
/// Start of the session, in milliseconds since 1970.
const START_MS: i64 = 1_795_161_904_000;
/// Tokens of the system prompt and the tool schemas.
const OVERHEAD: u64 = 14_862;
/// Tokens of each request that are never cached.
const UNCACHED: u64 = 4;
/// Milliseconds before a reply starts.
const REPLY_MS: i64 = 1_850;
/// Milliseconds per token of a reply.
const TOKEN_MS: i64 = 14;

/// A position in the conversation.
#[derive(Clone)]
pub(super) struct ConversationPosition {
    /// Parent of the next record.
    parent: Option<Uuid>,
    /// Tokens of a request built at this position.
    context: u64,
    /// Tokens of the last request, which the provider's cache now contains.
    cached: u64,
}

/// A session that is being written.
pub(super) struct TranscriptWriter {
    session: Uuid,
    pub(super) text: String,
    records: u64,
    pub(super) model_calls: u64,
    pub(super) tool_calls: u64,
    /// Tokens of all prompts, replies, calls and results.
    pub(super) tokens: u64,
    now_ms: i64,
    turn_began_ms: i64,
    /// Current position of the conversation.
    pub(super) head: ConversationPosition,
    agent: Option<String>,
}

/// A tool call: the record that contains it, and the call's id.
pub(super) struct CalledTool {
    record: Uuid,
    id: String,
}

impl TranscriptWriter {
    pub(super) fn new() -> Self {
        Self {
            session: Uuid::new_v5(&Uuid::NAMESPACE_URL, b"wunderblock example session"),
            text: String::new(),
            records: 0,
            model_calls: 0,
            tool_calls: 0,
            tokens: 0,
            now_ms: START_MS,
            turn_began_ms: START_MS,
            head: beginning(),
            agent: None,
        }
    }

    /// Advances the clock.
    pub(super) fn wait(&mut self, ms: i64) {
        self.now_ms += ms;
    }

    /// Starts a side chain. Returns the position of the main chain and the sub-agent's id.
    pub(super) fn enter(&mut self) -> (ConversationPosition, String) {
        let id = self.id("agent", self.records).simple().to_string().chars().take(8).collect::<String>();
        self.agent = Some(id.clone());
        (std::mem::replace(&mut self.head, beginning()), id)
    }

    /// Ends a side chain and returns to the main chain.
    pub(super) fn leave(&mut self, head: ConversationPosition) {
        self.agent = None;
        self.head = head;
    }

    /// Writes a prompt.
    pub(super) fn user(&mut self, text: &str) -> ChoreResult<()> {
        // Time for reading the last reply, thinking, and typing. The time varies with the record's number.
        let typing = 55 * text.chars().count() as i64;
        if self.agent.is_none() {
            self.wait(95_000 + typing + (self.records as i64 * 7_919) % 420_000);
        }
        self.turn_began_ms = self.now_ms;
        self.count(text);
        self.record("user", json!({ "message": { "role": "user", "content": text } }))?;
        Ok(())
    }

    /// Writes a reply, one record per block, and returns its tool calls.
    pub(super) fn reply(&mut self, blocks: Vec<Value>, ends: bool) -> ChoreResult<Vec<CalledTool>> {
        self.model_calls += 1;
        let message_id = format!("msg_01{}", self.word("message", self.model_calls));
        let request_id = format!("req_011{}", self.word("request", self.model_calls));
        let (context, cached) = (self.head.context, self.head.cached);
        let output: u64 = blocks.iter().map(block_tokens).sum();
        self.tokens += output;
        let created = context.saturating_sub(cached).saturating_sub(UNCACHED);
        let usage = json!({
            "input_tokens": UNCACHED,
            "cache_creation_input_tokens": created,
            "cache_read_input_tokens": cached,
            "output_tokens": output,
            "service_tier": "standard",
        });
        self.head.cached = context - UNCACHED;
        self.head.context += output;
        self.wait(REPLY_MS + context as i64 / 120);
        let (mut called, last) = (Vec::new(), blocks.len().saturating_sub(1));
        for (index, block) in blocks.into_iter().enumerate() {
            self.wait(TOKEN_MS * block_tokens(&block) as i64);
            let stop = match (index == last, ends) {
                (false, _) => Value::Null,
                (true, false) => json!("tool_use"),
                (true, true) => json!("end_turn"),
            };
            let call = block.get("id").and_then(Value::as_str).map(str::to_owned);
            let message = json!({
                "id": message_id, "type": "message", "role": "assistant", "model": MODEL,
                "content": [block], "stop_reason": stop, "stop_sequence": null, "usage": usage,
            });
            let record = self.record("assistant", json!({ "message": message, "requestId": request_id }))?;
            called.extend(call.map(|id| CalledTool { record, id }));
        }
        Ok(called)
    }

    /// Creates a block that calls a tool.
    pub(super) fn tool_use(&mut self, name: &str, input: Value) -> Value {
        self.tool_calls += 1;
        let id = format!("toolu_01{}", self.word("tool", self.tool_calls));
        json!({ "type": "tool_use", "id": id, "name": name, "input": input })
    }

    /// Writes a tool result. `agent` is the sub-agent that produced the result, if any.
    pub(super) fn result(
        &mut self,
        called: &CalledTool,
        text: &str,
        failed: bool,
        agent: Option<&str>,
    ) -> ChoreResult<()> {
        self.count(text);
        let mut block = json!({ "type": "tool_result", "tool_use_id": called.id, "content": text });
        if let (true, Some(block)) = (failed, block.as_object_mut()) {
            block.insert("is_error".into(), json!(true));
        }
        let mut fields = json!({
            "message": { "role": "user", "content": [block] },
            "sourceToolAssistantUUID": called.record.to_string(),
        });
        if let (Some(agent), Some(fields)) = (agent, fields.as_object_mut()) {
            fields.insert("toolUseResult".into(), json!({ "status": "completed", "agentId": agent }));
        }
        // The parent of a result is the record of its call, even if other records followed.
        self.head.parent = Some(called.record);
        self.record("user", fields)?;
        Ok(())
    }

    /// Writes the end of a turn.
    pub(super) fn turn_ends(&mut self) -> ChoreResult<()> {
        let took = self.now_ms - self.turn_began_ms;
        self.record("system", json!({ "subtype": "turn_duration", "durationMs": took, "isMeta": false }))?;
        Ok(())
    }

    /// Writes a compaction: its boundary, and the summary from which the conversation continues.
    pub(super) fn compacted(&mut self, summary: &str) -> ChoreResult<()> {
        self.wait(38_000);
        let (before, old_tail) = (self.head.context, self.head.parent.take());
        self.head = ConversationPosition { context: OVERHEAD, ..beginning() };
        let boundary = json!({
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "logicalParentUuid": old_tail.map(|id| id.to_string()),
            "compactMetadata": { "trigger": "manual", "preTokens": before },
        });
        self.record("system", boundary)?;
        self.count(summary);
        let said = json!({
            "isCompactSummary": true,
            "isVisibleInTranscriptOnly": true,
            "message": { "role": "user", "content": summary },
        });
        self.record("user", said)?;
        Ok(())
    }

    /// Writes the session's title, a record that is not part of the conversation.
    pub(super) fn title(&mut self, title: &str) -> ChoreResult<()> {
        let line = json!({ "type": "ai-title", "sessionId": self.session.to_string(), "aiTitle": title });
        self.line(&line)
    }

    fn record(&mut self, kind: &str, fields: Value) -> ChoreResult<Uuid> {
        let uuid = self.id("record", self.records);
        self.records += 1;
        let time = format!("{:.3}", Timestamp::from_millisecond(self.now_ms)?);
        let mut line = json!({
            "parentUuid": self.head.parent.map(|id| id.to_string()), "isSidechain": self.agent.is_some(),
            "agentId": self.agent, "userType": "external", "cwd": ROOT, "sessionId": self.session.to_string(),
            "version": VERSION, "gitBranch": "main", "type": kind,
        });
        if let (Value::Object(line), Value::Object(fields)) = (&mut line, fields) {
            line.retain(|key, value| key != "agentId" || !value.is_null());
            line.extend(fields);
            line.insert("uuid".into(), json!(uuid.to_string()));
            line.insert("timestamp".into(), json!(time));
        }
        self.line(&line)?;
        self.head.parent = Some(uuid);
        Ok(uuid)
    }

    fn line(&mut self, line: &Value) -> ChoreResult<()> {
        self.text.push_str(&serde_json::to_string(line)?);
        self.text.push('\n');
        Ok(())
    }

    fn count(&mut self, text: &str) {
        let tokens = u64::from(Vocabulary::O200k.count(text));
        self.tokens += tokens;
        self.head.context += tokens;
    }

    fn id(&self, what: &str, number: u64) -> Uuid {
        Uuid::new_v5(&self.session, format!("{what} {number}").as_bytes())
    }

    /// Returns an id of letters and digits, like those of providers.
    fn word(&self, what: &str, number: u64) -> String {
        self.id(what, number).simple().to_string().chars().take(22).collect()
    }
}

fn beginning() -> ConversationPosition {
    ConversationPosition { parent: None, context: OVERHEAD, cached: 0 }
}

fn block_tokens(block: &Value) -> u64 {
    let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
    let input = block.get("input").map(Value::to_string).unwrap_or_default();
    [text("text"), text("thinking"), text("name"), &input]
        .iter()
        .map(|text| u64::from(Vocabulary::O200k.count(text)))
        .sum()
}
