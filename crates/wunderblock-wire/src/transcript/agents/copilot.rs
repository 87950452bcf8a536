//! Copilot CLI sessions: JSONL of events, `~/.copilot/session-state/<id>/events.jsonl`. Sub-agents are in the same
//! file, and their events name the call that started them.

use crate::transcript::logs::generic;
use crate::transcript::parsing::blocks::{Blocks, CallPairing, first_word};
use crate::transcript::parsing::object::Object;
use crate::transcript::parsing::rewinds::Rewinds;
use crate::transcript::parsing::seen::hash;
use crate::transcript::parsing::time;
use crate::transcript::record::{ByteSpan, RecordItem, RecordStatus, TranscriptRecord};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wunderblock_core::event::{SubagentOutcome, SubagentReturned, SubagentSpawned};
use wunderblock_core::id::CallId;
use wunderblock_core::message::{Dialect, Message, MessageOrigin, Part, Role};
use wunderblock_core::units::Tokens;

/// Record types, and what is read from each of them.
pub(in crate::transcript) const RECORD_TYPES: &[(&str, &str)] = &[
    ("session.start", "opening of the session"),
    ("user.message", "message; what the program adds to it is an injected message"),
    ("assistant.message", "message"),
    ("assistant.reasoning", "reasoning, unless the message repeats it"),
    ("tool.execution_complete", "tool result"),
    ("system.message", "system message"),
    ("system.notification", "injected message"),
    ("subagent.started", "start of a sub-agent"),
    ("subagent.completed", "end of a sub-agent's work"),
    ("subagent.failed", "end of a sub-agent's work"),
    ("session.compaction_complete", "compaction"),
    ("session.snapshot_rewind", "the next record continues before this prompt"),
    ("session.error", "end of a turn"),
    ("abort", "end of a turn"),
    ("assistant.*", "kept in the source"),
    ("hook.*", "kept in the source"),
    ("session.*", "kept in the source"),
    ("tool.*", "kept in the source"),
];

/// Beginnings of types that describe the program rather than the conversation.
const BOOKKEEPING: [&str; 20] = [
    "assistant.turn_",
    "assistant.intent",
    "assistant.usage",
    "command.",
    "elicitation.",
    "exit_plan_mode.",
    "external_tool.",
    "hook.",
    "mcp",
    "model.",
    "pending_messages.",
    "permission.",
    "sampling.",
    "session.",
    "skill.",
    "subagent.",
    "tool.execution_start",
    "tool.execution_partial_result",
    "tool.execution_progress",
    "user_input.",
];

/// State of a file that is being read.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::transcript) struct Copilot {
    own: Option<Box<str>>,
    model: Option<Box<str>>,
    rewinds: Rewinds,
    pairing: CallPairing,
    /// Whether the file's own session has been opened.
    opened: bool,
    /// Sub-agents by the call that started them, each with whether its session has been opened.
    agents: BTreeMap<Box<str>, bool>,
    /// Hash of the reasoning read last.
    reasoning: Option<u64>,
}

impl Copilot {
    pub(in crate::transcript) fn session(&self) -> Option<&str> {
        self.own.as_deref()
    }

    pub(in crate::transcript) fn read(&mut self, span: ByteSpan, object: &Object<'_>) -> TranscriptRecord {
        let kind = object.text("type").unwrap_or_default();
        let mut record = TranscriptRecord::bookkeeping(span, &kind);
        record.at = time::field(object, "timestamp");
        record.id = object.word("id");
        match object.object("data") {
            Some(data) => self.event(&mut record, &data, &kind),
            None => {
                record.set_opaque("an event of Copilot CLI without data");
                generic::read_message(object, &mut self.pairing, &mut record);
            }
        }
        self.complete(&mut record, object);
        record
    }

    fn event(&mut self, record: &mut TranscriptRecord, data: &Object<'_>, kind: &str) {
        match kind {
            "session.start" => self.start(record, data),
            "session.model_change" => self.model = data.word("newModel").or_else(|| self.model.take()),
            "user.message" => asked(record, data),
            "system.message" => injected(record, data, Role::System, "system.message"),
            "system.notification" => injected(record, data, Role::User, "notification"),
            "assistant.message" => self.replied(record, data),
            "assistant.reasoning" => self.reasoned(record, data),
            "tool.execution_complete" => self.result(record, data),
            "subagent.started" => {
                if let Some(call) = data.word("toolCallId") {
                    if let Some(spawned) = RecordItem::spawned(&agent_session(&call)) {
                        let (call, agent) = (Some(CallId(call.clone())), data.word("agentName"));
                        let spawned = SubagentSpawned { call, agent, ..spawned };
                        record.push(RecordItem::Spawned(Box::new(spawned)));
                    }
                    self.agents.entry(call).or_default();
                }
            }
            "subagent.completed" => returned(record, data, SubagentOutcome::Done),
            "subagent.failed" => returned(record, data, SubagentOutcome::Failed),
            "session.compaction_complete" if data.flag("success") => record.push(RecordItem::Compacted {
                from: None,
                before: None,
                summary: data.word("summaryContent").map(String::from),
                trigger: data.word("trigger"),
                tokens_before: data.number("preCompactionTokens").map(Tokens),
            }),
            "session.snapshot_rewind" => {
                record.kept = RecordStatus::Understood;
                if !data.word("upToEventId").is_some_and(|id| self.rewinds.back_to(&id)) {
                    record.set_opaque("a rewind to an event that is not a prompt");
                }
            }
            "session.error" => {
                record.push(RecordItem::turn("error", data.word("errorType"), data.word("message")))
            }
            "abort" => record.push(RecordItem::turn("aborted", None, data.word("reason"))),
            _ if BOOKKEEPING.iter().any(|known| kind.starts_with(known)) => {}
            _ => {
                record.set_opaque(format!("unknown event of Copilot CLI: `{kind}`"));
                generic::read_message(data, &mut self.pairing, record);
            }
        }
    }

    fn start(&mut self, record: &mut TranscriptRecord, data: &Object<'_>) {
        record.kept = RecordStatus::Understood;
        self.model = data.word("selectedModel").or_else(|| self.model.take());
        if self.own.is_none() {
            self.own = data.word("sessionId");
            self.opened = true;
            let context = data.object("context");
            let word = |name| context.as_ref().and_then(|context| context.word(name));
            let opened = RecordItem::opened("copilot", word("cwd"), data.word("copilotVersion"));
            record.push(opened.on_branch(word("branch")));
        }
    }

    fn replied(&mut self, record: &mut TranscriptRecord, data: &Object<'_>) {
        let base = record.id_base();
        let mut blocks = Blocks::new(Dialect::Neutral, &mut self.pairing, &base);
        let mut parts = Vec::new();
        let text = data.word("reasoningText");
        let repeated = text.as_ref().is_some_and(|text| self.reasoning == Some(hash([&**text])));
        let signature = data.word("reasoningOpaque");
        if (text.is_some() && !repeated) || signature.is_some() {
            let text = text.filter(|_| !repeated).unwrap_or_default();
            parts.push(Part::Thinking { text: String::from(text).into(), signature, extra: None });
        }
        parts.extend(data.word("content").map(|text| Part::text(String::from(text))));
        for call in data.array("toolRequests").unwrap_or_default() {
            let part = Object::of(call).and_then(|call| blocks.tool_call(&call));
            parts.push(
                part.unwrap_or_else(|| Part::Opaque { dialect: Dialect::Neutral, raw: call.get().into() }),
            );
        }
        record.kept = RecordStatus::Understood;
        if parts.is_empty() {
            return;
        }
        record.say(Message {
            api_id: first_word(data, &["messageId", "apiCallId"]),
            model: data.word("model").or_else(|| self.model.clone()),
            ..Message::new(Role::Assistant, parts)
        });
    }

    fn reasoned(&mut self, record: &mut TranscriptRecord, data: &Object<'_>) {
        let Some(text) = data.word("content") else { return };
        self.reasoning = Some(hash([&*text]));
        let part = Part::Thinking { text: String::from(text).into(), signature: None, extra: None };
        record.say(Message { model: self.model.clone(), ..Message::new(Role::Assistant, vec![part]) });
    }

    fn result(&mut self, record: &mut TranscriptRecord, data: &Object<'_>) {
        let base = record.id_base();
        let mut blocks = Blocks::new(Dialect::Neutral, &mut self.pairing, &base);
        let call: CallId = blocks.result_id(data.word("toolCallId"));
        let content = match (data.some("result"), data.object("error")) {
            (Some(result), _) => blocks.answer(result),
            (None, Some(error)) => {
                error.word("message").map(|text| Part::text(String::from(text))).into_iter().collect()
            }
            (None, None) => Vec::new(),
        };
        let failed = data.has("success") && !data.flag("success");
        let result = Part::ToolResult { call, content, failed, extra: None };
        record.push(RecordItem::Message(Message::new(Role::Tool, vec![result])));
    }

    /// Adds the session of a sub-agent, and the fields that depend on earlier records.
    fn complete(&mut self, record: &mut TranscriptRecord, object: &Object<'_>) {
        let data = object.object("data").unwrap_or_default();
        let agent = data.word("parentToolCallId").or_else(|| object.word("parentToolCallId"));
        if let Some(call) = agent {
            record.session = Some(agent_session(&call));
            record.parent_session.clone_from(&self.own);
            let opened = self.agents.entry(call).or_default();
            if !record.items.is_empty() && !std::mem::replace(opened, true) {
                record.open("copilot");
            }
            return;
        }
        let id = record.id.clone();
        self.rewinds.continue_with(record, id.as_deref());
        if !record.items.is_empty() && !std::mem::replace(&mut self.opened, true) {
            record.open("copilot");
        }
    }
}

/// Returns the name of the session of the sub-agent that a call started.
fn agent_session(call: &str) -> Box<str> {
    format!("agent-{call}").into()
}

/// Reads the end of a sub-agent's work.
fn returned(record: &mut TranscriptRecord, data: &Object<'_>, outcome: SubagentOutcome) {
    let Some(call) = data.word("toolCallId") else { return };
    let Some(spawned) = RecordItem::spawned(&agent_session(&call)) else { return };
    record.push(RecordItem::Returned(Box::new(SubagentReturned {
        call: Some(CallId(call)),
        model: data.word("model"),
        tokens: data.number("totalTokens").map(Tokens),
        millis: data.number("durationMs"),
        ..SubagentReturned::new(spawned.session, outcome)
    })));
}

/// Reads a person's message. The program sends `transformedContent`: the same text with data around it.
fn asked(record: &mut TranscriptRecord, data: &Object<'_>) {
    let said = data.word("content").unwrap_or_default();
    let sent = data.word("transformedContent").filter(|sent| *sent != said);
    let around = sent.map(|sent| match sent.split_once(&*said).filter(|_| !said.is_empty()) {
        Some((before, after)) => [before.trim(), after.trim()].join("\n").trim().to_owned(),
        None => String::from(sent),
    });
    if let Some(around) = around.filter(|around| !around.is_empty()) {
        let standing = MessageOrigin::Injected("transformedContent".into());
        record.say(Message::text(Role::User, around).standing(standing));
    }
    if !said.is_empty() {
        record.say(Message::text(Role::User, String::from(said)));
    }
    record.kept = RecordStatus::Understood;
}

fn injected(record: &mut TranscriptRecord, data: &Object<'_>, role: Role, what: &str) {
    if let Some(text) = data.word("content") {
        record.say(Message::text(role, String::from(text)).standing(MessageOrigin::Injected(what.into())));
    }
}
