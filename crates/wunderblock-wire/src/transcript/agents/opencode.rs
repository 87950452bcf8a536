//! OpenCode sessions: one line for the session, and one for each message with its parts.
//!
//! OpenCode keeps a session in a tree of files or in a database. The importer writes its members as the lines that
//! this module reads, `{"info": session}` and `{"parts": […], "info": message}`, and writes a line again when its
//! member has changed. `opencode export` writes the same objects in one document. Every part is a record with its own
//! id, so that a session has the same records, whether it was read once or while it grew. The fields are those of
//! OpenCode's schema (`packages/opencode/src/session/message-v2.ts` and `session.sql.ts`).

mod part;

use crate::transcript::parsing::object::Object;
use crate::transcript::parsing::rewinds::Rewinds;
use crate::transcript::parsing::seen::{SeenIds, hash};
use crate::transcript::parsing::{elements, time};
use crate::transcript::record::{ByteSpan, RecordItem, RecordStatus, TranscriptRecord};
use part::Speaker;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::VecDeque;
use wunderblock_core::event::{Fact, SessionDescribed, UsageMeasured};
use wunderblock_core::message::Role;
use wunderblock_core::units::Tokens;

/// Record types, and what is read from each of them.
pub(in crate::transcript) const RECORD_TYPES: &[(&str, &str)] = &[
    ("session", "opening of the session, its title"),
    ("user", "kept in the source: the data of a message"),
    (
        "assistant",
        "end of a turn that failed; a compaction if the message is a summary; usage if no step has any",
    ),
    ("text", "message; an injected message if OpenCode wrote it; the summary of a compaction"),
    ("reasoning", "message with reasoning"),
    ("tool", "message with a tool call"),
    ("tool result", "message with a tool result, start of a sub-agent"),
    ("file", "message with an image or a document, if the part holds it"),
    ("step-finish", "usage"),
    ("subtask", "injected message"),
    ("compaction", "kept in the source: the cause of the compaction that follows"),
    ("removed", "the next record continues before this prompt"),
    ("step-start", "kept in the source"),
    ("snapshot", "kept in the source"),
    ("patch", "kept in the source"),
    ("agent", "kept in the source"),
    ("retry", "kept in the source"),
];

/// Maximum number of messages whose first records are remembered, for compactions that keep the latest messages.
const STARTS: usize = 256;

/// Beginnings of the titles that OpenCode gives to every new session.
const UNTITLED: [&str; 2] = ["New session - ", "Child session - "];

/// State of a file that is being read.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::transcript) struct OpenCode {
    own: Option<Box<str>>,
    opened: bool,
    rewinds: Rewinds,
    /// The compaction that has begun and whose summary follows.
    compaction: Option<BegunCompaction>,
    /// The latest messages, each with the id of its first record.
    starts: VecDeque<(Box<str>, Box<str>)>,
    /// This field is not part of a checkpoint, because it grows with the file.
    #[serde(skip)]
    pub(in crate::transcript) seen: SeenIds,
}

/// A compaction whose summary has not been read yet.
#[derive(Debug, Serialize, Deserialize)]
struct BegunCompaction {
    is_auto: bool,
    /// Id of the first message that is kept.
    tail: Option<Box<str>>,
}

impl OpenCode {
    pub(in crate::transcript) fn session(&self) -> Option<&str> {
        self.own.as_deref()
    }

    /// Returns the ids of the records that a line may repeat, if they are unknown.
    pub(in crate::transcript) fn unknown(&self, object: &Object<'_>) -> Vec<Box<str>> {
        let info = object.object("info").unwrap_or_default();
        let message = info.word("id").unwrap_or_default();
        let mut ids = vec![message.clone()];
        ids.extend(title_of(&info).map(|title| title_id(&message, &title)));
        for (index, part) in object.array("parts").unwrap_or_default().into_iter().enumerate() {
            let id = Object::of(part).map(|part| part::id_of(&part, &message, index)).unwrap_or_default();
            ids.push(part::result_id(&id));
            ids.push(id);
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
        if let Some(id) = object.word("removed") {
            return vec![self.removed(span, &id)];
        }
        if object.has("messageID") {
            // A part that is imported without its message.
            let mut speaker = Speaker::of(&Object::default(), true);
            speaker.message = object.word("messageID").unwrap_or_default();
            self.own = self.own.take().or_else(|| object.word("sessionID"));
            let mut records = self.part(&mut speaker, span, (object, text), 0);
            return self.settle(&mut records, span);
        }
        match object.object("info") {
            Some(info) if info.has("role") => {
                self.message(span, text, &info, &object.array("parts").unwrap_or_default())
            }
            Some(info) if info.has("id") && !object.has("parts") => vec![self.header(span, &info)],
            None if object.has("role") && object.has("sessionID") => self.message(span, text, object, &[]),
            _ => vec![TranscriptRecord::opaque(span, "record", "unknown record of OpenCode")],
        }
    }

    /// Reads a session in one document.
    pub(in crate::transcript) fn document(&mut self, span: ByteSpan, text: &str) -> Vec<TranscriptRecord> {
        let Ok(document) = Object::parse(text) else { return Vec::new() };
        let Some(messages) = document.array("messages") else { return self.read(span, text, &document) };
        let mut records = Vec::new();
        if let Some(info) = document.get("info") {
            let header = Object::of(info).unwrap_or_default();
            records.push(self.header(elements::span_of(info.get(), text, span), &header));
        }
        let parts: Vec<&str> = messages.iter().map(|message| message.get()).collect();
        for (part, span) in parts.iter().zip(elements::spans(&parts, text, span)) {
            match Object::parse(part) {
                Ok(object) => records.extend(self.read(span, part, &object)),
                Err(_) => {
                    let why = "expected a message, found another value";
                    records.push(TranscriptRecord::opaque(span, "element", why));
                }
            }
        }
        elements::with_rest(records, text, span)
    }

    fn header(&mut self, span: ByteSpan, info: &Object<'_>) -> TranscriptRecord {
        let mut record = TranscriptRecord::bookkeeping(span, "session");
        let times = info.object("time").unwrap_or_default();
        record.at = time::field(&times, "created").or_else(|| time::field(info, "time_created"));
        let id = info.word("id").unwrap_or_default();
        if self.own.is_none() {
            self.own = Some(id.clone());
        }
        if !std::mem::replace(&mut self.opened, true) {
            record.parent_session = info.word("parentID").or_else(|| info.word("parent_id"));
            record.push(RecordItem::opened("opencode", info.word("directory"), info.word("version")));
        }
        if let Some(title) = title_of(info) {
            let name = title_id(&id, &title);
            if !self.seen.contains(&name) {
                self.seen.insert(&name, 0);
                record.id = Some(name);
                let described = SessionDescribed { title: Some(title), tags: None };
                record.push(RecordItem::Fact(Box::new(Fact::SessionDescribed(described))));
            }
        }
        record
    }

    fn message(
        &mut self,
        span: ByteSpan,
        text: &str,
        info: &Object<'_>,
        parts: &[&RawValue],
    ) -> Vec<TranscriptRecord> {
        self.own = self.own.take().or_else(|| info.word("sessionID"));
        let mut speaker = Speaker::of(info, parts.is_empty());
        let mut records = Vec::new();
        for (index, value) in parts.iter().enumerate() {
            let place = elements::span_of(value.get(), text, span);
            speaker.is_last = index + 1 == parts.len();
            match Object::of(value) {
                Some(part) => records.extend(self.part(&mut speaker, place, (&part, value.get()), index)),
                None => {
                    let why = "expected a part of a message, found another value";
                    records.push(TranscriptRecord::opaque(place, "part", why));
                }
            }
        }
        // The data of the message stands before or after its parts. `settle` divides the text between them.
        let first = info.iter().next().map_or(text, |(_, value)| value.get());
        let place = elements::span_of(first, text, span);
        records.push(self.about(&speaker, place, info));
        self.settle(&mut records, span)
    }

    /// Reads the data of a message: what is known when the message has ended.
    fn about(&mut self, speaker: &Speaker, span: ByteSpan, info: &Object<'_>) -> TranscriptRecord {
        let mut record = TranscriptRecord::bookkeeping(span, &info.text("role").unwrap_or_default());
        let times = info.object("time").unwrap_or_default();
        record.at = time::field(&times, "completed").or(speaker.at);
        if speaker.role != Role::Assistant || !speaker.ended || self.seen.contains(&speaker.message) {
            return record;
        }
        let counts = info.object("tokens").and_then(|tokens| part::counts(&tokens));
        if let Some(counts) = counts.filter(|_| speaker.steps == 0) {
            let reply = speaker.reply(Vec::new());
            record.push(RecordItem::Usage(UsageMeasured::of(&reply, counts)));
        }
        let error = info.object("error");
        if let Some(error) = &error {
            let name = error.word("name").unwrap_or_default();
            let detail = error.object("data").and_then(|data| data.word("message"));
            let reason = if *name == *"MessageAbortedError" { "aborted" } else { "error" };
            record.push(RecordItem::turn(reason, Some(name).filter(|name| !name.is_empty()), detail));
        } else if let Some(summary) = speaker.summary.clone() {
            let begun = self.compaction.take();
            let tail = begun.as_ref().and_then(|begun| begun.tail.as_deref());
            let before = self.starts.iter().find(|(message, _)| Some(&**message) == tail);
            record.push(RecordItem::Compacted {
                from: None,
                before: before.map(|(_, record)| record.clone()),
                summary: Some(summary).filter(|summary| !summary.is_empty()),
                trigger: begun.map(|begun| if begun.is_auto { "auto".into() } else { "manual".into() }),
                tokens_before: counts.map(|[input, read, written, _]| Tokens(input + read + written)),
            });
        }
        if !record.items.is_empty() {
            record.id = Some(speaker.message.clone());
        }
        record
    }

    fn removed(&mut self, span: ByteSpan, id: &str) -> TranscriptRecord {
        let mut record = TranscriptRecord::bookkeeping(span, "removed");
        if self.rewinds.back_to(id) {
            record.kept = RecordStatus::Understood;
        }
        record
    }

    /// Drops what earlier lines contained, completes the other records of a message, and divides its text among them.
    fn settle(&mut self, records: &mut Vec<TranscriptRecord>, span: ByteSpan) -> Vec<TranscriptRecord> {
        records.retain(|record| !record.items.is_empty() || is_notable(record));
        if records.is_empty() {
            return vec![TranscriptRecord::bookkeeping(span, "repeated")];
        }
        records.sort_by_key(|record| record.offset);
        let ends: Vec<u64> = records.iter().skip(1).map(|record| record.offset).collect();
        let end = span.offset + span.len;
        for (number, record) in records.iter_mut().enumerate() {
            if number == 0 {
                (record.offset, record.line) = (span.offset, span.line);
            }
            record.len = ends.get(number).copied().unwrap_or(end).saturating_sub(record.offset);
            if let Some(id) = &record.id {
                self.seen.insert(id, 0);
            }
            if !record.items.is_empty() && !std::mem::replace(&mut self.opened, true) {
                record.open("opencode");
            }
        }
        std::mem::take(records)
    }

    /// Remembers the first record of a message.
    fn begins(&mut self, message: &str, record: &str) {
        if self.starts.back().is_some_and(|(last, _)| **last == *message) {
            return;
        }
        if self.starts.len() >= STARTS {
            self.starts.pop_front();
        }
        self.starts.push_back((message.into(), record.into()));
    }
}

/// Returns whether a record without content is more than bookkeeping.
fn is_notable(record: &TranscriptRecord) -> bool {
    !matches!(record.kept, RecordStatus::Bookkeeping)
}

/// Returns the title of a session, unless it is one that OpenCode gives to every session.
fn title_of(info: &Object<'_>) -> Option<Box<str>> {
    info.word("title").filter(|title| !UNTITLED.iter().any(|start| title.starts_with(start)))
}

fn title_id(session: &str, title: &str) -> Box<str> {
    format!("{session}/title/{:016x}", hash([title])).into()
}

/// Returns whether an object is a line of a session. A message without its parts says nothing, so a file with only
/// that is read like any other JSON.
pub(in crate::transcript) fn is_line(object: &Object<'_>) -> bool {
    let info = object.object("info").unwrap_or_default();
    let is_session = info.has("id") && info.has("directory") && (info.has("title") || info.has("slug"));
    is_session || info.has("sessionID") && info.has("role") || is_part(object)
}

fn is_part(object: &Object<'_>) -> bool {
    ["id", "messageID", "sessionID", "type"].iter().all(|key| object.has(key))
}
