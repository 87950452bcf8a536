//! Sessions of agents that write one event per line, read by a table of their record types ([`Layout`]).

mod layout;

pub(in crate::transcript) use layout::Layout;

use crate::json::RawFields;
use crate::transcript::format::Format;
use crate::transcript::logs::generic;
use crate::transcript::parsing::blocks::{Blocks, CallPairing, first, first_word};
use crate::transcript::parsing::object::{Object, array};
use crate::transcript::parsing::seen::{SeenIds, hash};
use crate::transcript::parsing::time;
use crate::transcript::record::{ByteSpan, RecordItem, RecordPlace, RecordStatus, TranscriptRecord};
use layout::{Reads, Rule};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeSet;
use wunderblock_core::event::UsageMeasured;
use wunderblock_core::message::{Dialect, Message, MessageOrigin, Part, Role};
use wunderblock_core::units::Tokens;

/// Fields that contain text, blocks or parts.
const CONTENTS: [&str; 5] = ["content", "parts", "text", "finalText", "part"];

/// Fields of a usage object: uncached input, cache reads, cache writes, output.
const USAGES: [[&str; 4]; 2] =
    [crate::anthropic::USAGE, ["inputOther", "inputCacheRead", "inputCacheCreation", "output"]];

/// Elements in which Antigravity puts what a person typed, before data that the program adds.
const TYPED: [&str; 2] = ["<USER_REQUEST>", "</USER_REQUEST>"];

/// State of a file that is being read.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::transcript) struct EventLog {
    #[serde(skip)]
    layout: Option<&'static Layout>,
    own: Option<Box<str>>,
    /// Sessions that have been opened. The file's own session has an empty name.
    opened: BTreeSet<Box<str>>,
    model: Option<Box<str>>,
    pairing: CallPairing,
    /// Id in the latest record that has one, and the number of records with it in a row.
    last: Option<(Box<str>, usize)>,
    /// Whether that record has no content and follows an earlier record, so that the next one does not follow it in
    /// the file.
    beside: bool,
    /// Hash of the latest system text.
    system: Option<u64>,
    /// This field is not part of a checkpoint, because it grows with the file.
    #[serde(skip)]
    pub(in crate::transcript) seen: SeenIds,
}

impl EventLog {
    /// Creates the state for a layout. Without a layout, every record is kept in the source.
    pub(in crate::transcript) fn new(layout: Option<&'static Layout>) -> Self {
        Self {
            layout,
            own: None,
            opened: BTreeSet::new(),
            model: None,
            pairing: CallPairing::default(),
            last: None,
            beside: false,
            system: None,
            seen: SeenIds::default(),
        }
    }

    /// Completes a state read from a checkpoint.
    pub(in crate::transcript) fn restored(self, format: Format) -> Self {
        Self { layout: Layout::of(format), ..self }
    }

    pub(in crate::transcript) fn session(&self) -> Option<&str> {
        self.own.as_deref()
    }

    /// Returns the id of the earlier record that determines a record's place, if that earlier record is unknown.
    pub(in crate::transcript) fn unknown(&self, object: &Object<'_>) -> Option<Box<str>> {
        self.parent(object).filter(|id| self.seen.get(id).is_none())
    }

    fn parent(&self, object: &Object<'_>) -> Option<Box<str>> {
        object.word(self.layout?.tree[1])
    }

    pub(in crate::transcript) fn read(&mut self, span: ByteSpan, object: &Object<'_>) -> TranscriptRecord {
        let Some(layout) = self.layout else { return TranscriptRecord::bookkeeping(span, "") };
        let kind = kind_of(object, layout);
        let mut record = TranscriptRecord::bookkeeping(span, &kind);
        record.at = ["timestamp", "time", "created_at"].iter().find_map(|key| time::field(object, key));
        self.model = first_word(object, &["modelAlias", "model"]).or_else(|| self.model.take());
        match layout.rule(&kind) {
            Some(rule) => {
                self.place(&mut record, object, rule.reads);
                self.event(&mut record, object, rule);
            }
            None => {
                record.set_opaque(format!("unknown record of {}: `{kind}`", layout.format.name()));
                generic::read_message(object, &mut self.pairing, &mut record);
                record.id = None;
            }
        }
        if record.id.is_some() {
            self.beside = record.items.is_empty() && record.place != RecordPlace::Next;
        }
        self.complete(&mut record, object, layout);
        record
    }

    /// Gives a record its id and its place.
    fn place(&mut self, record: &mut TranscriptRecord, object: &Object<'_>, reads: Reads) {
        let Some(layout) = self.layout else { return };
        // The id of a call is the id of its result, too.
        let id = object
            .word(layout.tree[0])
            .filter(|_| !matches!(reads, Reads::Call | Reads::Result) || object.has(layout.tree[1]));
        let is_after =
            |last: &Option<(Box<str>, usize)>, id: &str| last.as_ref().is_some_and(|(last, _)| **last == *id);
        let Some(id) = id else { return };
        if is_after(&self.last, &id) {
            // Another piece of the same message.
            let count = self.last.as_ref().map_or(1, |(_, count)| count + 1);
            record.id = Some(format!("{id}/{count}").into());
            self.last = Some((id, count));
            return;
        }
        record.place = match self.parent(object) {
            Some(parent) if is_after(&self.last, &parent) && !self.beside => RecordPlace::Next,
            Some(parent) if self.seen.contains(&parent) => RecordPlace::After(parent),
            None if object.has(layout.tree[1]) && self.last.is_some() => RecordPlace::Root,
            _ => RecordPlace::Next,
        };
        self.seen.insert(&id, 0);
        self.last = Some((id.clone(), 1));
        record.id = Some(id);
    }

    fn event(&mut self, record: &mut TranscriptRecord, object: &Object<'_>, rule: &Rule) {
        let inner = object.object(rule.path).unwrap_or_else(|| object.clone());
        match rule.reads {
            Reads::Nothing => {}
            Reads::Opening => record.kept = RecordStatus::Understood,
            Reads::Message => match inner.text("role").as_deref() {
                Some("user") => self.prompt(record, object, &inner),
                Some("assistant") => self.reply(record, object, &inner),
                Some("system") => self.plain(record, &inner, Role::System),
                _ => record.set_opaque("a message without a known role"),
            },
            Reads::Prompt => self.prompt(record, object, &inner),
            Reads::System => self.plain(record, &inner, Role::System),
            Reads::Settings => self.settings(record, &inner),
            Reads::Reply | Reads::Block => self.reply(record, object, &inner),
            Reads::Call => {
                let base = record.id_base();
                let call = Blocks::new(Dialect::Neutral, &mut self.pairing, &base).tool_call(&inner);
                match call {
                    Some(call) => self.said(record, &inner, vec![call]),
                    None => record.set_opaque("a call without the name of its tool"),
                }
            }
            Reads::Result => self.result(record, &inner),
            Reads::Injected => {
                self.plain(record, &inner, Role::User);
                inject(record, &rule.kind.to_lowercase());
            }
            Reads::Usage => {
                let step =
                    Message { api_id: inner.word("uuid"), ..self.message(Role::Assistant, Vec::new()) };
                record.items.extend(usage(&inner, &step).map(RecordItem::Usage));
                record.kept = RecordStatus::Understood;
            }
            Reads::Compaction => record.push(RecordItem::Compacted {
                from: None,
                before: None,
                summary: first_word(&inner, &["summary", "content"]).map(String::from),
                trigger: None,
                tokens_before: inner.number("tokensBefore").map(Tokens),
            }),
            Reads::Failure => {
                let detail = first_word(&inner, &["message", "content", "error"]);
                record.push(RecordItem::turn("error", inner.word("source"), detail));
            }
            Reads::Thought => {
                let mut text = String::new();
                generic::gather_fields(&inner, &["summary", "content", "text"], &mut text);
                let part = Part::Thinking { text: text.into(), signature: None, extra: None };
                self.said(record, &inner, vec![part]);
            }
        }
    }

    fn message(&self, role: Role, parts: Vec<Part>) -> Message {
        let model = self.model.clone().filter(|_| role == Role::Assistant);
        Message { model, ..Message::new(role, parts) }
    }

    fn content(&mut self, base: &str, value: Option<&RawValue>) -> Vec<Part> {
        let parts = Blocks::new(Dialect::Neutral, &mut self.pairing, base).content(value);
        parts
            .into_iter()
            .filter(|part| !matches!(part, Part::Text { text, .. } if text.bytes().0 == 0))
            .collect()
    }

    fn plain(&mut self, record: &mut TranscriptRecord, inner: &Object<'_>, role: Role) {
        let parts = self.content(&record.id_base(), first(inner, &CONTENTS));
        let message = self.message(role, parts);
        record.say(message);
    }

    /// Reads a person's message. What the program adds to it is an injected message.
    fn prompt(&mut self, record: &mut TranscriptRecord, object: &Object<'_>, inner: &Object<'_>) {
        let parts = self.content(&record.id_base(), first(inner, &CONTENTS));
        let (results, parts): (Vec<Part>, Vec<Part>) =
            parts.into_iter().partition(|part| matches!(part, Part::ToolResult { .. }));
        if !results.is_empty() {
            record.push(RecordItem::Message(Message::new(Role::Tool, results)));
        }
        let shown = object.object("systemPayload").and_then(|payload| payload.word("displayText"));
        let (typed, added) = split_typed(parts, shown.as_deref());
        if !added.is_empty() {
            let context = MessageOrigin::Injected("context".into());
            record.say(Message::new(Role::User, added).standing(context));
        }
        if !typed.is_empty() {
            record.say(Message::new(Role::User, typed));
        }
        let origin = inner.object("origin").and_then(|origin| origin.word("kind"));
        if let Some(what) = inner.word("synthetic_reason").or(origin.filter(|kind| **kind != *"user")) {
            inject(record, &what);
        }
        record.kept = RecordStatus::Understood;
    }

    /// Reads a message of the model: its reasoning, its text and its calls.
    fn reply(&mut self, record: &mut TranscriptRecord, object: &Object<'_>, inner: &Object<'_>) {
        let base = record.id_base();
        let mut parts: Vec<Part> = Vec::new();
        if let Some(text) = inner.word("thinking") {
            parts.push(Part::Thinking { text: String::from(text).into(), signature: None, extra: None });
        }
        parts.extend(self.content(&base, first(inner, &CONTENTS)));
        let calls = first(inner, &["tool_calls", "toolCalls"]).and_then(array).unwrap_or_default();
        let mut blocks = Blocks::new(Dialect::Neutral, &mut self.pairing, &base);
        parts.extend(calls.into_iter().filter_map(Object::of).filter_map(|call| blocks.tool_call(&call)));
        self.said(record, object, parts);
        if let Some(RecordItem::Message(message)) = record.items.last() {
            let usage = usage(object, message);
            record.items.extend(usage.map(RecordItem::Usage));
        }
    }

    /// Adds a message of the model. Records with the same id of a step or a message are pieces of one reply.
    fn said(&mut self, record: &mut TranscriptRecord, object: &Object<'_>, parts: Vec<Part>) {
        let mut message = self.message(Role::Assistant, parts);
        message.model = object.word("model_id").or(message.model);
        let event = object.object("event").unwrap_or_default();
        message.api_id = object.word("stepUuid").or_else(|| event.word("stepUuid"));
        if message.parts.is_empty() {
            message = message.standing(MessageOrigin::Aside("nothing was said".into()));
        }
        record.say(message);
    }

    fn result(&mut self, record: &mut TranscriptRecord, inner: &Object<'_>) {
        let base = record.id_base();
        let is_wrapped = inner.array("parts").is_some();
        let parts = if is_wrapped {
            self.content(&base, inner.get("parts"))
        } else {
            vec![Blocks::new(Dialect::Neutral, &mut self.pairing, &base).tool_result(inner)]
        };
        record.push(RecordItem::Message(Message::new(Role::Tool, parts)));
    }

    /// Reads the system text, unless it is the one that is already known.
    fn settings(&mut self, record: &mut TranscriptRecord, inner: &Object<'_>) {
        let Some(text) = inner.word("systemPrompt") else { return };
        if self.system.replace(hash([&*text])) != Some(hash([&*text])) {
            record.say(Message::text(Role::System, String::from(text)));
        }
    }

    /// Assigns a record to its session, and opens the session.
    fn complete(&mut self, record: &mut TranscriptRecord, object: &Object<'_>, layout: &Layout) {
        let is_header = layout.rule(&record.kind).is_some_and(|rule| rule.reads == Reads::Opening);
        let named = first_word(object, layout.session)
            .or_else(|| object.word(layout.tree[0]).filter(|_| is_header && !layout.session.is_empty()));
        if self.own.is_none() {
            self.own.clone_from(&named);
        }
        record.session = named.filter(|named| self.own.as_ref() != Some(named));
        let has_content = !record.items.is_empty() || is_header;
        if has_content && self.opened.insert(record.session.clone().unwrap_or_default()) {
            let opened = RecordItem::opened(layout.format.name(), object.word("cwd"), object.word("version"));
            record.items.insert(0, opened);
        }
    }
}

/// Returns the type of a record: the texts of one or two fields, with a colon between.
fn kind_of(object: &Object<'_>, layout: &Layout) -> String {
    let texts = layout.kind.iter().filter_map(|key| match key.split_once('.') {
        Some((outer, inner)) => object.object(outer)?.word(inner),
        None => object.word(key),
    });
    texts.map(String::from).collect::<Vec<_>>().join(":")
}

/// Marks the messages of a record as written by the program.
fn inject(record: &mut TranscriptRecord, what: &str) {
    for item in &mut record.items {
        if let RecordItem::Message(message) = item {
            message.standing = MessageOrigin::Injected(what.into());
        }
    }
}

/// Splits the parts of a prompt into those that a person typed and those that the program added. `shown` is the text
/// that the program showed as the prompt.
fn split_typed(parts: Vec<Part>, shown: Option<&str>) -> (Vec<Part>, Vec<Part>) {
    let (mut typed, mut added) = (Vec::new(), Vec::new());
    for part in parts {
        let text = match &part {
            Part::Text { text, .. } => text.inline().unwrap_or_default(),
            _ => {
                typed.push(part);
                continue;
            }
        };
        let marked = text.split_once(TYPED[0]).and_then(|(before, rest)| {
            let (inside, after) = rest.split_once(TYPED[1])?;
            Some((inside.trim().to_owned(), [before.trim(), after.trim()].join("\n").trim().to_owned()))
        });
        match marked {
            Some((inside, around)) => {
                typed.push(Part::text(inside));
                added.extend(Some(around).filter(|around| !around.is_empty()).map(Part::text));
            }
            None if shown.is_some_and(|shown| shown != text) => added.push(part),
            None => typed.push(part),
        }
    }
    // A prompt that is shown in other words is still the person's.
    if typed.is_empty() { (added, typed) } else { (typed, added) }
}

/// Returns the usage in a record.
fn usage(object: &Object<'_>, message: &Message) -> Option<UsageMeasured> {
    if let Some(usage) = object.get("usageMetadata").and_then(RawFields::of).filter(|usage| usage.len() > 0) {
        return Some(crate::gemini::usage(&usage, message));
    }
    let usage = object.object("usage")?;
    let names = USAGES.iter().find(|names| names.iter().any(|name| usage.has(name)))?;
    Some(UsageMeasured::of(message, names.map(|name| usage.number(name).unwrap_or(0))))
}

/// Returns whether a line belongs to a stream of Droid.
pub(in crate::transcript) fn is_droid_stream(kind: &str, has: &dyn Fn(&str) -> bool) -> bool {
    let has_session = has("session_id") || has("sessionId");
    match kind {
        "message" => has_session && has("role") && has("text"),
        "tool_call" => has_session && has("toolName"),
        "tool_result" => has_session && has("value"),
        "completion" => has("finalText"),
        _ => false,
    }
}

/// Returns whether a line belongs to a session of Grok.
pub(in crate::transcript) fn is_grok(kind: &str, has: &dyn Fn(&str) -> bool) -> bool {
    match kind {
        "user" => has("content") && (has("prompt_index") || has("synthetic_reason")),
        "assistant" => has("content") && has("model_id"),
        "backend_tool_call" => has("kind"),
        _ => false,
    }
}
