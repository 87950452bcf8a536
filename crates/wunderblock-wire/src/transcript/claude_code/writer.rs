//! Writes a Claude Code session: one record per message, chained by `parentUuid`.
//!
//! Source: records of Claude Code 2.1.332 and its documentation (docs/sessions.md, docs/claude-directory.md). The
//! operator's messages are left out, because Claude Code has no record for them and makes its own system prompt.

use super::super::object::quoted;
use super::super::time;
use super::super::writer::{
    Conversation, Entry, EntryIds, EntryItem, LeftOutCounts, WrittenTranscript, writing_for,
};
use super::{harness_text, is_claude};
use crate::anthropic::USAGE;
use crate::anthropic::encode::{self, MessageEncoder};
use crate::json::{ObjectWriter, array};
use crate::outcome::WireError;
use crate::writing::Writing;
use wunderblock_core::event::{SessionCompacted, UsageMeasured};
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

pub(in super::super) fn write(conversation: &mut Conversation<'_>) -> Result<WrittenTranscript, WireError> {
    let mut left_out = std::mem::take(&mut conversation.left_out);
    for message in &mut conversation.messages {
        keep_sendable(message, &mut left_out);
    }
    let encoder = MessageEncoder::new(&conversation.messages);
    let mut writing = writing_for(Dialect::Anthropic);
    let mut written = Vec::with_capacity(conversation.messages.len());
    for said in conversation.messages.iter().enumerate() {
        written.push(contents(said, &encoder, &mut writing)?);
    }
    left_out.extend(writing.dropped);
    left_out.note_names(&conversation.messages, (Dialect::Anthropic, encode::IDS));
    let contents_of = |at: usize| written.get(at).filter(|contents| !contents.is_empty());
    let usage = conversation.usage(|at| contents_of(at).is_some(), &mut left_out);
    let mut writer = Writer::new(conversation);
    for entry in &conversation.entries {
        match entry.item {
            EntryItem::Message(at) => {
                if let Some((message, contents)) = conversation.messages.get(at).zip(contents_of(at)) {
                    for (piece, content) in contents.iter().enumerate() {
                        writer.message((entry, piece), (message, content), usage.get(&at).copied());
                    }
                    left_out.note_origin(message, read_origin(message));
                }
            }
            EntryItem::Usage(_) => {}
            EntryItem::Compacted(made, summary) => writer.compacted(entry, made, summary),
        }
    }
    if let Some((title, ..)) = conversation.title {
        let record = ObjectWriter::typed("custom-title").text("customTitle", title);
        writer.lines.push(record.text("sessionId", &writer.session).finish());
    }
    let file = conversation.folder().and_then(|folder| file_name(folder, &writer.session));
    Ok(WrittenTranscript::new((writer.session, file), &writer.lines, left_out))
}

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
    (at, message): (usize, &Message),
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

struct Writer<'e> {
    ids: EntryIds<'e>,
    session: String,
    /// Fields that all records have in common.
    common: Vec<(&'static str, String)>,
    /// Id of the record before.
    parent: Option<String>,
    /// Id of the reply that is being written.
    reply: Option<String>,
    lines: Vec<String>,
}

impl<'e> Writer<'e> {
    fn new(conversation: &Conversation<'e>) -> Self {
        let ids = EntryIds::new(FORMAT, conversation.session);
        let session = ids.session();
        let mut common = vec![("userType", "external".to_owned())];
        common.extend(conversation.folder().map(|folder| ("cwd", folder.to_owned())));
        common.push(("sessionId", session.clone()));
        common.extend(conversation.version(FORMAT).map(|version| ("version", version.to_owned())));
        common.extend(conversation.branch().map(|branch| ("gitBranch", branch.to_owned())));
        Self { ids, session, common, parent: None, reply: None, lines: Vec::new() }
    }

    fn message(
        &mut self,
        (entry, piece): (&Entry<'_>, usize),
        (message, content): (&Message, &str),
        usage: Option<&UsageMeasured>,
    ) {
        let record = if message.role == Role::Assistant {
            let own = message.api_id.as_deref().map(str::to_owned);
            let made =
                || self.reply.clone().unwrap_or_else(|| format!("msg_{}", self.ids.short(entry.id, "reply")));
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
        };
        self.record(entry, &format!("message {piece}"), record);
    }

    fn compacted(&mut self, entry: &Entry<'_>, made: &SessionCompacted, summary: &str) {
        self.reply = None;
        let meta = ObjectWriter::default().text("trigger", made.trigger.as_deref().unwrap_or("manual"));
        let meta = match made.tokens_before {
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
        self.record(entry, "boundary", boundary);
        let said = ObjectWriter::default().text("role", "user").text("content", summary).finish();
        let record = ObjectWriter::typed("user").raw("message", &said);
        let record = record.raw("isVisibleInTranscriptOnly", "true").raw("isCompactSummary", "true");
        self.record(entry, "summary", record);
    }

    /// Adds a record after the one before.
    fn record(&mut self, entry: &Entry<'_>, what: &str, record: ObjectWriter) {
        let id = self.ids.uuid(entry.id, what);
        let parent = self.parent.as_deref().map_or_else(|| "null".to_owned(), quoted);
        let record = record
            .raw("parentUuid", &parent)
            .raw("isSidechain", "false")
            .text("uuid", &id)
            .text("timestamp", &time::written_time(entry.at));
        let record = self.common.iter().fold(record, |record, (name, value)| record.text(name, value));
        self.lines.push(record.finish());
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
