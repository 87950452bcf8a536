//! Codex rollouts: JSONL of `{timestamp, type, payload}`. Very old files have items without an envelope.
//!
//! The model saw the `response_item`s. The interface's `event_msg`s repeat the texts of `response_item`s, and no text
//! must be taken twice: once any `response_item` has been read, the `event_msg`s are bookkeeping. Earlier events are
//! held back until it is clear what they are. The events are bookkeeping if an item follows them. The events are
//! messages if no item follows before the end of the file, or within [`MAX_HELD`] records.

mod delegate;
mod items;
pub(in crate::transcript) mod writer;

use crate::transcript::logs::generic;
use crate::transcript::parsing::blocks::{Blocks, CallPairing, first_word};
use crate::transcript::parsing::object::Object;
use crate::transcript::parsing::seen::hash;
use crate::transcript::parsing::time;
use crate::transcript::record::{ByteSpan, RecordItem, RecordPlace, RecordStatus, TranscriptRecord};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use wunderblock_core::event::UsageMeasured;
use wunderblock_core::message::{Dialect, Message, MessageOrigin, Part, Role};
use wunderblock_core::units::Tokens;

/// Record types, and what is read from each of them.
pub(in crate::transcript) const RECORD_TYPES: &[(&str, &str)] = &[
    ("session_meta", "opening of the session; base instructions become an injected system message"),
    ("turn_context", "kept in the source; names the model of later records"),
    ("world_state", "kept in the source"),
    ("inter_agent_communication_metadata", "kept in the source"),
    ("compacted", "compaction"),
    ("response_item:message", "message; injected if the harness wrote it in the user's place"),
    ("response_item:reasoning", "message of the assistant: text as thinking, encrypted content verbatim"),
    ("response_item:function_call", "tool call"),
    ("response_item:custom_tool_call", "tool call"),
    ("response_item:local_shell_call", "tool call"),
    ("response_item:function_call_output", "tool result"),
    ("response_item:custom_tool_call_output", "tool result"),
    ("response_item:local_shell_call_output", "tool result"),
    ("response_item:tool_call", "tool call (an early form, paired by order)"),
    ("response_item:tool_result", "tool result (an early form, paired by order)"),
    ("response_item:agent_message", "injected message: another agent's words"),
    ("response_item:web_search_call", "kept verbatim in a message"),
    ("response_item:tool_search_call", "kept verbatim in a message"),
    ("response_item:tool_search_output", "kept verbatim in a message"),
    ("response_item:image_generation_call", "kept verbatim in a message"),
    ("response_item:compaction", "kept verbatim in a message"),
    ("response_item:context_compaction", "kept verbatim in a message"),
    ("response_item:ghost_snapshot", "kept in the source"),
    ("event_msg:token_count", "usage"),
    ("event_msg:task_complete", "end of a turn"),
    ("event_msg:turn_complete", "end of a turn"),
    ("event_msg:turn_aborted", "end of a turn"),
    ("event_msg:error", "end of a turn"),
    ("event_msg:thread_rolled_back", "the next record continues before the turns taken back"),
    ("event_msg:thread_name_updated", "title of the session"),
    ("event_msg:collab_agent_spawn_end", "start of a sub-agent"),
    ("event_msg:collab_waiting_end", "ends of sub-agents' work"),
    ("event_msg:collab_close_end", "end of a sub-agent's work"),
    ("event_msg:user_message", "message if the file has no response items, else kept in the source"),
    ("event_msg:agent_message", "message if the file has no response items, else kept in the source"),
    ("event_msg:*", "kept in the source"),
];

/// Name of the message that holds the base instructions of the header.
const BASE_INSTRUCTIONS: &str = "base_instructions";

/// Maximum number of records held back until it is clear whether the file has response items.
const MAX_HELD: usize = 64;

/// Maximum number of bytes in the records held back.
const MAX_HELD_BYTES: u64 = 1 << 20;

/// Maximum number of messages from events that are remembered, so that a late response item does not repeat a
/// message.
const MAX_SAID: usize = 16;

/// State of a file that is being read.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::transcript) struct Codex {
    own: Option<Box<str>>,
    parent: Option<Box<str>>,
    opened: bool,
    model: Option<Box<str>>,
    /// Hash of the base instructions taken last.
    instructions: Option<u64>,
    /// Hash of the running total reported last. The same report is written again when rate limits change.
    total: Option<u64>,
    /// Number of user turns that were taken back and from which no record has continued yet.
    taken_back: u64,
    pairing: CallPairing,
    has_items: bool,
    events_only: bool,
    /// The records held back are not part of a checkpoint, because no checkpoint is made while there are any.
    #[serde(skip)]
    held: Vec<TranscriptRecord>,
    #[serde(skip)]
    held_bytes: u64,
    said: VecDeque<u64>,
}

impl Codex {
    pub(in crate::transcript) fn session(&self) -> Option<&str> {
        self.own.as_deref()
    }

    /// Returns whether records are held back.
    pub(in crate::transcript) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    pub(in crate::transcript) fn read(
        &mut self,
        span: ByteSpan,
        object: &Object<'_>,
    ) -> Vec<TranscriptRecord> {
        let record = self.record(span, object);
        let uncertain = is_said_event(&record) && !record.items.is_empty();
        if self.held.is_empty() && (self.events_only || !uncertain) {
            return vec![self.complete(record)];
        }
        self.hold(record)
    }

    /// Queues records behind those held back, if there are any.
    pub(in crate::transcript) fn behind(&mut self, records: Vec<TranscriptRecord>) -> Vec<TranscriptRecord> {
        if self.held.is_empty() {
            return records;
        }
        records.into_iter().flat_map(|record| self.hold(record)).collect()
    }

    pub(in crate::transcript) fn finish(&mut self) -> Vec<TranscriptRecord> {
        self.release()
    }

    fn hold(&mut self, record: TranscriptRecord) -> Vec<TranscriptRecord> {
        self.held_bytes += record.len;
        self.held.push(record);
        if self.has_items {
            return self.release();
        }
        if self.held.len() >= MAX_HELD || self.held_bytes >= MAX_HELD_BYTES {
            self.events_only = true;
            return self.release();
        }
        Vec::new()
    }

    fn release(&mut self) -> Vec<TranscriptRecord> {
        self.held_bytes = 0;
        let duplicates = self.has_items;
        let held = std::mem::take(&mut self.held);
        held.into_iter()
            .map(|mut record| {
                if is_said_event(&record) {
                    if duplicates {
                        record.items.clear();
                        record.kept = RecordStatus::Bookkeeping;
                    } else {
                        self.remember(&record);
                    }
                }
                self.complete(record)
            })
            .collect()
    }

    /// Adds the fields that depend on earlier records.
    fn complete(&mut self, mut record: TranscriptRecord) -> TranscriptRecord {
        record.parent_session.clone_from(&self.parent);
        if record.items.is_empty() {
            return record;
        }
        let opens = matches!(record.items.first(), Some(RecordItem::Opened(_)));
        if !opens && !self.opened {
            record.open("codex");
        }
        self.opened = true;
        let says = record
            .items
            .iter()
            .any(|item| matches!(item, RecordItem::Message(_) | RecordItem::Compacted { .. }));
        if says && self.taken_back > 0 {
            record.place = RecordPlace::RolledBack { turns: std::mem::take(&mut self.taken_back) };
        }
        record
    }

    fn record(&mut self, span: ByteSpan, object: &Object<'_>) -> TranscriptRecord {
        let kind = object.text("type").unwrap_or_default();
        let mut record = TranscriptRecord::bookkeeping(span, &kind);
        record.at = time::field(object, "timestamp");
        let Some(payload) = object.object("payload") else {
            self.bare(&mut record, object, &kind);
            return record;
        };
        match kind.as_ref() {
            "session_meta" => self.meta(&mut record, &payload),
            "turn_context" => self.model = payload.word("model").or_else(|| self.model.take()),
            "response_item" => self.item(&mut record, &payload),
            "event_msg" => self.event(&mut record, &payload),
            "compacted" => compacted(&mut record, &payload),
            "world_state" | "inter_agent_communication_metadata" => {}
            _ => {
                record.set_opaque(format!("unknown record type of Codex: `{kind}`"));
                generic::read_message(&payload, &mut self.pairing, &mut record);
            }
        }
        record
    }

    /// Reads a line that was written before Codex had the envelope.
    fn bare(&mut self, record: &mut TranscriptRecord, object: &Object<'_>, kind: &str) {
        if items::is_item(kind) {
            return self.item(record, object);
        }
        if kind.is_empty() && object.has("record_type") {
            record.kind = "state".into();
        } else if kind.is_empty() && object.has("id") && !object.has("role") {
            record.kind = "session_meta".into();
            self.meta(record, object);
        } else {
            record.set_opaque("neither an envelope nor an item of Codex");
            generic::read_message(object, &mut self.pairing, record);
        }
    }

    fn meta(&mut self, record: &mut TranscriptRecord, meta: &Object<'_>) {
        let id = first_word(meta, &["id", "session_id"]);
        // A forked session contains the header of its parent session after its own.
        if self.own.is_none() {
            self.own = id;
            self.parent = meta.word("parent_thread_id").or_else(|| spawned_by(meta));
            let opened = RecordItem::opened("codex", meta.word("cwd"), meta.word("cli_version"));
            record.push(opened.on_branch(meta.object("git").and_then(|git| git.word("branch"))));
        }
        let base = meta.object("base_instructions");
        let text = base
            .and_then(|base| base.word("text"))
            .or_else(|| first_word(meta, &["base_instructions", "instructions"]));
        let Some(text) = text else { return };
        let read = Some(hash([&*text]));
        if self.instructions != read {
            self.instructions = read;
            let standing = MessageOrigin::Injected(BASE_INSTRUCTIONS.into());
            record.say(Message::text(Role::System, String::from(text)).standing(standing));
        }
    }

    fn item(&mut self, record: &mut TranscriptRecord, item: &Object<'_>) {
        let kind = item.text("type").unwrap_or_default();
        record.kind = format!("response_item:{kind}").into();
        record.id = item.word("id");
        // After events have been taken as messages, a late item must not turn them into bookkeeping.
        self.has_items |= !self.events_only;
        if kind == "ghost_snapshot" {
            return;
        }
        let base = record.id_base();
        let mut blocks = Blocks::new(Dialect::OpenaiResponses, &mut self.pairing, &base);
        let Some(mut message) = items::message(&kind, item, &mut blocks) else {
            record.set_opaque(format!("unknown item of Codex: `{kind}`"));
            return generic::read_message(item, &mut self.pairing, record);
        };
        if message.role == Role::Assistant {
            message.model.clone_from(&self.model);
        }
        record.kept = RecordStatus::Understood;
        if self.events_only && self.said.contains(&hash_said(&message)) {
            return;
        }
        record.say(message);
    }

    fn event(&mut self, record: &mut TranscriptRecord, event: &Object<'_>) {
        let kind = event.text("type").unwrap_or_default();
        record.kind = format!("event_msg:{kind}").into();
        match kind.as_ref() {
            "user_message" | "agent_message" => self.said_event(record, event, &kind),
            "token_count" => {
                if let Some(usage) = self.usage(event) {
                    record.push(RecordItem::Usage(usage));
                }
            }
            "task_complete" | "turn_complete" => record.push(RecordItem::turn("end", None, None)),
            "turn_aborted" => record.push(RecordItem::turn("aborted", None, event.word("reason"))),
            "error" => {
                let info = event.get("codex_error_info");
                let code = info.filter(|info| info.get() != "null").and_then(|info| error_code(info.get()));
                record.push(RecordItem::turn("error", code, event.word("message")));
            }
            "thread_rolled_back" => {
                self.taken_back = self.taken_back.saturating_add(event.number("num_turns").unwrap_or(1));
                record.kept = RecordStatus::Understood;
            }
            "thread_name_updated" => {
                if let Some(name) = event.text("thread_name") {
                    record.push(RecordItem::titled(&name));
                }
            }
            "collab_agent_spawn_end" => {
                delegate::spawned(event).into_iter().for_each(|item| record.push(item));
            }
            "collab_waiting_end" => delegate::waited(event).into_iter().for_each(|item| record.push(item)),
            "collab_close_end" => delegate::closed(event).into_iter().for_each(|item| record.push(item)),
            _ => {}
        }
    }

    fn said_event(&mut self, record: &mut TranscriptRecord, event: &Object<'_>, kind: &str) {
        if self.has_items {
            return;
        }
        let Some(text) = event.word("message") else { return };
        let message = if kind == "user_message" {
            let standing = items::standing(&text);
            Message::text(Role::User, String::from(text)).standing(standing)
        } else {
            Message { model: self.model.clone(), ..Message::text(Role::Assistant, String::from(text)) }
        };
        record.say(message);
        if self.events_only {
            self.remember(record);
        }
    }

    fn remember(&mut self, record: &TranscriptRecord) {
        for item in &record.items {
            if let RecordItem::Message(message) = item {
                if self.said.len() >= MAX_SAID {
                    self.said.pop_front();
                }
                self.said.push_back(hash_said(message));
            }
        }
    }

    fn usage(&mut self, event: &Object<'_>) -> Option<UsageMeasured> {
        let info = event.object("info")?;
        let total = info.get("total_token_usage").map(|total| hash([total.get()]));
        if total.is_some() && total == self.total {
            return None;
        }
        self.total = total;
        let last = info.object("last_token_usage")?;
        let count = |key| last.number(key).unwrap_or(0);
        if ["input_tokens", "output_tokens"].into_iter().all(|key| count(key) == 0) {
            return None;
        }
        let (read, write) = (count("cached_input_tokens"), count("cache_write_input_tokens"));
        Some(UsageMeasured {
            request: None,
            api_id: None,
            model: self.model.clone(),
            input: Tokens(count("input_tokens").saturating_sub(read).saturating_sub(write)),
            cache_read: Tokens(read),
            cache_write: Tokens(write),
            output: Tokens(count("output_tokens")),
            window: info.number("model_context_window").map(Tokens),
        })
    }
}

fn is_said_event(record: &TranscriptRecord) -> bool {
    matches!(record.kind.as_ref(), "event_msg:user_message" | "event_msg:agent_message")
}

fn compacted(record: &mut TranscriptRecord, payload: &Object<'_>) {
    let summary = payload.word("message").map(String::from);
    record.push(RecordItem::Compacted {
        from: None,
        before: None,
        summary,
        trigger: None,
        tokens_before: None,
    });
}

/// Returns the parent thread in `source: {"subagent": {"thread_spawn": {"parent_thread_id": …}}}`.
fn spawned_by(meta: &Object<'_>) -> Option<Box<str>> {
    let subagent = meta.object("source")?.object("subagent")?;
    subagent.object("thread_spawn")?.word("parent_thread_id")
}

/// Returns an error's code. Codex names errors by a word, or by an object with one key.
fn error_code(info: &str) -> Option<Box<str>> {
    let end = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let word = info.trim_start_matches(['{', '"', ' ']).split(end).next().unwrap_or("");
    match word {
        "context_window_exceeded" => Some("context_overflow".into()),
        "" => None,
        word => Some(word.into()),
    }
}

fn hash_said(message: &Message) -> u64 {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text { text, .. } => text.inline(),
        _ => None,
    });
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    hash([role].into_iter().chain(texts))
}

/// Record types of Codex that have an envelope.
pub(in crate::transcript) const ENVELOPED_TYPES: [&str; 7] = [
    "session_meta",
    "turn_context",
    "response_item",
    "event_msg",
    "compacted",
    "world_state",
    "inter_agent_communication_metadata",
];

/// Returns whether a line is an item of Codex without an envelope.
pub(in crate::transcript) fn is_bare_item(
    object: &Object<'_>,
    kind: &str,
    has: &dyn Fn(&str) -> bool,
) -> bool {
    let first_block = object.array("content").and_then(|blocks| Object::of(blocks.first()?));
    let block_kind = first_block.as_ref().and_then(|block| block.text("type")).unwrap_or_default();
    (kind == "message" && matches!(block_kind.as_ref(), "input_text" | "output_text"))
        || (matches!(kind, "function_call" | "function_call_output" | "local_shell_call") && has("call_id"))
        || (kind.is_empty() && has("id") && has("instructions") && has("timestamp"))
        || object.has("record_type")
}
