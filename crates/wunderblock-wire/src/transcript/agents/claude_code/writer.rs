//! Writes a Claude Code session: one record per message, chained by `parentUuid`.
//!
//! Source: records of Claude Code 2.1.332 and its documentation (docs/sessions.md, docs/claude-directory.md). The
//! operator's messages are left out, because Claude Code has no record for them and makes its own system prompt.

use super::{harness_text, is_claude};
use crate::anthropic::USAGE;
use crate::anthropic::encode::{self, MessageEncoder};
use crate::call_id::IdChooser;
use crate::json::{ObjectWriter, array};
use crate::outcome::WireError;
use crate::transcript::parsing::object::quoted;
use crate::transcript::parsing::time;
use crate::transcript::writer::{
    AgentWriter, Entry, EntryIds, EntryItem, LeftOutCounts, Measured, Output, ReplyUsage, SessionOutline,
    writing_for,
};
use crate::writing::Writing;
use wunderblock_core::event::UsageMeasured;
use wunderblock_core::message::{Body, Dialect, Message, MessageOrigin, Part, Role};

const FORMAT: &str = "claude-code";

/// Maximum length of the name of a project's folder. Claude Code shortens longer names by a rule of its own.
const MAX_FOLDER: usize = 200;

/// Reasons for which a model stops, as Anthropic's API names them.
const STOPS: [&str; 7] = [
    "end_turn",
    "max_tokens",
    "model_context_window_exceeded",
    "pause_turn",
    "refusal",
    "stop_sequence",
    "tool_use",
];

/// Returns the path of a session's file in Claude Code's folder.
fn file_name(folder: &str, session: &str) -> Option<String> {
    let name: String = folder.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    (name.len() <= MAX_FOLDER).then(|| format!("projects/{name}/{session}.jsonl"))
}

/// Removes the parts that Claude Code has no record for, or that its provider did not write.
fn keep_sendable(message: &mut Message, left_out: &mut LeftOutCounts) {
    if message.role == Role::System {
        left_out.add("a message of the operator");
        message.parts.clear();
    }
    let foreign = message.model.as_deref().is_some_and(|model| !is_claude(model));
    message.parts.retain(|part| {
        let lost = foreign && part.is_thinking();
        if lost {
            left_out.add("thinking of another provider");
        }
        !lost
    });
}

/// Returns the origin that the reader finds for a message that the writer marks as [`is_meta`] states.
fn read_origin(message: &Message) -> MessageOrigin {
    if message.role != Role::User {
        return MessageOrigin::Said;
    }
    if is_meta(message) {
        return MessageOrigin::Injected("meta".into());
    }
    harness_text(&message.parts).map_or(MessageOrigin::Said, |name| MessageOrigin::Injected(name.into()))
}

/// Returns whether a message is marked as one that no person typed. A text that its beginning identifies as one needs
/// no mark.
fn is_meta(message: &Message) -> bool {
    match &message.standing {
        MessageOrigin::Injected(name) => harness_text(&message.parts) != Some(&**name),
        _ => false,
    }
}

/// Returns the contents of a message's records. Claude Code records a reply block by block, and leaves out a record
/// with a call that has no result when it continues a session.
fn contents(
    at: usize,
    message: &Message,
    encoder: &MessageEncoder,
    writing: &mut Writing,
) -> Result<Vec<String>, WireError> {
    let blocks = encoder.blocks(at, message, writing)?;
    Ok(match message.parts.as_slice() {
        _ if blocks.is_empty() => Vec::new(),
        _ if message.role == Role::Assistant => blocks.iter().map(|block| array(&[block])).collect(),
        [Part::Text { text: Body::Inline(text), extra: None }] => vec![quoted(text)],
        _ => vec![array(&blocks)],
    })
}

/// Maximum number of messages of a turn whose blocks are examined together.
const TURN: usize = 1_024;

pub(in crate::transcript) struct Writer {
    chooser: IdChooser,
    writing: Writing,
    /// Entries from the first message of the current turn on: the blocks of a turn depend on each other.
    turn: Vec<Entry>,
    usage: ReplyUsage<Vec<String>>,
    records: Records,
}

impl Writer {
    pub(in crate::transcript) fn new(mut outline: SessionOutline) -> Self {
        Self {
            chooser: IdChooser::new(encode::IDS, std::mem::take(&mut outline.names)),
            writing: writing_for(Dialect::Anthropic),
            turn: Vec::new(),
            usage: ReplyUsage::new(&outline),
            records: Records::new(outline),
        }
    }

    /// Encodes the messages of the current turn.
    fn end_turn(&mut self, is_end: bool, out: &mut Output) -> Result<(), WireError> {
        let entries = std::mem::take(&mut self.turn);
        let messages: Vec<Message> = entries.iter().filter_map(|entry| said(entry).cloned()).collect();
        let ids = self.chooser.choose(&messages);
        let mut replaced = ids.replaced();
        let encoder = MessageEncoder::of_part(&messages, ids, is_end);
        let mut at = 0;
        for entry in entries {
            let mut contents = Vec::new();
            if let EntryItem::Message(message) = &entry.item {
                contents = self::contents(at, message, &encoder, &mut self.writing)?;
                out.left_out.note_names(message, Dialect::Anthropic, std::mem::take(&mut replaced));
                at += 1;
            }
            let is_written = !contents.is_empty();
            for ready in self.usage.push(entry, contents, is_written, &mut out.left_out) {
                self.records.add(ready, out);
            }
        }
        out.left_out.extend(std::mem::take(&mut self.writing.dropped));
        Ok(())
    }
}

/// Returns the message of an entry.
fn said(entry: &Entry) -> Option<&Message> {
    match &entry.item {
        EntryItem::Message(message) => Some(message),
        EntryItem::Usage(_) | EntryItem::Compacted { .. } => None,
    }
}

impl AgentWriter for Writer {
    fn push(&mut self, mut entry: Entry, out: &mut Output) -> Result<(), WireError> {
        if let EntryItem::Message(message) = &mut entry.item {
            let last = self.turn.iter().rev().find_map(said);
            let goes_on = last.is_some_and(|last| last.role == Role::Assistant)
                && message.role == Role::Assistant
                && self.turn.len() < TURN;
            if last.is_some() && !goes_on {
                self.end_turn(false, out)?;
            }
            keep_sendable(message, &mut out.left_out);
        }
        self.turn.push(entry);
        Ok(())
    }

    fn finish(mut self: Box<Self>, out: &mut Output) -> Result<(String, Option<String>), WireError> {
        self.end_turn(true, out)?;
        for ready in self.usage.finish() {
            self.records.add(ready, out);
        }
        let Records { session, outline, .. } = self.records;
        if let Some((_, title, _)) = &outline.title {
            let record = ObjectWriter::typed("custom-title").text("customTitle", title);
            out.line(&record.text("sessionId", &session).finish());
        }
        let file = outline.folder().and_then(|folder| file_name(folder, &session));
        Ok((session, file))
    }
}

/// Writer of records, each after the one before.
struct Records {
    outline: SessionOutline,
    session: String,
    /// Fields that all records have in common.
    common: Vec<(&'static str, String)>,
    /// Id of the record before.
    parent: Option<String>,
    /// Id of the reply that is being written.
    reply: Option<String>,
}

impl Records {
    fn new(outline: SessionOutline) -> Self {
        let session = EntryIds::new(FORMAT, outline.session()).session();
        let mut common = vec![("userType", "external".to_owned())];
        common.extend(outline.folder().map(|folder| ("cwd", folder.to_owned())));
        common.push(("sessionId", session.clone()));
        common.extend(outline.version(FORMAT).map(|version| ("version", version.to_owned())));
        common.extend(outline.branch().map(|branch| ("gitBranch", branch.to_owned())));
        Self { outline, session, common, parent: None, reply: None }
    }

    fn ids(&self) -> EntryIds<'_> {
        EntryIds::new(FORMAT, self.outline.session())
    }

    /// Writes the records of an entry.
    fn add(&mut self, ready: Measured<Vec<String>>, out: &mut Output) {
        let Measured { entry, content, usage } = ready;
        match &entry.item {
            EntryItem::Message(message) => {
                for (piece, content) in content.iter().enumerate() {
                    let record = self.message(&entry, message, content, usage.as_ref());
                    self.record(&entry, &format!("message {piece}"), record, out);
                }
                if !content.is_empty() {
                    out.left_out.note_origin(message, read_origin(message));
                }
            }
            EntryItem::Usage(_) => {}
            EntryItem::Compacted { .. } => self.compacted(&entry, out),
        }
    }

    /// Returns the record of a piece of a message, without the fields that all records have.
    fn message(
        &mut self,
        entry: &Entry,
        message: &Message,
        content: &str,
        usage: Option<&UsageMeasured>,
    ) -> ObjectWriter {
        if message.role == Role::Assistant {
            let own = message.api_id.as_deref().map(str::to_owned);
            let made = || {
                self.reply.clone().unwrap_or_else(|| format!("msg_{}", self.ids().short(&entry.id, "reply")))
            };
            let reply = own.unwrap_or_else(made);
            let said = ObjectWriter::typed("message").text("id", &reply).text("role", "assistant");
            self.reply = Some(reply);
            let said = message.model.iter().fold(said, |said, model| said.text("model", model));
            let stop = message.stop.as_deref().filter(|stop| STOPS.contains(stop));
            let said = said
                .raw("content", content)
                .raw("stop_reason", &stop.map_or_else(|| "null".to_owned(), quoted))
                .raw("stop_sequence", "null")
                .raw("usage", &counts(usage));
            ObjectWriter::typed("assistant").raw("message", &said.finish())
        } else {
            self.reply = None;
            let said = ObjectWriter::default().text("role", "user").raw("content", content);
            let record = ObjectWriter::typed("user").raw("message", &said.finish());
            if is_meta(message) { record.raw("isMeta", "true") } else { record }
        }
    }

    fn compacted(&mut self, entry: &Entry, out: &mut Output) {
        let EntryItem::Compacted { trigger, tokens_before, summary } = &entry.item else { return };
        self.reply = None;
        let meta = ObjectWriter::default().text("trigger", trigger.as_deref().unwrap_or("manual"));
        let meta = match tokens_before {
            Some(tokens) => meta.raw("preTokens", &tokens.0.to_string()),
            None => meta,
        };
        let boundary = ObjectWriter::typed("system").text("subtype", "compact_boundary");
        // A conversation starts over at the boundary, so the record before is only its logical parent.
        let before = self.parent.take();
        let boundary = before.iter().fold(boundary, |record, id| record.text("logicalParentUuid", id));
        let boundary = boundary
            .text("content", "Conversation compacted")
            .text("level", "info")
            .raw("isMeta", "false")
            .raw("compactMetadata", &meta.finish());
        self.record(entry, "boundary", boundary, out);
        let said = ObjectWriter::default().text("role", "user").text("content", summary).finish();
        let record = ObjectWriter::typed("user").raw("message", &said);
        let record = record.raw("isVisibleInTranscriptOnly", "true").raw("isCompactSummary", "true");
        self.record(entry, "summary", record, out);
    }

    /// Adds a record after the one before.
    fn record(&mut self, entry: &Entry, what: &str, record: ObjectWriter, out: &mut Output) {
        let id = self.ids().uuid(&entry.id, what);
        let parent = self.parent.as_deref().map_or_else(|| "null".to_owned(), quoted);
        let record = record
            .raw("parentUuid", &parent)
            .raw("isSidechain", "false")
            .text("uuid", &id)
            .text("timestamp", &time::written_time(entry.at));
        let record = self.common.iter().fold(record, |record, (name, value)| record.text(name, value));
        out.line(&record.finish());
        self.parent = Some(id);
    }
}

/// Returns the usage of a reply as Anthropic's API reports it. All counts are zero if it is not known.
fn counts(usage: Option<&UsageMeasured>) -> String {
    let counts = usage.map_or([0; 4], |usage| {
        [usage.input, usage.cache_read, usage.cache_write, usage.output].map(|tokens| tokens.0)
    });
    let fields = USAGE.into_iter().zip(counts);
    let object =
        fields.fold(ObjectWriter::default(), |object, (name, count)| object.raw(name, &count.to_string()));
    object.finish()
}
