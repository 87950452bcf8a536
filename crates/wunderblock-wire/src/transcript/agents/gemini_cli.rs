//! Gemini CLI sessions: JSONL in which a message is written again when it grows, or one JSON document.
//!
//! The program writes a reply first with its text, then with its tokens, its calls and their results, each time as a
//! whole line with the same id. The reader returns what each line adds. Only the newest message grows, so the reader
//! remembers what it has read of one message. A result of a tool stands twice: in the message with its call, and in a
//! user's message of its own, which adds nothing. The format is described by the types of Gemini CLI's own recorder
//! (`packages/core/src/services/chatRecordingTypes.ts`); sessions, compressions and prompts with context of a hook were
//! seen in 0.61.0.
//!
//! A session begins with `$set.messages` that holds one message with the context of the session: its only line with the
//! folder. A compression writes the whole conversation in the same way: the context, the summary, an acknowledgement
//! and the kept messages, all but the context under new ids. The first kept message is therefore recognised by its
//! text.

use crate::transcript::logs::generic;
use crate::transcript::parsing::blocks::{Blocks, CallPairing, first};
use crate::transcript::parsing::object::Object;
use crate::transcript::parsing::rewinds::Rewinds;
use crate::transcript::parsing::seen::{SeenIds, hash};
use crate::transcript::parsing::{elements, time};
use crate::transcript::record::{ByteSpan, RecordItem, RecordStatus, TranscriptRecord};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::VecDeque;
use wunderblock_core::event::UsageMeasured;
use wunderblock_core::id::CallId;
use wunderblock_core::message::{Dialect, Message, Part, Role};

/// Record types, and what is read from each of them.
pub(in crate::transcript) const RECORD_TYPES: &[(&str, &str)] = &[
    ("session", "kept in the source; the next record opens the session"),
    ("user", "message; nothing if it holds only results that are known"),
    ("gemini", "message, usage, tool results; a line that repeats a message adds what is new in it"),
    ("model", "the same as `gemini`"),
    ("error", "end of a turn"),
    ("info", "kept in the source"),
    ("warning", "kept in the source"),
    (
        "$set",
        "context of the session, or a compaction if its `messages` begin with unknown ones, else kept in the source",
    ),
    ("$rewindTo", "the next record continues before this prompt"),
    ("user (saved)", "message or tool results, from a saved chat"),
    ("model (saved)", "message, from a saved chat"),
    ("document", "kept in the source: the document around its messages"),
];

/// First words of the text in which the program describes a session to the model.
const CONTEXT: &str = "<session_context>";
/// Line before the folders of a session.
const FOLDERS: &str = "**Workspace Directories:**";
/// Element around the summary of a compression.
const SNAPSHOT: &str = "<state_snapshot>";
/// Maximum number of prompts by which the first kept message of a compression is recognised.
const PROMPTS_MAX: usize = 256;

/// Types of a message.
const MESSAGES: [&str; 6] = ["user", "gemini", "model", "info", "error", "warning"];

/// State of a file that is being read.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::transcript) struct GeminiCli {
    own: Option<Box<str>>,
    /// Whether the context of the session has been read, and the folder that it names.
    #[serde(default)]
    context: bool,
    #[serde(default)]
    cwd: Option<Box<str>>,
    opened: bool,
    /// Hashes of the contents of the user's latest messages, each with its id.
    #[serde(default)]
    prompts: VecDeque<(u64, Box<str>)>,
    newest: NewestMessage,
    rewinds: Rewinds,
    pairing: CallPairing,
    /// This field is not part of a checkpoint, because it grows with the file.
    #[serde(skip)]
    pub(in crate::transcript) seen: SeenIds,
}

/// Parts of the newest message that have been read.
#[derive(Debug, Default, Serialize, Deserialize)]
struct NewestMessage {
    id: Box<str>,
    /// Hash of the content, or `None` while the content is empty.
    content: Option<u64>,
    usage: bool,
    calls: Vec<CallId>,
    results: Vec<CallId>,
}

impl GeminiCli {
    pub(in crate::transcript) fn session(&self) -> Option<&str> {
        self.own.as_deref()
    }

    /// Returns the ids of earlier records on which a line's meaning depends, if they are unknown.
    pub(in crate::transcript) fn unknown(&self, object: &Object<'_>) -> Vec<Box<str>> {
        let set = object.object("$set").unwrap_or_default();
        let messages = set.array("messages").unwrap_or_default();
        let listed = messages.into_iter().filter_map(|message| Object::of(message)?.word("id"));
        listed.chain(object.word("$rewindTo")).filter(|id| !self.seen.contains(id)).collect()
    }

    pub(in crate::transcript) fn read(&mut self, span: ByteSpan, object: &Object<'_>) -> TranscriptRecord {
        let mut record = TranscriptRecord::bookkeeping(span, "");
        record.at = time::field(object, "timestamp");
        if let Some(id) = object.word("$rewindTo") {
            self.rewind(&mut record, &id);
        } else if object.has("$set") {
            record.kind = "$set".into();
            self.set(&mut record, &object.object("$set").unwrap_or_default());
        } else if is_message(object) {
            self.message(&mut record, object);
        } else if object.has("sessionId") && object.has("projectHash") {
            self.header(&mut record, object);
        } else if is_saved(object) {
            self.saved(&mut record, object);
        } else {
            record.set_opaque("unknown record of Gemini CLI");
            generic::read_message(object, &mut self.pairing, &mut record);
        }
        if let Some(id) = &record.id {
            self.seen.insert(id, 0);
        }
        self.complete(&mut record);
        record
    }

    /// Reads a session in one document, or a saved chat.
    pub(in crate::transcript) fn document(&mut self, span: ByteSpan, text: &str) -> Vec<TranscriptRecord> {
        let Ok(value) = serde_json::from_str::<&RawValue>(text) else { return Vec::new() };
        let document = Object::of(value).unwrap_or_default();
        let lists = elements::lists(value, &|object| is_message(object) || is_saved(object));
        let Some(list) = elements::longest(&lists) else { return vec![self.read(span, &document)] };
        self.own = document.word("sessionId");
        let parts: Vec<&str> = list.elements.iter().map(|element| element.get()).collect();
        let spans = elements::spans(&parts, text, span);
        let records = list.elements.iter().zip(spans).map(|(element, span)| match Object::of(element) {
            Some(object) => self.read(span, &object),
            None => TranscriptRecord::opaque(span, "element", "expected a message, found another value"),
        });
        elements::with_rest(records.collect(), text, span)
    }

    fn header(&mut self, record: &mut TranscriptRecord, object: &Object<'_>) {
        record.kind = "session".into();
        record.at = record.at.or_else(|| time::field(object, "startTime"));
        if self.own.is_none() {
            self.own = object.word("sessionId");
        }
    }

    fn message(&mut self, record: &mut TranscriptRecord, object: &Object<'_>) {
        let kind = object.text("type").unwrap_or_default();
        record.kind = kind.as_ref().into();
        let id = object.word("id").unwrap_or_default();
        match kind.as_ref() {
            "info" | "warning" => record.id = Some(id),
            "error" => {
                record.id = Some(id);
                let detail =
                    object.word("content").or_else(|| object.get("content").map(|it| it.get().into()));
                record.push(RecordItem::turn("error", None, detail));
            }
            _ => self.said(record, object, id),
        }
    }

    /// Reads a message of a person or of the model, and returns what earlier lines did not contain.
    fn said(&mut self, record: &mut TranscriptRecord, object: &Object<'_>, id: Box<str>) {
        let again = self.newest.id == id;
        let is_user = *record.kind == *"user";
        if is_user && self.answers_again(object) {
            record.id = Some(id);
            return;
        }
        if is_user && !again {
            self.remember_prompt(object, &id);
        }
        if !again {
            self.newest = NewestMessage { id: id.clone(), ..NewestMessage::default() };
        }
        let new = self.grown(object);
        let suffix = new.suffix();
        if again && suffix.is_none() {
            record.id = None;
            return;
        }
        record.id = Some(match suffix.filter(|_| again) {
            Some(suffix) => format!("{id}/{suffix}").into(),
            None => id.clone(),
        });
        if new.rewritten {
            record
                .set_opaque("a message of Gemini CLI that was rewritten; the new text is kept in the source");
            return;
        }
        let role = if is_user { Role::User } else { Role::Assistant };
        let (answers, parts): (Vec<Part>, Vec<Part>) =
            new.parts.into_iter().partition(|part| is_user && matches!(part, Part::ToolResult { .. }));
        let results: Vec<Part> = answers.into_iter().chain(new.results).collect();
        if role == Role::Assistant || !parts.is_empty() {
            let mut message = Message::new(role, parts);
            if role == Role::Assistant {
                message.api_id = Some(id.clone());
                message.model = object.word("model");
            }
            let empty = message.parts.is_empty();
            if !empty {
                record.say(message.clone());
            }
            if let Some(counts) = new.usage {
                record.push(RecordItem::Usage(UsageMeasured::of(&message, counts)));
            }
        }
        if !results.is_empty() {
            record.push(RecordItem::Message(Message::new(Role::Tool, results)));
        }
    }

    /// Returns the parts of a message that have not been read yet, and remembers them.
    fn grown(&mut self, object: &Object<'_>) -> Growth {
        let newest = &mut self.newest;
        let id = newest.id.clone();
        let mut blocks = Blocks::new(Dialect::Neutral, &mut self.pairing, &id);
        let mut new = Growth::default();
        let content =
            first(object, &["content", "parts"]).filter(|content| !matches!(content.get(), "\"\"" | "[]"));
        let content_hash = content.map(|content| hash([content.get()]));
        if content_hash.is_some() && content_hash != newest.content {
            new.rewritten = newest.content.is_some();
            newest.content = content_hash;
            new.parts.extend(thoughts(object));
            new.parts.extend(blocks.content(content));
            new.names.push("content".into());
        }
        for (index, call) in object.array("toolCalls").unwrap_or_default().into_iter().enumerate() {
            let Some(call) = Object::of(call) else { continue };
            let name = call.word("id").unwrap_or_else(|| format!("call-{id}-{index}").into());
            let made = CallId(name.clone());
            if !newest.calls.contains(&made)
                && let Some(part) = blocks.tool_call_as(Some(name.clone()), &call)
            {
                if new.parts.is_empty() && newest.content.is_none() && newest.calls.is_empty() {
                    new.parts.extend(thoughts(object));
                }
                new.parts.push(part);
                new.names.push(name.clone());
                newest.calls.push(made.clone());
            }
            let Some(result) = call.some("result").filter(|_| !newest.results.contains(&made)) else {
                continue;
            };
            new.results.push(Part::ToolResult {
                content: answer(&mut blocks, result),
                failed: matches!(call.text("status").as_deref(), Some("error" | "cancelled")),
                call: made.clone(),
                extra: None,
            });
            new.names.push(format!("{name}/result").into());
            newest.results.push(made);
        }
        let usage = object.object("tokens").and_then(|tokens| counts(&tokens));
        if usage.is_some() && !std::mem::replace(&mut newest.usage, true) {
            new.usage = usage;
            new.names.push("usage".into());
        }
        new
    }

    fn rewind(&mut self, record: &mut TranscriptRecord, id: &str) {
        record.kind = "$rewindTo".into();
        record.kept = RecordStatus::Understood;
        self.newest = NewestMessage::default();
        if self.rewinds.back_to(id) {
            return;
        }
        if self.seen.contains(id) {
            record.set_opaque("a rewind to a message that is not a prompt");
        } else {
            // Gemini CLI removes every message if it does not know the id.
            self.rewinds.back_to_start();
        }
    }

    /// Reads changed data of the session. `messages` is the whole conversation after a compression, or after the
    /// program shortened old tool output.
    fn set(&mut self, record: &mut TranscriptRecord, set: &Object<'_>) {
        record.at = time::field(set, "lastUpdated");
        let messages: Vec<Object<'_>> =
            set.array("messages").unwrap_or_default().into_iter().filter_map(Object::of).collect();
        let is_known = |message: &Object<'_>| message.word("id").is_some_and(|id| self.seen.contains(&id));
        let context = messages.iter().take_while(|message| context(message).is_some()).count();
        let (context, rest) = messages.split_at(context);
        if let ([first, ..], []) = (context, rest) {
            self.context(record, first);
            return;
        }
        let added: Vec<&Object<'_>> = rest.iter().take_while(|message| !is_known(message)).collect();
        let kept_text = |message: &&Object<'_>| self.prompt_of(message);
        let kept_at = added.iter().position(|message| kept_text(message).is_some());
        let kept = match kept_at {
            Some(at) => added.get(at).and_then(kept_text),
            None => rest.get(added.len()).and_then(|message| message.word("id")),
        };
        let added = added.get(..kept_at.unwrap_or(added.len())).unwrap_or_default();
        let Some(first) = added.first() else { return };
        let summary = self.text_of_users(added);
        if kept.is_none() && !summary.contains(SNAPSHOT) {
            record.set_opaque("a conversation of which the file has no earlier message");
            return;
        }
        // The program writes the same messages again later. The first one is then known.
        record.id = first.word("id");
        record.push(RecordItem::Compacted {
            from: None,
            before: kept,
            summary: (!summary.is_empty()).then_some(summary),
            trigger: None,
            tokens_before: None,
        });
    }

    /// Reads the context of a session, which its program wrote in the user's place. It is written again when the session
    /// is resumed. Its id is the same in all sessions, so it gives the record none.
    fn context(&mut self, record: &mut TranscriptRecord, message: &Object<'_>) {
        let Some(text) = context(message).filter(|_| !self.context) else { return };
        self.context = true;
        self.cwd = folder(&text);
        record.at = record.at.or_else(|| time::field(message, "timestamp"));
        record.say(Message::new(Role::User, vec![Part::text(text)]));
    }

    /// Returns the texts of the user's messages among some messages.
    fn text_of_users(&mut self, messages: &[&Object<'_>]) -> String {
        let mut text = String::new();
        for message in messages.iter().filter(|message| message.text("type").as_deref() == Some("user")) {
            let mut blocks = Blocks::new(Dialect::Neutral, &mut self.pairing, "");
            for part in blocks.content(message.get("content")) {
                if let Part::Text { text: said, .. } = part {
                    text.push_str(said.inline().unwrap_or_default());
                }
            }
        }
        text
    }

    /// Whether a user's message holds nothing but results that the message with their calls had.
    fn answers_again(&self, object: &Object<'_>) -> bool {
        let parts = object.array("content").unwrap_or_default();
        let is_known = |part: &&RawValue| {
            let id = Object::of(part).and_then(|part| part.object("functionResponse")?.word("id"));
            id.is_some_and(|id| self.newest.results.contains(&CallId(id)))
        };
        !parts.is_empty() && parts.iter().all(is_known)
    }

    fn remember_prompt(&mut self, object: &Object<'_>, id: &str) {
        let Some(content) = object.get("content") else { return };
        if self.prompts.len() == PROMPTS_MAX {
            self.prompts.pop_front();
        }
        self.prompts.push_back((hash([content.get()]), id.into()));
    }

    /// Returns the id of the latest prompt with the same text as a user's message.
    fn prompt_of(&self, message: &Object<'_>) -> Option<Box<str>> {
        let content = message.get("content").filter(|_| message.text("type").as_deref() == Some("user"))?;
        let content = hash([content.get()]);
        self.prompts.iter().rev().find(|(known, _)| *known == content).map(|(_, id)| id.clone())
    }

    /// Reads a message of a saved chat: the content of a request, without an id.
    fn saved(&mut self, record: &mut TranscriptRecord, object: &Object<'_>) {
        let user = object.text("role").as_deref() == Some("user");
        record.kind = if user { "user (saved)" } else { "model (saved)" }.into();
        record.at = record.at.or_else(|| time::field(object, "ts"));
        let base = record.id_base();
        let mut blocks = Blocks::new(Dialect::Neutral, &mut self.pairing, &base);
        let parts = blocks.content(object.get("parts"));
        let (results, parts): (Vec<Part>, Vec<Part>) =
            parts.into_iter().partition(|part| matches!(part, Part::ToolResult { .. }));
        if !results.is_empty() {
            record.push(RecordItem::Message(Message::new(Role::Tool, results)));
        }
        if !parts.is_empty() {
            record.say(Message::new(if user { Role::User } else { Role::Assistant }, parts));
        }
        record.kept = RecordStatus::Understood;
    }

    /// Adds the fields that depend on earlier records.
    fn complete(&mut self, record: &mut TranscriptRecord) {
        if record.items.is_empty() {
            return;
        }
        let id = record.id.clone();
        self.rewinds.continue_with(record, id.as_deref());
        if !std::mem::replace(&mut self.opened, true) {
            record.items.insert(0, RecordItem::opened("gemini-cli", self.cwd.clone(), None));
        }
    }
}

/// Returns the text of a message if it is the context of a session.
fn context(message: &Object<'_>) -> Option<String> {
    let content = message.array("content").unwrap_or_default();
    let first = content.first().and_then(|part| Object::of(part)?.word("text"));
    let text = first.or_else(|| message.word("content"))?;
    text.trim_start().starts_with(CONTEXT).then(|| text.into())
}

/// Returns the first folder that the context of a session names.
fn folder(context: &str) -> Option<Box<str>> {
    let (_, lines) = context.split_once(FOLDERS)?;
    let folder = lines.lines().nth(1)?.trim().strip_prefix("- ")?;
    (!folder.is_empty()).then(|| folder.into())
}

/// Content of a message that earlier lines did not have.
#[derive(Debug, Default)]
struct Growth {
    parts: Vec<Part>,
    results: Vec<Part>,
    usage: Option<[u64; 4]>,
    /// Names of the new parts, in order.
    names: Vec<Box<str>>,
    /// Whether a different text replaces a text that was already read.
    rewritten: bool,
}

impl Growth {
    /// Returns the end of the record's id: the name of the first new part.
    fn suffix(&self) -> Option<&str> {
        self.names.first().map(|name| &**name)
    }
}

/// Returns whether an object is a message of a session.
pub(super) fn is_message(object: &Object<'_>) -> bool {
    let kind = object.text("type").unwrap_or_default();
    let has_content = object.has("content") || object.has("parts");
    MESSAGES.contains(&kind.as_ref()) && object.has("id") && has_content && !object.has("uuid")
}

/// Returns whether an object is a message of a saved chat.
pub(in crate::transcript) fn is_saved(object: &Object<'_>) -> bool {
    let role = object.text("role").unwrap_or_default();
    matches!(role.as_ref(), "user" | "model" | "gemini") && object.array("parts").is_some()
}

/// Returns the model's thoughts as one part.
fn thoughts(object: &Object<'_>) -> Option<Part> {
    let thoughts = object.array("thoughts")?.into_iter().filter_map(Object::of);
    let texts = thoughts.map(|thought| {
        let texts = ["subject", "description"].into_iter().filter_map(|key| thought.word(key));
        texts.collect::<Vec<_>>().join(": ")
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    (!text.is_empty()).then(|| Part::Thinking { text: text.into(), signature: None, extra: None })
}

/// Returns the content of a call's result: the contents of its `functionResponse` parts, and all other parts.
fn answer(blocks: &mut Blocks<'_>, result: &RawValue) -> Vec<Part> {
    let parts = blocks.content(Some(result)).into_iter();
    let contents = parts.flat_map(|part| match part {
        Part::ToolResult { content, .. } => content,
        part => vec![part],
    });
    contents.collect()
}

/// Returns the reported usage. `input` includes the tokens read from the cache, and `output` excludes the thoughts.
/// Tokens of tool results that the provider added to the request (`tool`) are input.
fn counts(tokens: &Object<'_>) -> Option<[u64; 4]> {
    let [input, output, cached, thoughts, tool] =
        ["input", "output", "cached", "thoughts", "tool"].map(|key| tokens.number(key).unwrap_or(0));
    let uncached = input.saturating_sub(cached).saturating_add(tool);
    let all = [uncached, cached, 0, output.saturating_add(thoughts)];
    (all != [0; 4]).then_some(all)
}
