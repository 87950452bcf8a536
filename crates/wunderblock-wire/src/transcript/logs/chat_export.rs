//! Exports of ChatGPT and claude.ai: the lines of one conversation.
//!
//! An export is one JSON array of thousands of conversations. The importer writes each of them as lines: one for what
//! is known of the conversation, `{"chatgpt": …}` or `{"claude_ai": …}`; one for each message, `{"id": …, "node": …}`
//! or `{"id": …, "chat_message": …}`, parents first and the current branch last; and `{"current": id}`, the message at
//! which the person stopped. It writes a line again when its value has changed. Neither company describes the fields;
//! they are those that programs for reading exports name in agreement.

mod chatgpt;
mod claude_ai;

use crate::transcript::format::Format;
use crate::transcript::parsing::blocks::CallPairing;
use crate::transcript::parsing::object::Object;
use crate::transcript::parsing::seen::{SeenIds, hash};
use crate::transcript::parsing::time;
use crate::transcript::record::{ByteSpan, RecordItem, RecordPlace, TranscriptRecord};
use chatgpt::OpenCall;
use serde::{Deserialize, Serialize};
use wunderblock_core::message::{Message, MessageOrigin, Role};

/// Record types of ChatGPT: its types of content, and what is read from each of them.
pub(in crate::transcript) const CHATGPT_TYPES: &[(&str, &str)] = &[
    ("conversation", "opening of the session, its title"),
    ("text", "message; a tool call if it is addressed to a tool; a tool result if a tool wrote it"),
    (
        "multimodal_text",
        "the same, with a line for each image, recording or video that the export contains as a file",
    ),
    ("code", "message with a tool call if it is addressed to a tool"),
    ("execution_output", "message with a tool result"),
    ("citable_code_output", "message with a tool result"),
    ("tether_browsing_display", "message with a tool result"),
    ("tether_quote", "message with a tool result"),
    ("sonic_webpage", "message with a tool result"),
    ("computer_output", "message with a tool result"),
    ("system_error", "message with a tool result that failed"),
    ("thoughts", "message with reasoning"),
    (
        "user_editable_context",
        "injected message: what the person wrote about themselves for all conversations",
    ),
    ("model_editable_context", "injected message: what the model has noted about the person"),
    ("reasoning_recap", "kept in the source"),
    ("node", "kept in the source: a place in the tree without a message"),
    ("current", "the branch at which the person stopped is the latest one"),
    ("removed", "kept in the source: a later export does not contain the message"),
    ("repeated", "kept in the source: a later state of a message that is known"),
];

/// Record types of claude.ai, and what is read from each of them.
pub(in crate::transcript) const CLAUDE_AI_TYPES: &[(&str, &str)] = &[
    ("conversation", "opening of the session, its title"),
    ("human", "message; injected messages with the texts and names of attachments"),
    ("assistant", "messages with text, reasoning, tool calls and tool results, in their order"),
    ("current", "the branch at which the person stopped is the latest one"),
    ("removed", "kept in the source: a later export does not contain the message"),
    ("repeated", "kept in the source: a later state of a message that is known"),
];

/// Titles of conversations that have none yet.
const UNTITLED: [&str; 2] = ["New chat", "Untitled"];

/// State of a conversation that is being read.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::transcript) struct ChatExport {
    own: Option<Box<str>>,
    opened: bool,
    model: Option<Box<str>>,
    /// The latest call, for the result that follows it: ChatGPT gives calls no ids.
    call: Option<OpenCall>,
    pairing: CallPairing,
    /// This field is not part of a checkpoint, because it grows with the file.
    #[serde(skip)]
    pub(in crate::transcript) seen: SeenIds,
}

impl ChatExport {
    pub(in crate::transcript) fn session(&self) -> Option<&str> {
        self.own.as_deref()
    }

    /// Returns the ids of the records that a line repeats or follows, if they are unknown.
    pub(in crate::transcript) fn unknown(&self, object: &Object<'_>) -> Vec<Box<str>> {
        let mut ids: Vec<Box<str>> = ["id", "current"].iter().filter_map(|key| object.word(key)).collect();
        let said = object.object("node").or_else(|| object.object("chat_message")).unwrap_or_default();
        ids.extend(["parent", "parent_message_uuid"].iter().filter_map(|key| said.word(key)));
        if let Some((_, head)) = head_of(object) {
            ids.extend(title_of(&head).map(|title| title_id(&id_of(&head), &title)));
        }
        ids.retain(|id| !self.seen.contains(id));
        ids
    }

    pub(in crate::transcript) fn read(&mut self, span: ByteSpan, object: &Object<'_>) -> TranscriptRecord {
        if let Some((format, head)) = head_of(object) {
            return self.head(span, format, &head);
        }
        if object.has("removed") {
            return TranscriptRecord::bookkeeping(span, "removed");
        }
        if let Some(id) = object.word("current") {
            let mut record = TranscriptRecord::bookkeeping(span, "current");
            if self.seen.contains(&id) {
                record.place = RecordPlace::After(id);
            }
            return record;
        }
        let (node, message) = (object.object("node"), object.object("chat_message"));
        let Some((id, said)) = object.word("id").zip(node.as_ref().or(message.as_ref())) else {
            return TranscriptRecord::opaque(span, "record", "unknown record of an export");
        };
        if self.seen.contains(&id) {
            return TranscriptRecord::bookkeeping(span, "repeated");
        }
        let mut record = TranscriptRecord::bookkeeping(span, "node");
        record.id = Some(id.clone());
        record.place = self.place_of(said);
        if said.has("unreadable") {
            record.set_opaque("a message that is not an object");
        } else if node.is_some() {
            self.node(&mut record, said, &id);
        } else {
            self.chat_message(&mut record, said, &id);
        }
        self.seen.insert(&id, 0);
        if !record.items.is_empty() && !std::mem::replace(&mut self.opened, true) {
            record.open(if node.is_some() { Format::ChatGpt.name() } else { Format::ClaudeAi.name() });
        }
        record
    }

    /// Returns the place of a message: after its parent, or at the beginning if it has none. Old exports of claude.ai
    /// name no parents, because their conversations are lists.
    fn place_of(&self, said: &Object<'_>) -> RecordPlace {
        let parent = said.get("parent").or_else(|| said.get("parent_message_uuid"));
        if parent.is_none() && !said.has("children") && !said.has("message") {
            return RecordPlace::Next;
        }
        let parent = said.word("parent").or_else(|| said.word("parent_message_uuid"));
        // The first message of claude.ai follows an id that no message has.
        parent.filter(|parent| self.seen.contains(parent)).map_or(RecordPlace::Root, RecordPlace::After)
    }

    /// Reads what an export says about a conversation as a whole.
    fn head(&mut self, span: ByteSpan, format: Format, head: &Object<'_>) -> TranscriptRecord {
        let mut record = TranscriptRecord::bookkeeping(span, "conversation");
        record.at = time::field(head, "create_time").or_else(|| time::field(head, "created_at"));
        let id = id_of(head);
        self.model = head.word("default_model_slug").or_else(|| head.word("model")).or(self.model.take());
        if self.own.is_none() {
            self.own = Some(id.clone()).filter(|id| !id.is_empty());
        }
        if !std::mem::replace(&mut self.opened, true) {
            record.push(RecordItem::opened(format.name(), None, None));
        }
        if let Some(title) = title_of(head) {
            let name = title_id(&id, &title);
            if !self.seen.contains(&name) {
                self.seen.insert(&name, 0);
                record.id = Some(name);
                record.push(RecordItem::titled(&title));
            }
        }
        record
    }
}

/// Returns the format and the description of a conversation, if a line holds one.
fn head_of<'a>(object: &Object<'a>) -> Option<(Format, Object<'a>)> {
    let chatgpt = object.object("chatgpt").map(|head| (Format::ChatGpt, head));
    chatgpt.or_else(|| object.object("claude_ai").map(|head| (Format::ClaudeAi, head)))
}

fn id_of(head: &Object<'_>) -> Box<str> {
    ["conversation_id", "id", "uuid"].iter().find_map(|key| head.word(key)).unwrap_or_default()
}

fn title_of(head: &Object<'_>) -> Option<Box<str>> {
    let title = head.word("title").or_else(|| head.word("name"))?;
    Some(title).filter(|title| !title.trim().is_empty() && !UNTITLED.contains(&&**title))
}

fn title_id(session: &str, title: &str) -> Box<str> {
    format!("{session}/title/{:016x}", hash([title])).into()
}

/// Returns a text that accompanies a prompt, but was not typed as a part of it.
fn injected(text: String, name: &str) -> Message {
    Message::text(Role::User, text).standing(MessageOrigin::Injected(name.into()))
}

/// Returns the format to which a line belongs.
pub(in crate::transcript) fn format_of_line(object: &Object<'_>) -> Option<Format> {
    let has = |key: &str| object.has("id") && object.object(key).is_some();
    match head_of(object) {
        Some((format, _)) => Some(format),
        None if has("node") => Some(Format::ChatGpt),
        None => has("chat_message").then_some(Format::ClaudeAi),
    }
}

/// Returns the format of an export if a text begins with one of its conversations, which may be cut off.
#[must_use]
pub fn conversation_format(text: &str) -> Option<Format> {
    let (object, cut) = Object::parse_head(text);
    let has = |key: &str| object.has(key) || cut.as_deref() == Some(key);
    if has("mapping") && ["title", "create_time", "current_node", "conversation_id"].into_iter().any(has) {
        return Some(Format::ChatGpt);
    }
    (has("chat_messages") && has("uuid")).then_some(Format::ClaudeAi)
}
