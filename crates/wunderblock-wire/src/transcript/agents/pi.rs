//! pi and OpenClaw sessions: JSONL. Version 1 is a sequence, and versions 2 and 3 are a tree over `parentId`.

pub(in crate::transcript) mod writer;

use crate::transcript::logs::generic;
use crate::transcript::parsing::blocks::{self, Blocks, CallPairing, first_word};
use crate::transcript::parsing::object::Object;
use crate::transcript::parsing::seen::SeenIds;
use crate::transcript::parsing::time;
use crate::transcript::record::{ByteSpan, RecordItem, RecordPlace, RecordStatus, TranscriptRecord};
use serde::{Deserialize, Serialize};
use wunderblock_core::event::UsageMeasured;
use wunderblock_core::message::{Dialect, Message, MessageOrigin, Part, Role};
use wunderblock_core::units::Tokens;

/// Record types, and what is read from each of them.
pub(in crate::transcript) const RECORD_TYPES: &[(&str, &str)] = &[
    ("session", "opening of the session"),
    ("message:user", "message"),
    ("message:assistant", "message, usage"),
    ("message:toolResult", "tool result"),
    ("message:system", "system message"),
    ("message:bashExecution", "injected message: a command the person ran"),
    ("message:custom", "injected message"),
    ("message:hookMessage", "injected message"),
    ("message:branchSummary", "injected message"),
    ("message:compactionSummary", "injected message"),
    ("compaction", "compaction"),
    ("branch_summary", "injected message"),
    ("custom_message", "injected message"),
    ("custom", "kept in the source"),
    ("label", "kept in the source"),
    ("model_change", "kept in the source"),
    ("session_info", "title of the session"),
    ("thinking_level_change", "kept in the source"),
];

/// Type of an entry with a message that an extension adds, and the beginning of the name of its text.
const CUSTOM_MESSAGE: &str = "custom_message";

/// Reasons for which a model stops, except errors.
const STOPS: [&str; 3] = ["length", "stop", "toolUse"];

/// State of a file that is being read.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::transcript) struct Pi {
    own: Option<Box<str>>,
    version: Option<u64>,
    opened: bool,
    /// Whether the conversation has begun. Injected messages do not begin the conversation.
    begun: bool,
    /// This field is not part of a checkpoint, because it grows with the file.
    #[serde(skip)]
    pub(in crate::transcript) seen: SeenIds,
    pairing: CallPairing,
    /// Number of records read. Version 1 numbers its records, and later versions have ids.
    records: u64,
}

impl Pi {
    pub(in crate::transcript) fn session(&self) -> Option<&str> {
        self.own.as_deref()
    }

    /// Returns the id of the earlier record that determines a record's place, if that earlier record is unknown.
    pub(in crate::transcript) fn unknown(&self, object: &Object<'_>) -> Option<Box<str>> {
        let id = object.word("parentId").filter(|_| object.text("type").as_deref() != Some("session"))?;
        (!self.seen.contains(&id)).then_some(id)
    }

    pub(in crate::transcript) fn read(&mut self, span: ByteSpan, object: &Object<'_>) -> TranscriptRecord {
        let kind = object.text("type").unwrap_or_default();
        let mut record = TranscriptRecord::bookkeeping(span, &kind);
        record.at = time::field(object, "timestamp");
        if kind == "session" {
            self.header(&mut record, object);
        } else {
            self.place(&mut record, object);
            self.entry(&mut record, object, &kind);
        }
        if let Some(id) = &record.id {
            self.seen.insert(id, 0);
        }
        self.records += 1;
        self.complete(&mut record);
        record
    }

    fn header(&mut self, record: &mut TranscriptRecord, object: &Object<'_>) {
        record.kept = RecordStatus::Understood;
        if self.own.is_some() {
            return;
        }
        self.own = object.word("id");
        self.version = object.number("version");
        self.opened = true;
        record.items.push(RecordItem::opened("pi", object.word("cwd"), None));
    }

    fn place(&mut self, record: &mut TranscriptRecord, object: &Object<'_>) {
        record.id = object.word("id");
        if record.id.is_none() && self.version.unwrap_or(1) < 2 {
            record.id = Some(numbered(self.records));
        }
        let parent = object.word("parentId");
        record.place = match parent {
            // Some writers put a tool call's id in this field, or an id that is not in the file.
            Some(parent) if self.seen.contains(&parent) => RecordPlace::After(parent),
            Some(parent) if self.own.as_ref() != Some(&parent) => RecordPlace::Next,
            _ if object.has("parentId") && self.begun => RecordPlace::Root,
            _ => RecordPlace::Next,
        };
    }

    fn entry(&mut self, record: &mut TranscriptRecord, object: &Object<'_>, kind: &str) {
        match kind {
            "message" => match object.object("message") {
                Some(message) => self.message(record, &message),
                None => record.set_opaque("a message entry without a message"),
            },
            "compaction" => record.push(RecordItem::Compacted {
                from: None,
                before: object
                    .word("firstKeptEntryId")
                    .or_else(|| object.number("firstKeptEntryIndex").map(numbered)),
                summary: object.word("summary").map(String::from),
                trigger: object.flag("fromHook").then(|| "hook".into()),
                tokens_before: object.number("tokensBefore").map(Tokens),
            }),
            "branch_summary" => self.injected(record, object, "branch_summary"),
            CUSTOM_MESSAGE => {
                let tag = format!("{CUSTOM_MESSAGE}:{}", object.text("customType").unwrap_or_default());
                self.injected(record, object, &tag);
            }
            "session_info" => {
                if let Some(name) = object.text("name") {
                    record.push(RecordItem::titled(&name));
                }
            }
            "custom" | "label" | "model_change" | "thinking_level_change" => {}
            _ => {
                record.set_opaque(format!("unknown entry of pi: `{kind}`"));
                generic::read_message(object, &mut self.pairing, record);
            }
        }
    }

    fn message(&mut self, record: &mut TranscriptRecord, said: &Object<'_>) {
        let role = said.text("role").unwrap_or_default();
        record.kind = format!("message:{role}").into();
        record.at = record.at.or_else(|| time::field(said, "timestamp"));
        let base = record.id_base();
        let mut blocks = Blocks::new(Dialect::Neutral, &mut self.pairing, &base);
        match role.as_ref() {
            "user" | "system" => {
                let role = if role == "user" { Role::User } else { Role::System };
                record.say(Message::new(role, blocks.content(said.get("content"))));
            }
            "assistant" => {
                let parts = blocks.content(said.get("content"));
                let message = assistant(said, parts);
                let usage = usage(said, &message);
                record.say(message);
                record.items.extend(usage.map(RecordItem::Usage));
            }
            "toolResult" => {
                let result = Part::ToolResult {
                    call: blocks.result_id(said.word("toolCallId")),
                    content: blocks.content(said.get("content")),
                    failed: said.flag("isError"),
                    extra: None,
                };
                record.say(Message::new(Role::Tool, vec![result]));
            }
            "bashExecution" => record.say(ran(said)),
            "custom" | "hookMessage" | "branchSummary" | "compactionSummary" => {
                let tag = said.word("customType").unwrap_or_else(|| role.as_ref().into());
                self.injected(record, said, &tag);
            }
            _ => {
                record.set_opaque(format!("unknown role of pi: `{role}`"));
                generic::read_message(said, &mut self.pairing, record);
            }
        }
    }

    fn injected(&mut self, record: &mut TranscriptRecord, object: &Object<'_>, tag: &str) {
        let base = record.id.clone().unwrap_or_default();
        let mut blocks = Blocks::new(Dialect::Neutral, &mut self.pairing, &base);
        let parts = blocks.content(object.get("content").or_else(|| object.get("summary")));
        record.say(Message::new(Role::User, parts).standing(MessageOrigin::Injected(tag.into())));
    }

    fn complete(&mut self, record: &mut TranscriptRecord) {
        if record.items.is_empty() {
            return;
        }
        if !std::mem::replace(&mut self.opened, true) {
            record.open("pi");
        }
        self.begun |= record.items.iter().any(
            |item| matches!(item, RecordItem::Message(said) if matches!(said.standing, MessageOrigin::Said)),
        );
    }
}

/// Returns the id made for a record of version 1 from its number in the file. The header has the number 0.
fn numbered(index: u64) -> Box<str> {
    format!("entry-{index}").into()
}

fn assistant(said: &Object<'_>, parts: Vec<Part>) -> Message {
    let stop = said.word("stopReason");
    let standing = match stop.as_deref() {
        Some("error" | "aborted") => {
            let why = said.word("errorMessage").or_else(|| stop.clone());
            MessageOrigin::Failed(why.unwrap_or_default())
        }
        _ if blocks::is_silent(&parts) => MessageOrigin::Aside("nothing was said".into()),
        _ => MessageOrigin::Said,
    };
    Message {
        role: Role::Assistant,
        parts,
        standing,
        api_id: first_word(said, &["responseId"]),
        model: said.word("model"),
        stop,
        extra: None,
        authors: None,
    }
}

/// Returns the reported usage. `input` excludes tokens from the cache. A report with only zeros belongs to a request
/// that never ran.
fn usage(said: &Object<'_>, message: &Message) -> Option<UsageMeasured> {
    let usage = said.object("usage")?;
    let keys = ["input", "cacheRead", "cacheWrite", "output"];
    let counts = keys.map(|key| usage.number(key).unwrap_or(0));
    (counts != [0; 4]).then(|| UsageMeasured::of(message, counts))
}

/// Returns a command that the person ran, as a message for the model.
fn ran(said: &Object<'_>) -> Message {
    let command = said.text("command").unwrap_or_default();
    let output = said.text("output").unwrap_or_default();
    let mut text = format!("$ {command}\n{output}");
    if let Some(code) = said.number("exitCode").filter(|code| *code != 0) {
        text.push_str(&format!("\n(exit code {code})"));
    }
    let standing = if said.flag("excludeFromContext") {
        MessageOrigin::Aside("excluded from the context".into())
    } else {
        MessageOrigin::Injected("bash".into())
    };
    Message::text(Role::User, text).standing(standing)
}

/// Returns whether a line has a type or a message that only pi writes.
pub(in crate::transcript) fn is_line(kind: &str, message: &Object<'_>, has: &dyn Fn(&str) -> bool) -> bool {
    let role = message.text("role").unwrap_or_default();
    matches!(kind, "thinking_level_change" | "branch_summary" | "custom_message")
        || (kind == "model_change" && has("provider"))
        || (kind == "compaction" && has("tokensBefore"))
        || (kind == "message"
            && (matches!(role.as_ref(), "toolResult" | "bashExecution") || message.has("stopReason")))
}
