//! OpenAI chat messages in the forms found in logs: one message per line, one conversation per line, or one document.

use super::environment;
use super::generic;
use crate::transcript::parsing::blocks::{self, Blocks, CallPairing, first, first_word};
use crate::transcript::parsing::object::{self, Object};
use crate::transcript::parsing::{elements, time};
use crate::transcript::record::{ByteSpan, RecordItem, TranscriptRecord};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use wunderblock_core::event::UsageMeasured;
use wunderblock_core::message::{Dialect, Message, MessageOrigin, Part, Role};

/// Record types, and what is read from each of them.
pub(in crate::transcript) const RECORD_TYPES: &[(&str, &str)] = &[
    ("system", "system message"),
    ("developer", "system message"),
    ("user", "message"),
    ("assistant", "message with its tool calls and reasoning"),
    ("tool", "tool result"),
    ("function", "tool result (an early form, paired by order)"),
    ("choice", "the response's message"),
    ("document", "data around the messages: kept in the source; usage of the response if present"),
];

/// State of a log that is being read.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::transcript) struct OpenaiChat {
    pairing: CallPairing,
    opened: bool,
    /// Whether the model has spoken in this conversation.
    #[serde(default)]
    replied: bool,
}

impl OpenaiChat {
    /// Reads one line that is an object.
    pub(in crate::transcript) fn line(
        &mut self,
        span: ByteSpan,
        text: &str,
        object: &Object<'_>,
    ) -> Vec<TranscriptRecord> {
        if is_message(object) || object.has("role") {
            let mut record = TranscriptRecord::bookkeeping(span, "message");
            self.message(&mut record, object);
            self.open(&mut record);
            return vec![record];
        }
        self.conversation(span, text)
    }

    /// Reads one line that is an array.
    pub(in crate::transcript) fn array(&mut self, span: ByteSpan, text: &str) -> Vec<TranscriptRecord> {
        self.conversation(span, text)
    }

    fn conversation(&mut self, span: ByteSpan, text: &str) -> Vec<TranscriptRecord> {
        (self.pairing, self.replied) = (CallPairing::default(), false);
        let mut records = self.nested(span, text);
        if records.is_empty() {
            let mut record = TranscriptRecord::opaque(span, "object", "missing chat message");
            if let Ok(object) = Object::parse(text) {
                generic::read_message(&object, &mut self.pairing, &mut record);
            }
            self.open(&mut record);
            return vec![record];
        }
        let session: Box<str> = format!("line-{}", span.line).into();
        if let Some(first) = records.iter_mut().find(|record| !record.items.is_empty()) {
            first.open("openai-chat");
        }
        records.iter_mut().for_each(|record| record.session = Some(session.clone()));
        records
    }

    /// Reads a whole document.
    pub(in crate::transcript) fn document(&mut self, span: ByteSpan, text: &str) -> Vec<TranscriptRecord> {
        let mut records = self.nested(span, text);
        if records.is_empty() {
            let single = Object::parse(text).ok().filter(|object| object.has("role"));
            return match single {
                Some(object) => self.line(span, text, &object),
                None => vec![TranscriptRecord::opaque(span, "document", "a document without chat messages")],
            };
        }
        records.iter_mut().for_each(|record| self.open(record));
        records
    }

    fn nested(&mut self, span: ByteSpan, text: &str) -> Vec<TranscriptRecord> {
        let Ok(value) = serde_json::from_str::<&RawValue>(text) else { return Vec::new() };
        let is_listed = |object: &Object<'_>| is_message(object) || is_choice(object);
        let lists = elements::lists(value, &is_listed);
        let requests: Vec<_> = lists.into_iter().collect();
        let (choices, messages): (Vec<_>, Vec<_>) =
            requests.into_iter().partition(|list| list.path.ends_with(".choices"));
        let Some(longest) = elements::longest(&messages) else { return Vec::new() };
        let mut parts: Vec<&str> = longest.elements.iter().map(|element| element.get()).collect();
        let outer = Object::parse(text).unwrap_or_default();
        let response = outer.object("response").unwrap_or_default();
        let response = response.object("body").unwrap_or(response);
        // If there are several choices, the first one is used, because nothing shows from which one the conversation
        // continued.
        let choice = choices.first().and_then(|list| list.elements.first()).map(|choice| choice.get());
        parts.extend(choice);
        parts.sort_by_key(|part| object::position(part, text));
        let mut records = Vec::new();
        for (part, span) in parts.iter().zip(elements::spans(&parts, text, span)) {
            let mut record = TranscriptRecord::bookkeeping(span, "message");
            match Object::parse(part) {
                Ok(object) if Some(*part) == choice => self.choice(&mut record, &object, [&response, &outer]),
                Ok(object) => self.message(&mut record, &object),
                Err(_) => record.set_opaque("expected a message, found another value"),
            }
            records.push(record);
        }
        elements::with_rest(records, text, span)
    }

    /// Reads the message of a response. The id, model and usage of the message are fields of the objects around it.
    fn choice(&mut self, record: &mut TranscriptRecord, choice: &Object<'_>, around: [&Object<'_>; 2]) {
        let Some(inner) = choice.object("message") else { return };
        self.message(record, &inner);
        record.kind = "choice".into();
        let [response, outer] = around;
        let response = if response.has("choices") { response } else { outer };
        let usage = response.object("usage").or_else(|| outer.object("usage"));
        let mut measured = None;
        if let Some(RecordItem::Message(message)) = record.items.first_mut() {
            message.api_id = response.word("id");
            message.model = response.word("model");
            message.stop = choice.word("finish_reason");
            measured = usage.map(|usage| usage_of(&usage, message));
        }
        record.items.extend(measured.map(RecordItem::Usage));
    }

    /// Reads one message into a record.
    pub(super) fn message(&mut self, record: &mut TranscriptRecord, object: &Object<'_>) {
        let role = object.text("role").unwrap_or_default();
        record.kind = role.as_ref().into();
        record.at =
            ["timestamp", "created_at", "created", "ts"].iter().find_map(|key| time::field(object, key));
        record.id = object.word("id");
        let base = record.offset.to_string();
        let mut blocks = Blocks::new(Dialect::OpenaiChat, &mut self.pairing, &base);
        let mut message = match role.as_ref() {
            "system" | "developer" => Message::new(Role::System, blocks.content(object.get("content"))),
            "user" => Message::new(Role::User, blocks.content(object.get("content"))),
            "assistant" => Message::new(Role::Assistant, answered(object, &mut blocks)),
            "tool" | "function" => Message::new(Role::Tool, vec![result(object, &mut blocks)]),
            _ => {
                record.set_opaque(format!("unknown role of OpenAI chat: `{role}`"));
                return generic::read_message(object, &mut self.pairing, record);
            }
        };
        let results = message.parts.iter().all(|part| matches!(part, Part::ToolResult { .. }));
        if message.role == Role::User && results && !message.parts.is_empty() {
            message.role = Role::Tool;
        }
        if message.role == Role::Assistant {
            message.model = object.word("model");
            message.stop = object.word("finish_reason");
        }
        environment::mark(&mut message, object, &mut self.replied);
        message.extra = spoken_for(object, message.role);
        if blocks::is_silent(&message.parts) {
            message = message.standing(MessageOrigin::Aside("nothing was said".into()));
        }
        record.say(message);
    }

    fn open(&mut self, record: &mut TranscriptRecord) {
        if !record.items.is_empty() && !std::mem::replace(&mut self.opened, true) {
            record.open("openai-chat");
        }
    }
}

/// Returns whether an object is a chat message.
pub(in crate::transcript) fn is_message(object: &Object<'_>) -> bool {
    let role = object.text("role").unwrap_or_default();
    let roles = ["system", "developer", "user", "assistant", "tool", "function"];
    roles.contains(&role.as_ref()) && first(object, &["content", "tool_calls", "function_call"]).is_some()
}

fn is_choice(object: &Object<'_>) -> bool {
    object.has("finish_reason") && object.object("message").is_some_and(|message| is_message(&message))
}

/// Returns the fields of a message that a request may contain and that have no neutral form.
fn spoken_for(object: &Object<'_>, role: Role) -> Option<Box<str>> {
    // In a tool message, `name` is the name of the tool, which is already in its call.
    let keys = ["name", "refusal"].into_iter().filter(|_| role != Role::Tool);
    object::written(keys.filter_map(|key| Some((key, object.some(key)?.get()))))
}

fn answered(object: &Object<'_>, blocks: &mut Blocks<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    if let Some(reasoning) = first_word(object, &["reasoning_content", "reasoning"]) {
        let text = String::from(reasoning).into();
        parts.push(Part::Thinking { text, signature: None, extra: None });
    }
    let mut content = blocks.content(object.get("content"));
    let calls = object.array("tool_calls").unwrap_or_default();
    let calls: Vec<&RawValue> = calls.into_iter().chain(object.some("function_call")).collect();
    if !calls.is_empty() {
        content.retain(|part| !matches!(part, Part::Text { text, .. } if text.bytes().0 == 0));
    }
    parts.extend(content);
    for call in calls {
        let part = Object::of(call).and_then(|call| {
            let custom = call.object("custom");
            blocks.tool_call_as(call.word("id"), custom.as_ref().unwrap_or(&call))
        });
        parts.push(
            part.unwrap_or_else(|| Part::Opaque { dialect: Dialect::OpenaiChat, raw: call.get().into() }),
        );
    }
    parts
}

fn result(object: &Object<'_>, blocks: &mut Blocks<'_>) -> Part {
    Part::ToolResult {
        call: blocks.result_id(first_word(object, &["tool_call_id"]).or_else(|| first_of_ids(object))),
        content: blocks.content(object.get("content")),
        failed: object.flag("is_error"),
        extra: None,
    }
}

/// Returns the id of the first answered call. SWE-agent and others write the answered calls as a list.
fn first_of_ids(object: &Object<'_>) -> Option<Box<str>> {
    let ids = object.array("tool_call_ids")?;
    ids.into_iter().find_map(object::string).map(|id| id.into_owned().into_boxed_str())
}

fn usage_of(usage: &Object<'_>, message: &Message) -> UsageMeasured {
    let count = |object: &Object<'_>, key| object.number(key).unwrap_or(0);
    let details = usage.object("prompt_tokens_details").unwrap_or_default();
    let (prompt, read) = (count(usage, "prompt_tokens"), count(&details, "cached_tokens"));
    crate::openai_chat::usage(prompt, [read, 0], count(usage, "completion_tokens"), message)
}
