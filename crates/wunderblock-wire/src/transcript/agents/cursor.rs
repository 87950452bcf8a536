//! Conversations of Cursor's editor: one line for the conversation, and one for each of its bubbles.
//!
//! Cursor keeps conversations in the table `cursorDiskKV` of `state.vscdb`, under the keys `composerData:CONVERSATION`
//! and `bubbleId:CONVERSATION:BUBBLE`. The importer writes these values as the lines that this module reads,
//! `{"composer": …}` and `{"bubble": …}`, and writes a line again when its value has changed. Cursor does not describe
//! the values; the fields are those that programs for reading them name in agreement.

use crate::transcript::parsing::blocks::input;
use crate::transcript::parsing::object::{Object, position, string};
use crate::transcript::parsing::rewinds::Rewinds;
use crate::transcript::parsing::seen::{SeenIds, hash};
use crate::transcript::parsing::time;
use crate::transcript::record::{ByteSpan, RecordItem, RecordStatus, TranscriptRecord};
use serde::{Deserialize, Serialize};
use wunderblock_core::event::{Fact, SessionDescribed, UsageMeasured};
use wunderblock_core::id::CallId;
use wunderblock_core::message::{Message, Part, Role};

/// Record types, and what is read from each of them.
pub(in crate::transcript) const RECORD_TYPES: &[(&str, &str)] = &[
    ("composer", "opening of the session, its title"),
    ("user", "message"),
    ("assistant", "message with text, reasoning or a tool call; usage"),
    ("tool result", "message with a tool result"),
    ("removed", "the next record continues before this prompt"),
];

/// State of a file that is being read.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::transcript) struct Cursor {
    own: Option<Box<str>>,
    opened: bool,
    model: Option<Box<str>>,
    /// Hash of the id of the bubble that is still being written.
    open: Option<u64>,
    rewinds: Rewinds,
    /// This field is not part of a checkpoint, because it grows with the file.
    #[serde(skip)]
    pub(in crate::transcript) seen: SeenIds,
}

impl Cursor {
    pub(in crate::transcript) fn session(&self) -> Option<&str> {
        self.own.as_deref()
    }

    /// Returns the ids of the records that a line may repeat, if they are unknown.
    pub(in crate::transcript) fn unknown(&self, object: &Object<'_>) -> Vec<Box<str>> {
        let mut ids = Vec::new();
        if let Some(bubble) = object.object("bubble") {
            let id = bubble.word("bubbleId").unwrap_or_default();
            ids.extend([result_id(&id), id]);
        } else if let Some(composer) = object.object("composer") {
            let id = composer.word("composerId").unwrap_or_default();
            ids.extend(composer.word("name").map(|title| title_id(&id, &title)));
        }
        ids.retain(|id| !id.is_empty() && !self.seen.contains(id));
        ids
    }

    pub(in crate::transcript) fn read(
        &mut self,
        span: ByteSpan,
        text: &str,
        object: &Object<'_>,
    ) -> Vec<TranscriptRecord> {
        let mut records = if let Some(id) = object.word("removed") {
            let mut record = TranscriptRecord::bookkeeping(span, "removed");
            if self.rewinds.back_to(&id) {
                record.kept = RecordStatus::Understood;
            }
            vec![record]
        } else if let Some(bubble) = object.object("bubble") {
            self.bubble(span, text, &bubble)
        } else if let Some(composer) = object.object("composer") {
            vec![self.composer(span, &composer)]
        } else {
            vec![TranscriptRecord::opaque(span, "record", "unknown record of Cursor")]
        };
        for record in &mut records {
            if let Some(id) = &record.id {
                self.seen.insert(id, 0);
            }
            if !record.items.is_empty() && !std::mem::replace(&mut self.opened, true) {
                record.open("cursor");
            }
        }
        records
    }

    fn composer(&mut self, span: ByteSpan, composer: &Object<'_>) -> TranscriptRecord {
        let mut record = TranscriptRecord::bookkeeping(span, "composer");
        record.at = time::field(composer, "createdAt");
        let id = composer.word("composerId").unwrap_or_default();
        let model = composer.object("modelConfig").and_then(|config| config.word("modelName"));
        self.model = model.filter(|model| **model != *"default").or_else(|| self.model.take());
        let headers = composer.array("fullConversationHeadersOnly").unwrap_or_default();
        let last = headers.last().and_then(|last| Object::of(last)?.word("bubbleId"));
        let is_open = composer.text("status").as_deref() == Some("generating");
        self.open = last.filter(|_| is_open).map(|last| hash([&*last]));
        if self.own.is_none() {
            self.own = Some(id.clone());
        }
        if !std::mem::replace(&mut self.opened, true) {
            let parent = composer.object("subagentInfo").and_then(|parent| parent.word("parentComposerId"));
            record.parent_session = parent;
            let folder = composer.object("workspaceIdentifier").and_then(|place| place.object("uri"));
            let folder = folder.and_then(|uri| uri.word("fsPath").or_else(|| uri.word("path")));
            record.push(RecordItem::opened("cursor", folder, None));
        }
        if let Some(title) = composer.word("name") {
            let name = title_id(&id, &title);
            if !self.seen.contains(&name) {
                record.id = Some(name);
                let described = SessionDescribed { title: Some(title), tags: None };
                record.push(RecordItem::Fact(Box::new(Fact::SessionDescribed(described))));
            }
        }
        record
    }

    fn bubble(&mut self, span: ByteSpan, text: &str, bubble: &Object<'_>) -> Vec<TranscriptRecord> {
        let id = bubble.word("bubbleId").unwrap_or_default();
        let role = match bubble.number("type") {
            Some(1) => Role::User,
            Some(2) => Role::Assistant,
            _ => {
                return vec![TranscriptRecord::opaque(
                    span,
                    "bubble",
                    "a bubble of Cursor without a speaker",
                )];
            }
        };
        let kind = if role == Role::User { "user" } else { "assistant" };
        let mut said = TranscriptRecord::bookkeeping(span, kind);
        said.at = time::field(bubble, "createdAt");
        // A bubble that is still being written is read when it has ended.
        if self.open == Some(hash([&*id])) {
            return vec![said];
        }
        let tool = bubble.object("toolFormerData").filter(|tool| tool.word("name").is_some());
        if !self.seen.contains(&id) {
            self.say(&mut said, role, bubble, tool.as_ref());
        }
        let mut records = vec![said];
        let result = tool.and_then(|tool| self.result(&mut records, &tool, text, &id));
        records.extend(result);
        for record in &mut records {
            let name = record.id.clone();
            self.rewinds.continue_with(record, name.as_deref());
        }
        records
    }

    fn say(&self, record: &mut TranscriptRecord, role: Role, bubble: &Object<'_>, tool: Option<&Object<'_>>) {
        let id = bubble.word("bubbleId").unwrap_or_default();
        let mut parts = Vec::new();
        let thinking = bubble.object("thinking");
        let thoughts = thinking.as_ref().and_then(|it| it.word("text")).or_else(|| bubble.word("thinking"));
        if let Some(text) = thoughts {
            let signature = thinking.and_then(|thinking| thinking.word("signature"));
            parts.push(Part::Thinking { text: String::from(text).into(), signature, extra: None });
        }
        parts.extend(bubble.word("text").map(|text| Part::text(String::from(text))));
        if let Some(tool) = tool {
            let arguments = ["rawArgs", "params"].iter().find_map(|key| tool.some(key));
            let input = arguments.map_or_else(|| "{}".to_owned(), input).into();
            let name = tool.word("name").unwrap_or_default();
            parts.push(Part::ToolCall { call: call_of(tool, &id), name, input, gist: None, extra: None });
        }
        let model = bubble.object("modelInfo").and_then(|info| info.word("modelName"));
        let mut message = Message::new(role, parts);
        if role == Role::Assistant {
            message.api_id = Some(id.clone());
            message.model = model.filter(|model| **model != *"default").or_else(|| self.model.clone());
        }
        let tokens = bubble.object("tokenCount").unwrap_or_default();
        let [read, written] = ["inputTokens", "outputTokens"].map(|key| tokens.number(key).unwrap_or(0));
        let usage = UsageMeasured::of(&message, [read, 0, 0, written]);
        if !message.parts.is_empty() {
            record.say(message);
        }
        if role == Role::Assistant && read.saturating_add(written) > 0 {
            record.push(RecordItem::Usage(usage));
        }
        if !record.items.is_empty() {
            record.id = Some(id);
        }
    }

    /// Returns the record of a tool's result, which begins at the result's text, and shortens the record before it.
    fn result(
        &self,
        records: &mut [TranscriptRecord],
        tool: &Object<'_>,
        text: &str,
        id: &str,
    ) -> Option<TranscriptRecord> {
        let status = tool.text("status").unwrap_or_default();
        let failed = matches!(&*status, "error" | "cancelled" | "rejected");
        let value = ["result", "error"].iter().find_map(|key| tool.some(key));
        let value = value.or_else(|| tool.get("status").filter(|_| failed))?;
        let name = result_id(id);
        if self.seen.contains(&name) || matches!(&*status, "running" | "loading" | "pending") {
            return None;
        }
        let said = records.first_mut()?;
        let at = position(value.get(), text) as u64;
        let span = ByteSpan { offset: said.offset + at, len: said.len.saturating_sub(at), line: said.line };
        said.len = at;
        let mut record = TranscriptRecord::bookkeeping(span, "tool result");
        (record.at, record.id) = (said.at, Some(name));
        let content = string(value).map_or_else(|| value.get().to_owned(), |text| text.into_owned());
        let content = vec![Part::text(content)];
        let told = Part::ToolResult { call: call_of(tool, id), content, failed, extra: None };
        record.push(RecordItem::Message(Message::new(Role::Tool, vec![told])));
        Some(record)
    }
}

fn call_of(tool: &Object<'_>, bubble: &str) -> CallId {
    CallId(tool.word("toolCallId").unwrap_or_else(|| format!("call-{bubble}").into()))
}

fn result_id(bubble: &str) -> Box<str> {
    format!("{bubble}/result").into()
}

fn title_id(session: &str, title: &str) -> Box<str> {
    format!("{session}/title/{:016x}", hash([title])).into()
}

/// Returns whether an object is a line of a conversation.
pub(in crate::transcript) fn is_line(object: &Object<'_>) -> bool {
    let has = |key: &str, inner: &str| object.object(key).is_some_and(|value| value.has(inner));
    has("composer", "composerId") || has("bubble", "bubbleId")
}
