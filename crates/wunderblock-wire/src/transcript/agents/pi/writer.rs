//! Writes a pi session of version 3: one entry per message and result, chained by `parentId`.
//!
//! Source: docs/session.md of pi, and its `session-manager.ts`. pi adapts a message to the model that continues the
//! session, by the provider and the model that the message names.

use super::{CUSTOM_MESSAGE, STOPS};
use crate::extra::{self, KIND};
use crate::json::{ObjectWriter, array};
use crate::outcome::WireError;
use crate::transcript::parsing::object::{Object, quoted};
use crate::transcript::parsing::time;
use crate::transcript::writer::{
    AgentWriter, Entry, EntryIds, EntryItem, LeftOutCounts, Measured, Output, ReplyUsage, SessionOutline,
};
use crate::writing::{checked, inline, name_of};
use std::collections::HashMap;
use wunderblock_core::event::UsageMeasured;
use wunderblock_core::message::{Dialect, MediaForm, Message, MessageOrigin, Part, Role};
use wunderblock_core::units::Millis;

const FORMAT: &str = "pi";

/// Version of the format.
const VERSION: &str = "3";

/// Beginnings of models' names, each with pi's names for the provider and for its API.
const PROVIDERS: [(&str, &str, &str); 7] = [
    ("claude", "anthropic", "anthropic-messages"),
    ("gpt", "openai", "openai-responses"),
    ("o1", "openai", "openai-responses"),
    ("o3", "openai", "openai-responses"),
    ("o4", "openai", "openai-responses"),
    ("codex", "openai", "openai-responses"),
    ("gemini", "google", "google-generative-ai"),
];

/// Returns the origin that the reader finds for a message.
fn read_origin(message: &Message) -> MessageOrigin {
    match (&message.standing, message.role) {
        (injected @ MessageOrigin::Injected(_), Role::User) => injected.clone(),
        _ => MessageOrigin::Said,
    }
}

/// Returns the path of a session's file in pi's folder.
fn file_name(folder: &str, began: Millis, session: &str) -> String {
    let name = folder.strip_prefix(['/', '\\']).unwrap_or(folder).replace(['/', '\\', ':'], "-");
    let time = time::written_time(began).replace([':', '.'], "-");
    format!("sessions/--{name}--/{time}_{session}.jsonl")
}

pub(in crate::transcript) struct Writer {
    blocks: Blocks,
    usage: ReplyUsage<Content>,
    entries: Entries,
}

impl Writer {
    pub(in crate::transcript) fn new(outline: SessionOutline) -> Self {
        let blocks = Blocks { called: HashMap::new(), left_out: LeftOutCounts::default() };
        Self { blocks, usage: ReplyUsage::new(&outline), entries: Entries::new(outline) }
    }
}

impl AgentWriter for Writer {
    fn push(&mut self, entry: Entry, out: &mut Output) -> Result<(), WireError> {
        std::mem::swap(&mut self.blocks.left_out, &mut out.left_out);
        let content = match &entry.item {
            EntryItem::Message(message) => self.blocks.content(message),
            EntryItem::Usage(_) | EntryItem::Compacted { .. } => Ok(Content::default()),
        };
        std::mem::swap(&mut self.blocks.left_out, &mut out.left_out);
        let content = content?;
        let is_written = !content.own.is_empty();
        for ready in self.usage.push(entry, content, is_written, &mut out.left_out) {
            self.entries.add(ready, out);
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, out: &mut Output) -> Result<(String, Option<String>), WireError> {
        for ready in self.usage.finish() {
            self.entries.add(ready, out);
        }
        self.entries.begin(out);
        if let Some((id, title, at)) = self.entries.outline.title.take() {
            let entry = ObjectWriter::typed("session_info").text("name", &title);
            let id = self.entries.ids().short(&id, "title");
            self.entries.entry(id, at, entry, out);
        }
        let Entries { session, outline, .. } = self.entries;
        let file = outline.folder().map(|folder| file_name(folder, outline.began, &session));
        Ok((session, file))
    }
}

/// Writer of entries, each after the one before.
struct Entries {
    outline: SessionOutline,
    session: String,
    /// Id of the entry before.
    parent: Option<String>,
    is_begun: bool,
}

impl Entries {
    fn new(outline: SessionOutline) -> Self {
        let session = EntryIds::new(FORMAT, outline.session()).session();
        Self { outline, session, parent: None, is_begun: false }
    }

    /// Writes the header, unless it is written.
    fn begin(&mut self, out: &mut Output) {
        if std::mem::replace(&mut self.is_begun, true) {
            return;
        }
        let header = ObjectWriter::typed("session")
            .raw("version", VERSION)
            .text("id", &self.session)
            .text("timestamp", &time::written_time(self.outline.began))
            .text("cwd", self.outline.folder().unwrap_or_default());
        out.line(&header.finish());
    }

    fn ids(&self) -> EntryIds<'_> {
        EntryIds::new(FORMAT, self.outline.session())
    }

    /// Writes the entries of an entry of the session.
    fn add(&mut self, ready: Measured<Content>, out: &mut Output) {
        let entry = &ready.entry;
        match &entry.item {
            EntryItem::Message(message) => {
                self.message(&ready, message, out);
                out.left_out.note_origin(message, read_origin(message));
            }
            EntryItem::Usage(_) => {}
            EntryItem::Compacted { .. } => self.compacted(entry, out),
        }
    }

    /// Adds an entry after the one before.
    fn entry(&mut self, id: String, at: Millis, entry: ObjectWriter, out: &mut Output) {
        self.begin(out);
        let parent = self.parent.as_deref().map_or_else(|| "null".to_owned(), quoted);
        let entry = entry.text("id", &id).raw("parentId", &parent).text("timestamp", &time::written_time(at));
        out.line(&entry.finish());
        self.parent = Some(id);
    }

    fn message(&mut self, ready: &Measured<Content>, message: &Message, out: &mut Output) {
        let Measured { entry, content, usage } = ready;
        for (at, result) in content.results.iter().enumerate() {
            self.say(entry, &format!("result {at}"), result.clone(), out);
        }
        if content.own.is_empty() {
            return;
        }
        match &message.standing {
            _ if message.role == Role::Assistant => {
                self.say(entry, "message", replied(message, &content.own, usage.as_ref()), out);
            }
            MessageOrigin::Injected(name) => self.injected(entry, name, &content.own, out),
            _ => {
                let said = ObjectWriter::default().text("role", "user");
                let content = text_or_blocks(message, &content.own);
                self.say(entry, "message", said.raw("content", &content), out);
            }
        }
    }

    /// Adds a message that no person typed.
    fn injected(&mut self, entry: &Entry, name: &str, content: &[String], out: &mut Output) {
        let content = array(content);
        let custom = |object: ObjectWriter, kind: &str| {
            object.text("customType", kind).raw("content", &content).raw("display", "false")
        };
        match name.strip_prefix(CUSTOM_MESSAGE).and_then(|name| name.strip_prefix(':')) {
            Some(kind) => {
                let object = custom(ObjectWriter::typed(CUSTOM_MESSAGE), kind);
                let id = self.ids().short(&entry.id, "message");
                self.entry(id, entry.at, object, out);
            }
            None => {
                let object = custom(ObjectWriter::default().text("role", "custom"), name);
                self.say(entry, "message", object, out);
            }
        }
    }

    /// Adds a message entry. pi repeats the time of the entry in the message, in milliseconds.
    fn say(&mut self, entry: &Entry, what: &str, said: ObjectWriter, out: &mut Output) {
        let said = said.raw("timestamp", &entry.at.0.to_string());
        let object = ObjectWriter::typed("message").raw("message", &said.finish());
        let id = self.ids().short(&entry.id, what);
        self.entry(id, entry.at, object, out);
    }

    fn compacted(&mut self, entry: &Entry, out: &mut Output) {
        let EntryItem::Compacted { trigger, tokens_before, summary } = &entry.item else { return };
        let tokens = tokens_before.map_or(0, |tokens| tokens.0);
        // Everything that the compaction kept follows it, so the first kept entry is the compaction itself.
        let id = self.ids().short(&entry.id, "compaction");
        let object = ObjectWriter::typed("compaction")
            .text("summary", summary)
            .text("firstKeptEntryId", &id)
            .raw("tokensBefore", &tokens.to_string());
        let object = match trigger.as_deref() {
            Some("hook") => object.raw("fromHook", "true"),
            _ => object,
        };
        self.entry(id, entry.at, object, out);
    }
}

/// Content of a message.
#[derive(Default)]
struct Content {
    /// Messages with the results, without their time.
    results: Vec<ObjectWriter>,
    /// Blocks of the speaker.
    own: Vec<String>,
}

/// Writer of blocks.
struct Blocks {
    /// Names of the tools called, by the ids of the calls.
    called: HashMap<Box<str>, Box<str>>,
    left_out: LeftOutCounts,
}

impl Blocks {
    /// Writes the content of a message. pi makes its own system prompt, so a message of the operator has none.
    fn content(&mut self, message: &Message) -> Result<Content, WireError> {
        let mut content = Content { results: Vec::new(), own: Vec::new() };
        if message.role == Role::System {
            self.left_out.add("a message of the operator");
            return Ok(content);
        }
        for part in &message.parts {
            if let Part::ToolResult { call, content: parts, failed, .. } = part {
                let mut blocks = Vec::with_capacity(parts.len());
                for part in parts {
                    blocks.extend(self.block(part, Role::Tool)?);
                }
                let name = self.called.get(call.as_str()).map_or("", |name| name);
                let result = ObjectWriter::default()
                    .text("role", "toolResult")
                    .text("toolCallId", call.as_str())
                    .text("toolName", name)
                    .raw("content", &array(&blocks))
                    .raw("isError", if *failed { "true" } else { "false" });
                content.results.push(result);
            } else {
                content.own.extend(self.block(part, message.role)?);
            }
        }
        Ok(content)
    }

    /// Writes a part. `None` if it is empty, or if pi has no block for it.
    fn block(&mut self, part: &Part, role: Role) -> Result<Option<String>, WireError> {
        let block = match part {
            Part::Text { text, .. } => {
                let text = inline(text)?;
                return Ok(
                    (!text.is_empty()).then(|| ObjectWriter::typed("text").text("text", text).finish())
                );
            }
            Part::Thinking { text, signature, extra } if role == Role::Assistant => {
                let opened = extra::open(extra, Dialect::Neutral)?;
                let redacted = opened.word(KIND).as_deref() == Some("redacted");
                let block = ObjectWriter::typed("thinking").text("thinking", inline(text)?);
                let block = signature.iter().fold(block, |block, sign| block.text("thinkingSignature", sign));
                if redacted { block.raw("redacted", "true") } else { block }.finish()
            }
            Part::ToolCall { call, name, input, .. } if role == Role::Assistant => {
                self.called.insert(call.0.clone(), name.clone());
                let input = inline(input)?;
                // pi reads arguments as an object.
                let arguments = match Object::parse(input) {
                    Ok(_) => input.trim().to_owned(),
                    Err(_) => ObjectWriter::default().text("input", input).finish(),
                };
                let block = ObjectWriter::typed("toolCall").text("id", call.as_str()).text("name", name);
                block.raw("arguments", &arguments).finish()
            }
            Part::Media { mime, form: MediaForm::Base64, body, .. } if mime.starts_with("image/") => {
                let block = ObjectWriter::typed("image").text("data", inline(body)?);
                block.text("mimeType", mime).finish()
            }
            Part::Opaque { dialect: Dialect::Neutral, raw } => {
                checked(inline(raw)?, "an opaque part")?.to_owned()
            }
            other => {
                self.left_out.add(name_of(other));
                return Ok(None);
            }
        };
        Ok(Some(block))
    }
}

/// Returns content as a string, if it consists of one text.
fn text_or_blocks(message: &Message, blocks: &[String]) -> String {
    match message.parts.as_slice() {
        [Part::Text { text, .. }] => text.inline().map_or_else(|| array(blocks), quoted),
        _ => array(blocks),
    }
}

/// Returns a message of the model.
fn replied(message: &Message, content: &[String], usage: Option<&UsageMeasured>) -> ObjectWriter {
    let model = message.model.as_deref().unwrap_or_default();
    let name = model.rsplit('/').next().unwrap_or(model);
    let known = PROVIDERS.iter().find(|(begin, ..)| name.starts_with(begin));
    let (provider, api) = known.map_or(("", ""), |(_, provider, api)| (*provider, *api));
    let calls = message.calls().next().is_some();
    let derived = if calls { "toolUse" } else { "stop" };
    let stop = message.stop.as_deref().filter(|stop| STOPS.contains(stop)).unwrap_or(derived);
    let said = ObjectWriter::default()
        .text("role", "assistant")
        .raw("content", &array(content))
        .text("api", api)
        .text("provider", provider)
        .text("model", model)
        .raw("usage", &counts(usage))
        .text("stopReason", stop);
    message.api_id.iter().fold(said, |said, id| said.text("responseId", id))
}

/// Returns the usage of a reply. All counts are zero if it is not known, and its cost is not known.
fn counts(usage: Option<&UsageMeasured>) -> String {
    let counts = usage.map_or([0; 4], |usage| {
        [usage.input, usage.output, usage.cache_read, usage.cache_write].map(|tokens| tokens.0)
    });
    let total = counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
    let names = ["input", "output", "cacheRead", "cacheWrite"];
    let object = |values: [String; 4], (name, total): (&str, &str)| {
        let fields = names.into_iter().zip(values);
        let object = fields.fold(ObjectWriter::default(), |object, (name, value)| object.raw(name, &value));
        object.raw(name, total)
    };
    let cost = object([(); 4].map(|()| "0".to_owned()), ("total", "0")).finish();
    let usage = object(counts.map(|count| count.to_string()), ("totalTokens", &total.to_string()));
    usage.raw("cost", &cost).finish()
}
