//! JSON of an unknown shape: role and text are taken from the fields that usually hold them.
//!
//! Every record stays opaque, and its status says so. The content is for reading and searching: its apparent meaning
//! is not guaranteed.

use super::environment;
use crate::transcript::parsing::blocks::{Blocks, CallPairing, first, first_word};
use crate::transcript::parsing::elements::{self, MessageList};
use crate::transcript::parsing::object::{Object, array, string};
use crate::transcript::parsing::time;
use crate::transcript::record::{ByteSpan, RecordItem, RecordStatus, TranscriptRecord};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use wunderblock_core::message::{Dialect, Message, MessageOrigin, Part, Role};

/// Record types, and what is read from each of them.
pub(in crate::transcript) const RECORD_TYPES: &[(&str, &str)] = &[
    ("*", "opaque; role, text, tool calls and results are taken where found"),
    ("document", "data around the messages of a document: kept in the source"),
];

/// Fields that hold text in records of an unknown shape.
const TEXTS: [&str; 16] = [
    "content",
    "text",
    "parts",
    "message",
    "body",
    "value",
    "output",
    "result",
    "prompt",
    "completion",
    "response",
    "summary",
    "description",
    "title",
    "finalText",
    "question",
];

/// Fields that may contain the message itself.
const WRAPPERS: [&str; 6] = ["message", "data", "event", "payload", "item", "node"];

/// Maximum nesting depth at which text is gathered.
const MAX_GATHER: usize = 12;

/// State of a file of unknown JSON that is being read.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::transcript) struct Generic {
    #[serde(skip)]
    format: &'static str,
    pairing: CallPairing,
    /// Whether the file's own session has been opened.
    opened: bool,
    /// Whether the model has spoken in the conversation.
    #[serde(default)]
    replied: bool,
}

impl Generic {
    pub(in crate::transcript) fn new(format: &'static str) -> Self {
        Self { format, pairing: CallPairing::default(), opened: false, replied: false }
    }

    /// Completes a state read from a checkpoint.
    pub(in crate::transcript) fn restored(self, format: &'static str) -> Self {
        Self { format, ..self }
    }

    /// Reads one line that is an object. `text` is the text of the line.
    pub(in crate::transcript) fn line(
        &mut self,
        span: ByteSpan,
        text: &str,
        object: &Object<'_>,
    ) -> Vec<TranscriptRecord> {
        if role(object).is_none() {
            let nested = self.array(span, text);
            if !nested.is_empty() {
                return nested;
            }
        }
        let mut record = TranscriptRecord::opaque(span, &kind(object), "unknown format");
        read_message(object, &mut self.pairing, &mut record);
        self.opened(vec![record])
    }

    /// Reads one line that contains a conversation, which becomes a separate session. The result is empty if the line
    /// contains no conversation.
    pub(in crate::transcript) fn array(&mut self, span: ByteSpan, text: &str) -> Vec<TranscriptRecord> {
        let nested = raw(text).map(|value| self.nested(span, text, value)).unwrap_or_default();
        let session = format!("line-{}", span.line);
        self.opened(nested.into_iter().map(|record| in_line(record, &session)).collect())
    }

    /// Reads a whole document.
    pub(in crate::transcript) fn document(&mut self, span: ByteSpan, text: &str) -> Vec<TranscriptRecord> {
        let Some(value) = raw(text) else { return Vec::new() };
        let nested = self.nested(span, text, value);
        if !nested.is_empty() {
            return self.opened(nested);
        }
        let mut record =
            TranscriptRecord::opaque(span, "document", "a document without an array of messages");
        let mut found = String::new();
        gather(value, &TEXTS, &mut found);
        if found.is_empty() {
            gather_sentences(value, &mut found, 0);
        }
        if !found.is_empty() {
            let message = Message::text(Role::User, found);
            record.items.push(RecordItem::Message(
                message.standing(MessageOrigin::Injected("text without a role".into())),
            ));
        }
        self.opened(vec![record])
    }

    /// Returns the records of the messages inside a value. The result is empty if the line contains no conversation.
    fn nested(&mut self, span: ByteSpan, text: &str, value: &RawValue) -> Vec<TranscriptRecord> {
        let lists = elements::lists(value, &is_message);
        let Some(longest) = elements::longest(&lists) else { return self.display(span, text, value) };
        let alike: Vec<&MessageList<'_>> = lists.iter().filter(|list| list.path == longest.path).collect();
        let several = alike.len() > 1;
        let mut records = Vec::new();
        for (index, list) in alike.into_iter().enumerate() {
            let parts: Vec<&str> = list.elements.iter().map(|element| element.get()).collect();
            // The next list is another conversation.
            self.replied = false;
            let session = several.then(|| format!("conversation-{}", index + 1).into_boxed_str());
            for (element, span) in list.elements.iter().zip(elements::spans(&parts, text, span)) {
                let mut record = self.element(span, element);
                record.session.clone_from(&session);
                records.push(record);
            }
        }
        elements::with_rest(records, text, span)
    }

    fn element(&mut self, span: ByteSpan, element: &RawValue) -> TranscriptRecord {
        let Some(object) = Object::of(element) else {
            return TranscriptRecord::opaque(span, "element", "expected a message, found another value");
        };
        let mut record = TranscriptRecord::opaque(span, &kind(&object), "unknown format");
        read_message(&object, &mut self.pairing, &mut record);
        for item in &mut record.items {
            if let RecordItem::Message(message) = item {
                environment::mark(message, &object, &mut self.replied);
            }
        }
        record
    }

    /// Reads a conversation that is written as one text, with `role: ` at the beginning of each turn.
    fn display(&mut self, span: ByteSpan, text: &str, value: &RawValue) -> Vec<TranscriptRecord> {
        let object = Object::of(value).unwrap_or_default();
        let Some(shown) = object.text("transcript") else {
            return Vec::new();
        };
        let mut record =
            TranscriptRecord::opaque(span, "transcript", "a conversation written out as one text");
        record.items = turns(&shown).into_iter().map(RecordItem::Message).collect();
        if record.items.is_empty() {
            return Vec::new();
        }
        record.len = text.len() as u64;
        vec![record]
    }

    /// Adds the opening of each session before its first item. Sessions other than the file's own end within the
    /// given records.
    fn opened(&mut self, mut records: Vec<TranscriptRecord>) -> Vec<TranscriptRecord> {
        let mut before: Option<Box<str>> = None;
        for record in records.iter_mut().filter(|record| !record.items.is_empty()) {
            let open = match &record.session {
                None => !std::mem::replace(&mut self.opened, true),
                session => *session != before,
            };
            if open {
                before.clone_from(&record.session);
                record.open(self.format);
            }
        }
        records
    }
}

fn raw(text: &str) -> Option<&RawValue> {
    serde_json::from_str(text).ok()
}

/// Assigns a record to the session of its line.
fn in_line(mut record: TranscriptRecord, line: &str) -> TranscriptRecord {
    record.session = Some(match record.session {
        Some(inner) => format!("{line}/{inner}").into(),
        None => line.into(),
    });
    record
}

fn kind(object: &Object<'_>) -> Box<str> {
    first_word(object, &["type", "role", "kind"]).unwrap_or_else(|| "object".into())
}

/// Returns whether an object has a speaker and content.
pub(super) fn is_message(object: &Object<'_>) -> bool {
    role(object).is_some() && (content(object).is_some() || !calls(object).is_empty())
}

/// Reads the role, text, calls and results of an object into `record`, and adds to the record's status how far that
/// succeeded.
pub(in crate::transcript) fn read_message(
    object: &Object<'_>,
    pairing: &mut CallPairing,
    record: &mut TranscriptRecord,
) {
    let why = |record: &mut TranscriptRecord, more: &str| {
        if let RecordStatus::Opaque { why } = &mut record.kept {
            why.push_str(more);
        }
    };
    let times = ["timestamp", "created_at", "createdAt", "create_time", "time", "ts", "date"];
    record.at = record.at.or_else(|| times.iter().find_map(|key| time::field(object, key)));
    if record.id.is_none() {
        record.id = first_word(object, &["uuid", "id", "message_id", "messageId"]);
    }
    let base = record.id.clone().unwrap_or_else(|| record.offset.to_string().into());
    let mut blocks = Blocks::new(Dialect::Neutral, pairing, &base);
    let messages = match role(object) {
        Some(role) => messages(role, object, &mut blocks),
        None => match called(object, &mut blocks) {
            Some(call) => vec![Message::new(Role::Assistant, vec![call])],
            None => return why(record, "; no role found"),
        },
    };
    if messages.is_empty() {
        return why(record, "; a role but no text found");
    }
    why(record, "; role and text taken where found");
    record.items.extend(messages.into_iter().map(RecordItem::Message));
}

fn messages(role: Role, object: &Object<'_>, blocks: &mut Blocks<'_>) -> Vec<Message> {
    let mut parts = Vec::new();
    let mut answers = Vec::new();
    if role == Role::Assistant {
        parts.extend(reasoning(object));
    }
    match (role, content(object)) {
        (Role::Tool, _) => parts.extend(result(object, blocks)),
        (_, Some(content)) => parts.extend(texts(content, blocks)),
        (_, None) => {}
    }
    for call in calls(object) {
        let Some(call) = Object::of(call) else { continue };
        parts.extend(blocks.tool_call(&call));
        answers.extend(call.array("result").unwrap_or_default());
    }
    parts.retain(|part| !matches!(part, Part::Text { text, .. } if text.bytes().0 == 0));
    let answers: Vec<Part> = answers.into_iter().flat_map(|answer| blocks.content(Some(answer))).collect();
    let results = !parts.is_empty() && parts.iter().all(|part| matches!(part, Part::ToolResult { .. }));
    let role = if results { Role::Tool } else { role };
    let model = candidates(object).find_map(|inner| first_word(&inner, &["model", "model_id", "modelId"]));
    let mut messages = Vec::new();
    if !parts.is_empty() {
        let model = model.filter(|_| role == Role::Assistant);
        messages.push(Message { model, ..Message::new(role, parts) });
    }
    if !answers.is_empty() {
        messages.push(Message::new(Role::Tool, answers));
    }
    messages
}

/// Returns a record that is only a call: its type indicates a call, and it has the name of a tool.
fn called(object: &Object<'_>, blocks: &mut Blocks<'_>) -> Option<Part> {
    candidates(object).find_map(|inner| {
        let kind = inner.text("type")?.to_ascii_lowercase();
        let ends = ["call", "use"].iter().any(|end| kind.ends_with(end));
        let begins = ["tool", "function"].iter().any(|start| kind.starts_with(start));
        if ends && begins { blocks.tool_call(&inner) } else { None }
    })
}

/// Reads a result, whether its blocks or its fields identify it as one.
fn result(object: &Object<'_>, blocks: &mut Blocks<'_>) -> Vec<Part> {
    if let Some(content) = content(object).and_then(array) {
        let known = content.iter().any(|block| {
            Object::of(block).is_some_and(|block| {
                block.has("functionResponse")
                    || block.text("type").is_some_and(|kind| kind.starts_with("tool"))
            })
        });
        if known {
            return content.into_iter().flat_map(|block| blocks.content(Some(block))).collect();
        }
    }
    let ids = ["tool_call_id", "toolCallId", "call_id", "callId", "tool_use_id"];
    let holder = candidates(object).find(|inner| first_word(inner, &ids).is_some());
    vec![blocks.tool_result(holder.as_ref().unwrap_or(object))]
}

/// Returns the parts of a content. An object may contain its content in `parts` (ChatGPT, Gemini) or as text.
fn texts(content: &RawValue, blocks: &mut Blocks<'_>) -> Vec<Part> {
    let Some(object) = Object::of(content) else { return blocks.content(Some(content)) };
    match first(&object, &["parts", "content", "text"]) {
        Some(inner) => blocks.content(Some(inner)),
        None => blocks.content(Some(content)),
    }
}

fn reasoning(object: &Object<'_>) -> Option<Part> {
    let mut text = String::new();
    if let Some(said) =
        candidates(object).find_map(|inner| first(&inner, &["reasoning_content", "reasoning", "thoughts"]))
    {
        gather(said, &["subject", "description", "text"], &mut text);
    }
    (!text.is_empty()).then(|| Part::Thinking { text: text.into(), signature: None, extra: None })
}

/// Returns the objects that may contain the message: wrapped objects first, then the object itself.
fn candidates<'a>(object: &Object<'a>) -> impl Iterator<Item = Object<'a>> {
    let mut found: Vec<Object<'a>> = WRAPPERS.iter().filter_map(|key| object.object(key)).collect();
    found.push(object.clone());
    found.into_iter()
}

fn content<'a>(object: &Object<'a>) -> Option<&'a RawValue> {
    let keys = ["content", "parts", "text", "body", "value", "finalText", "output", "result"];
    let filled = |value: &&RawValue| !matches!(value.get(), "\"\"" | "[]" | "{}");
    candidates(object)
        .find_map(|inner| keys.iter().find_map(|key| inner.some(key).filter(filled)))
        .or_else(|| object.some("message").filter(|message| message.get().starts_with('"')))
}

fn calls<'a>(object: &Object<'a>) -> Vec<&'a RawValue> {
    let lists = ["tool_calls", "toolCalls", "toolRequests"];
    candidates(object)
        .find_map(|inner| {
            let list = lists.iter().find_map(|key| inner.array(key).filter(|calls| !calls.is_empty()));
            list.or_else(|| inner.some("function_call").map(|call| vec![call]))
        })
        .unwrap_or_default()
}

/// Returns the speaker of a message, from any field that names one.
pub(super) fn role(object: &Object<'_>) -> Option<Role> {
    let keys = ["role", "sender", "speaker", "from", "author", "type"];
    let inner = ["message", "data", "author"].iter().filter_map(|key| object.object(key));
    let by_role = object.text("role").and_then(|word| role_of(&word));
    by_role
        .or_else(|| inner.filter_map(|inner| role_of(&inner.text("role")?)).next())
        .or_else(|| {
            object.object("message")?.object("author").and_then(|author| role_of(&author.text("role")?))
        })
        .or_else(|| keys.iter().find_map(|key| role_of(&object.text(key)?)))
}

/// Returns the role that a word names: `human`, `assistant.message`, `tool_result`.
fn role_of(word: &str) -> Option<Role> {
    let word = word.to_ascii_lowercase();
    let mut words = word.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let first = words.next()?;
    let last = words.next_back().unwrap_or(first);
    match (first, last) {
        ("tool" | "function" | "functionresponse" | "toolresult" | "observation", last) => match last {
            "call" | "use" | "start" | "delta" | "progress" | "started" => None,
            _ => Some(Role::Tool),
        },
        ("user" | "human" | "prompter" | "customer" | "you", _) => Some(Role::User),
        ("assistant" | "ai" | "bot" | "model" | "gpt" | "chatgpt" | "gemini" | "claude" | "agent", _) => {
            Some(Role::Assistant)
        }
        ("system" | "developer", _) => Some(Role::System),
        _ => None,
    }
}

/// Returns the turns of a conversation in one text. A line `role: ` begins a turn, and other lines belong to the turn
/// before.
pub(super) fn turns(shown: &str) -> Vec<Message> {
    let mut turns: Vec<(Role, String)> = Vec::new();
    for line in shown.lines() {
        let begins = line.split_once(": ").and_then(|(who, text)| {
            let word = who.chars().all(|c| c.is_ascii_alphabetic());
            word.then(|| role_of(who)).flatten().map(|role| (role, text))
        });
        match (begins, turns.last_mut()) {
            (Some((role, text)), _) => turns.push((role, text.to_owned())),
            (None, Some((_, before))) => {
                before.push('\n');
                before.push_str(line);
            }
            (None, None) => {}
        }
    }
    // Tool output in a conversation written as one text has lost its call, so it counts as text from the harness.
    turns
        .into_iter()
        .map(|(role, text)| match role {
            Role::Tool => {
                Message::text(Role::User, text).standing(MessageOrigin::Injected("tool output".into()))
            }
            role => Message::text(role, text),
        })
        .collect()
}

/// Gathers all text under the given keys of a value, with a line break between pieces.
pub(in crate::transcript) fn gather(value: &RawValue, keys: &[&str], out: &mut String) {
    gather_to(value, keys, out, 0);
}

/// Gathers the text under the given keys of an object.
pub(in crate::transcript) fn gather_fields(object: &Object<'_>, keys: &[&str], out: &mut String) {
    for key in keys {
        if let Some(value) = object.get(key) {
            gather_to(value, keys, out, 1);
        }
    }
}

fn gather_to(value: &RawValue, keys: &[&str], out: &mut String, depth: usize) {
    if depth > MAX_GATHER {
        return;
    }
    if let Some(text) = string(value) {
        if !text.is_empty() {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&text);
        }
    } else if let Some(items) = array(value) {
        items.into_iter().for_each(|item| gather_to(item, keys, out, depth + 1));
    } else if let Some(object) = Object::of(value) {
        for key in keys {
            if let Some(value) = object.get(key) {
                gather_to(value, keys, out, depth + 1);
            }
        }
    }
}

/// Gathers all texts of more than one word in a value, under any key.
fn gather_sentences(value: &RawValue, out: &mut String, depth: usize) {
    if depth > MAX_GATHER {
        return;
    }
    match (string(value), array(value), Object::of(value)) {
        (Some(text), _, _) if text.trim().contains(char::is_whitespace) => {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&text);
        }
        (_, Some(items), _) => items.into_iter().for_each(|item| gather_sentences(item, out, depth + 1)),
        (_, _, Some(object)) => object.iter().for_each(|(_, value)| gather_sentences(value, out, depth + 1)),
        _ => {}
    }
}
