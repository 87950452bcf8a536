//! Writes a Codex rollout: the header, then the items of the model, and the events that Codex shows.
//!
//! Source: codex-rs/protocol/src/protocol.rs, and rollouts of Codex 0.171. A compaction is written without a
//! `replacement_history`, as in older rollouts: Codex then makes it from the user's messages and the summary, by its own
//! rule.

use super::super::object::Object;
use super::super::time;
use super::super::writer::{
    Conversation, Entry, EntryIds, EntryItem, LeftOutCounts, WrittenTranscript, writing_for,
};
use super::{BASE_INSTRUCTIONS, items};
use crate::json::{ObjectWriter, array};
use crate::openai_responses::encode;
use crate::outcome::WireError;
use std::collections::BTreeMap;
use wunderblock_core::event::UsageMeasured;
use wunderblock_core::message::{Body, Dialect, MediaForm, Message, MessageOrigin, Part, Role};
use wunderblock_core::units::Millis;

const FORMAT: &str = "codex";

/// Program named in the header as the one that began the session.
const ORIGINATOR: &str = "wunderblock";

pub(in super::super) fn write(conversation: &mut Conversation<'_>) -> Result<WrittenTranscript, WireError> {
    let mut left_out = std::mem::take(&mut conversation.left_out);
    let base = take_instructions(&mut conversation.messages);
    for message in &mut conversation.messages {
        keep_images(message, &mut left_out);
    }
    let mut writing = writing_for(Dialect::OpenaiResponses);
    let mut written: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for item in encode::items(&conversation.messages, &mut writing)? {
        let json = listed(item.json);
        let kind = Object::parse(&json).ok().and_then(|object| object.word("type"));
        if kind.is_some_and(|kind| items::is_item(&kind)) {
            written.entry(item.place.0.unwrap_or_default()).or_default().push(json);
        } else {
            left_out.add("an item that Codex does not know");
        }
    }
    left_out.extend(writing.dropped);
    left_out.note_names(&conversation.messages, (Dialect::OpenaiResponses, encode::IDS));
    let mut writer = Writer::new(conversation);
    writer.header(conversation, base.as_deref());
    for entry in &conversation.entries {
        match entry.item {
            EntryItem::Message(at) => {
                let message = conversation.messages.get(at);
                let (Some(message), Some(items)) = (message, written.remove(&at)) else { continue };
                writer.message(entry, message, &items);
                left_out.note_origin(message, read_origin(message));
            }
            EntryItem::Usage(usage) => writer.usage(entry, usage),
            EntryItem::Compacted(_, summary) => {
                let payload = ObjectWriter::default().text("message", summary);
                writer.line(entry.at, "compacted", &payload.finish());
            }
        }
    }
    if let Some((title, _, at)) = conversation.title {
        let event = ObjectWriter::typed("thread_name_updated").text("thread_id", &writer.session);
        writer.line(at, "event_msg", &event.text("thread_name", title).finish());
    }
    let file = file_name(conversation.began, &writer.session);
    Ok(WrittenTranscript::new((writer.session, Some(file)), &writer.lines, left_out))
}

/// Returns the path of a rollout in Codex's folder.
fn file_name(began: Millis, session: &str) -> String {
    let time = time::written_time(began);
    let (date, clock) = time.split_once('T').unwrap_or((&time, ""));
    let clock = clock.split('.').next().unwrap_or_default().replace(':', "-");
    format!("sessions/{}/rollout-{date}T{clock}-{session}.jsonl", date.replace('-', "/"))
}

/// Removes the instructions that Codex records in the header from the messages, and returns them.
fn take_instructions(messages: &mut [Message]) -> Option<String> {
    let first = messages.first_mut()?;
    let is_base = matches!(&first.standing, MessageOrigin::Injected(what) if **what == *BASE_INSTRUCTIONS);
    match first.parts.as_slice() {
        [Part::Text { text: Body::Inline(text), .. }] if is_base && first.role == Role::System => {
            let text = text.clone();
            first.parts.clear();
            Some(text)
        }
        _ => None,
    }
}

/// Removes the media that a rollout has no content item for: all except images with their data or address.
fn keep_images(message: &mut Message, left_out: &mut LeftOutCounts) {
    let mut is_kept = |part: &Part| {
        let lost = match part {
            Part::Media { form: MediaForm::File, .. } => true,
            Part::Media { mime, .. } => !(mime.is_empty() || mime.starts_with("image/")),
            _ => false,
        };
        if lost {
            left_out.add("a medium that is not an image");
        }
        !lost
    };
    message.parts.retain_mut(|part| match part {
        Part::ToolResult { content, .. } => {
            content.retain(&mut is_kept);
            true
        }
        part => is_kept(part),
    });
}

/// Returns an item in the form that Codex reads: with its type, and with a list as content. The API also accepts a
/// message without its type, and with a text as content.
fn listed(item: String) -> String {
    let Ok(object) = Object::parse(&item) else { return item };
    let text = object.get("content").filter(|content| content.get().starts_with('"'));
    if text.is_none() && object.has("type") {
        return item;
    }
    let kind = object.text("type").unwrap_or("message".into());
    let words =
        if object.text("role").as_deref() == Some("assistant") { "output_text" } else { "input_text" };
    let written = ObjectWriter::typed(&kind);
    let written = match text {
        Some(text) => {
            let piece = ObjectWriter::typed(words).raw("text", text.get()).finish();
            written.raw("content", &array(&[piece]))
        }
        None => written,
    };
    written.unknown(object.iter().map(|(name, value)| (name, value.get()))).finish()
}

/// Returns the origin that the reader finds for a message.
fn read_origin(message: &Message) -> MessageOrigin {
    match message.parts.first() {
        Some(Part::Text { text, .. }) if message.role == Role::User => {
            items::standing(text.inline().unwrap_or_default())
        }
        _ => MessageOrigin::Said,
    }
}

struct Writer {
    session: String,
    folder: String,
    /// Model named last.
    model: Option<Box<str>>,
    /// Sum of the usage, by kind: input, of that from the cache and into it, output.
    total: [u64; 4],
    lines: Vec<String>,
}

impl Writer {
    fn new(conversation: &Conversation<'_>) -> Self {
        let session = EntryIds::new(FORMAT, conversation.session).session();
        let folder = conversation.folder().unwrap_or_default().to_owned();
        Self { session, folder, model: None, total: [0; 4], lines: Vec::new() }
    }

    fn line(&mut self, at: Millis, kind: &str, payload: &str) {
        let line = ObjectWriter::default().text("timestamp", &time::written_time(at)).text("type", kind);
        self.lines.push(line.raw("payload", payload).finish());
    }

    fn header(&mut self, conversation: &Conversation<'_>, base: Option<&str>) {
        let meta = ObjectWriter::default()
            .text("id", &self.session)
            .text("timestamp", &time::written_time(conversation.began))
            .text("cwd", &self.folder)
            .text("originator", ORIGINATOR)
            .text("cli_version", conversation.version(FORMAT).unwrap_or_default())
            .text("source", "cli");
        let meta = match base {
            Some(text) => meta.raw("base_instructions", &ObjectWriter::default().text("text", text).finish()),
            None => meta,
        };
        let meta = match conversation.branch() {
            Some(branch) => meta.raw("git", &ObjectWriter::default().text("branch", branch).finish()),
            None => meta,
        };
        self.line(conversation.began, "session_meta", &meta.finish());
    }

    fn message(&mut self, entry: &Entry<'_>, message: &Message, items: &[String]) {
        if message.role == Role::Assistant && self.model != message.model {
            self.turn_context(entry.at, message);
        }
        for item in items {
            self.line(entry.at, "response_item", item);
        }
        let kind = match message.role {
            Role::Assistant => "agent_message",
            Role::User if message.is_user_turn() => "user_message",
            _ => return,
        };
        // The interface shows these events instead of the items.
        for part in &message.parts {
            if let Part::Text { text: Body::Inline(text), .. } = part {
                let event = ObjectWriter::typed(kind).text("message", text).finish();
                self.line(entry.at, "event_msg", &event);
            }
        }
    }

    /// Names the model of the next items. The other fields are required; Codex takes its own settings when it continues
    /// a session.
    fn turn_context(&mut self, at: Millis, message: &Message) {
        self.model.clone_from(&message.model);
        let Some(model) = &message.model else { return };
        let context = ObjectWriter::default()
            .text("cwd", &self.folder)
            .text("approval_policy", "on-request")
            .raw("sandbox_policy", &ObjectWriter::typed("read-only").finish())
            .text("model", model)
            .text("summary", "auto");
        self.line(at, "turn_context", &context.finish());
    }

    fn usage(&mut self, entry: &Entry<'_>, usage: &UsageMeasured) {
        let [input, read, write, output] =
            [usage.input, usage.cache_read, usage.cache_write, usage.output].map(|tokens| tokens.0);
        // Codex counts the tokens of the cache as input.
        let last = [input.saturating_add(read).saturating_add(write), read, write, output];
        for (total, count) in self.total.iter_mut().zip(last) {
            *total = total.saturating_add(count);
        }
        let window = usage.window.map_or_else(|| "null".to_owned(), |window| window.0.to_string());
        let info = ObjectWriter::default()
            .raw("total_token_usage", &counts(self.total))
            .raw("last_token_usage", &counts(last))
            .raw("model_context_window", &window);
        let event = ObjectWriter::typed("token_count").raw("info", &info.finish()).raw("rate_limits", "null");
        self.line(entry.at, "event_msg", &event.finish());
    }
}

fn counts([input, read, write, output]: [u64; 4]) -> String {
    let fields = [
        ("input_tokens", input),
        ("cached_input_tokens", read),
        ("cache_write_input_tokens", write),
        ("output_tokens", output),
        ("reasoning_output_tokens", 0),
        ("total_tokens", input.saturating_add(output)),
    ];
    let object = fields
        .into_iter()
        .fold(ObjectWriter::default(), |object, (name, count)| object.raw(name, &count.to_string()));
    object.finish()
}
