//! Writes a Codex rollout: the header, then the items of the model, and the events that Codex shows.
//!
//! Source: codex-rs/protocol/src/protocol.rs, and rollouts of Codex 0.171. A compaction is written without a
//! `replacement_history`, as in older rollouts: Codex then makes it from the user's messages and the summary, by its own
//! rule.

use super::{BASE_INSTRUCTIONS, items};
use crate::json::{ObjectWriter, array};
use crate::openai_responses::encode::ItemEncoder;
use crate::openai_responses::order::WrittenItem;
use crate::outcome::WireError;
use crate::transcript::parsing::object::Object;
use crate::transcript::parsing::time;
use crate::transcript::writer::{
    AgentWriter, Entry, EntryIds, EntryItem, LeftOutCounts, Output, SessionOutline, writing_for,
};
use crate::writing::Writing;
use std::collections::{HashSet, VecDeque};
use wunderblock_core::event::UsageMeasured;
use wunderblock_core::message::{Body, Dialect, MediaForm, Message, MessageOrigin, Part, Role};
use wunderblock_core::units::Millis;

const FORMAT: &str = "codex";

/// Program named in the header as the one that began the session.
const ORIGINATOR: &str = "wunderblock";

/// Returns the path of a rollout in Codex's folder.
fn file_name(began: Millis, session: &str) -> String {
    let time = time::written_time(began);
    let (date, clock) = time.split_once('T').unwrap_or((&time, ""));
    let clock = clock.split('.').next().unwrap_or_default().replace(':', "-");
    format!("sessions/{}/rollout-{date}T{clock}-{session}.jsonl", date.replace('-', "/"))
}

/// Removes the instructions that Codex records in the header from the first message, and returns them.
fn take_instructions(first: &mut Message) -> Option<String> {
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

pub(in crate::transcript) struct Writer {
    outline: SessionOutline,
    session: String,
    encoder: ItemEncoder,
    writing: Writing,
    /// Entries whose items are not all decided.
    held: VecDeque<HeldEntry>,
    /// Number of messages, and of those that are held no more.
    messages: (usize, usize),
    /// Model named last.
    model: Option<Box<str>>,
    /// Sum of the usage, by kind: input, of that from the cache and into it, output.
    total: [u64; 4],
}

/// An entry with the items of its message.
struct HeldEntry {
    entry: Entry,
    items: Vec<String>,
}

impl Writer {
    pub(in crate::transcript) fn new(mut outline: SessionOutline) -> Self {
        Self {
            session: EntryIds::new(FORMAT, outline.session()).session(),
            encoder: ItemEncoder::new(std::mem::take(&mut outline.names)),
            writing: writing_for(Dialect::OpenaiResponses),
            held: VecDeque::new(),
            messages: (0, 0),
            model: None,
            total: [0; 4],
            outline,
        }
    }

    /// Gives items to the messages that they were written for.
    fn place(&mut self, items: Vec<WrittenItem>, out: &mut Output) {
        let is_message = |held: &&mut HeldEntry| matches!(held.entry.item, EntryItem::Message(_));
        let mut messages = self.held.iter_mut().filter(is_message).zip(self.messages.1..);
        let mut current = messages.next();
        for item in items {
            let at = item.place.0.unwrap_or_default();
            while current.as_ref().is_some_and(|(_, number)| *number < at) {
                current = messages.next();
            }
            let json = listed(item.json);
            let kind = Object::parse(&json).ok().and_then(|object| object.word("type"));
            match &mut current {
                Some((held, _)) if kind.is_some_and(|kind| items::is_item(&kind)) => held.items.push(json),
                _ => out.left_out.add("an item that Codex does not know"),
            }
        }
        out.left_out.extend(std::mem::take(&mut self.writing.dropped));
    }

    /// Writes the entries before the message with a number.
    fn write(&mut self, before: usize, out: &mut Output) {
        while let Some(held) = self.held.front() {
            if matches!(held.entry.item, EntryItem::Message(_)) {
                if self.messages.1 >= before {
                    return;
                }
                self.messages.1 += 1;
            }
            let Some(HeldEntry { entry, items }) = self.held.pop_front() else { return };
            match &entry.item {
                EntryItem::Message(_) if items.is_empty() => {}
                EntryItem::Message(message) => {
                    self.message(entry.at, message, &items, out);
                    out.left_out.note_origin(message, read_origin(message));
                }
                EntryItem::Usage(usage) => self.usage(entry.at, usage, out),
                EntryItem::Compacted { summary, .. } => {
                    let payload = ObjectWriter::default().text("message", summary);
                    line(out, entry.at, "compacted", &payload.finish());
                }
            }
        }
    }

    /// Writes the header, with the instructions that the first message may be.
    fn begin(&self, first: Option<&mut Message>, out: &mut Output) {
        let (base, outline) = (first.and_then(take_instructions), &self.outline);
        let meta = ObjectWriter::default()
            .text("id", &self.session)
            .text("timestamp", &time::written_time(outline.began))
            .text("cwd", outline.folder().unwrap_or_default())
            .text("originator", ORIGINATOR)
            .text("cli_version", outline.version(FORMAT).unwrap_or_default())
            .text("source", "cli");
        let meta = match base {
            Some(text) => {
                meta.raw("base_instructions", &ObjectWriter::default().text("text", &text).finish())
            }
            None => meta,
        };
        let meta = match outline.branch() {
            Some(branch) => meta.raw("git", &ObjectWriter::default().text("branch", branch).finish()),
            None => meta,
        };
        line(out, outline.began, "session_meta", &meta.finish());
    }

    fn message(&mut self, at: Millis, message: &Message, items: &[String], out: &mut Output) {
        if message.role == Role::Assistant && self.model != message.model {
            self.turn_context(at, message, out);
        }
        for item in items {
            line(out, at, "response_item", item);
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
                line(out, at, "event_msg", &event);
            }
        }
    }

    /// Names the model of the next items. The other fields are required; Codex takes its own settings when it continues
    /// a session.
    fn turn_context(&mut self, at: Millis, message: &Message, out: &mut Output) {
        self.model.clone_from(&message.model);
        let Some(model) = &message.model else { return };
        let context = ObjectWriter::default()
            .text("cwd", self.outline.folder().unwrap_or_default())
            .text("approval_policy", "on-request")
            .raw("sandbox_policy", &ObjectWriter::typed("read-only").finish())
            .text("model", model)
            .text("summary", "auto");
        line(out, at, "turn_context", &context.finish());
    }

    fn usage(&mut self, at: Millis, usage: &UsageMeasured, out: &mut Output) {
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
        line(out, at, "event_msg", &event.finish());
    }
}

impl AgentWriter for Writer {
    fn push(&mut self, mut entry: Entry, out: &mut Output) -> Result<(), WireError> {
        let mut items = Vec::new();
        if let EntryItem::Message(message) = &mut entry.item {
            if self.messages.0 == 0 {
                self.begin(Some(message), out);
            }
            keep_images(message, &mut out.left_out);
            let replaced = self.encoder.replaced;
            items = self.encoder.push(message, &mut self.writing)?;
            self.messages.0 += 1;
            let ids = self.encoder.replaced - replaced;
            out.left_out.note_names(message, Dialect::OpenaiResponses, ids);
        }
        self.held.push_back(HeldEntry { entry, items: Vec::new() });
        // The header comes first, and it contains the instructions, which may be the first message.
        if self.messages.0 > 0 {
            self.place(items, out);
            self.write(self.encoder.decided(), out);
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, out: &mut Output) -> Result<(String, Option<String>), WireError> {
        if self.messages.0 == 0 {
            self.begin(None, out);
        }
        let encoder = std::mem::replace(&mut self.encoder, ItemEncoder::new(HashSet::new()));
        let items = encoder.finish(&mut self.writing);
        self.place(items, out);
        self.write(usize::MAX, out);
        if let Some((_, title, at)) = &self.outline.title {
            let event = ObjectWriter::typed("thread_name_updated").text("thread_id", &self.session);
            line(out, *at, "event_msg", &event.text("thread_name", title).finish());
        }
        let file = file_name(self.outline.began, &self.session);
        Ok((self.session, Some(file)))
    }
}

fn line(out: &mut Output, at: Millis, kind: &str, payload: &str) {
    let line = ObjectWriter::default().text("timestamp", &time::written_time(at)).text("type", kind);
    out.line(&line.raw("payload", payload).finish());
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
