//! The parts of a message of OpenCode.

use super::{BegunCompaction, OpenCode};
use crate::transcript::parsing::blocks::input;
use crate::transcript::parsing::object::{Object, position};
use crate::transcript::parsing::time;
use crate::transcript::record::{ByteSpan, RecordItem, TranscriptRecord};
use serde_json::value::RawValue;
use wunderblock_core::event::{SubagentOutcome, SubagentReturned, SubagentSpawned, UsageMeasured};
use wunderblock_core::id::CallId;
use wunderblock_core::message::{MediaForm, Message, MessageOrigin, Part, Role};
use wunderblock_core::units::Millis;

/// The message to which parts belong, as far as it has been read.
pub(super) struct Speaker {
    /// Id of the message.
    pub(super) message: Box<str>,
    pub(super) role: Role,
    pub(super) at: Option<Millis>,
    /// Whether the model has ended the message, so that none of its parts grows any more.
    pub(super) ended: bool,
    /// Whether the current part is the last one, which may still grow.
    pub(super) is_last: bool,
    /// Number of steps that have ended. Each step is a request with a reply.
    pub(super) steps: usize,
    /// Text of a summary, if the message is one.
    pub(super) summary: Option<String>,
    model: Option<Box<str>>,
    /// Whether a prompt of this message has been read.
    prompted: bool,
}

impl Speaker {
    pub(super) fn of(info: &Object<'_>, is_last: bool) -> Self {
        let times = info.object("time").unwrap_or_default();
        let role = if info.text("role").as_deref() == Some("user") { Role::User } else { Role::Assistant };
        let ends = ["error", "finish"].iter().any(|key| info.some(key).is_some());
        let model = info.object("model").unwrap_or_default();
        Self {
            message: info.word("id").unwrap_or_default(),
            at: time::field(&times, "created").or_else(|| time::field(info, "time_created")),
            ended: role == Role::User || ends || times.some("completed").is_some(),
            is_last,
            steps: 0,
            summary: (role == Role::Assistant && info.flag("summary")).then(String::new),
            model: info.word("modelID").or_else(|| model.word("modelID")),
            prompted: false,
            role,
        }
    }

    /// Returns a message of the model. The replies of later steps have other ids than the message.
    pub(super) fn reply(&self, parts: Vec<Part>) -> Message {
        let id = match self.steps {
            0 => self.message.clone(),
            step => format!("{}/{step}", self.message).into(),
        };
        let api_id = Some(id).filter(|id| !id.is_empty());
        Message { api_id, model: self.model.clone(), ..Message::new(Role::Assistant, parts) }
    }

    fn say(&self, part: Part) -> Message {
        match self.role {
            Role::User => Message::new(Role::User, vec![part]),
            _ => self.reply(vec![part]),
        }
    }
}

/// Returns the id of a part, or one made from its place in the message.
pub(super) fn id_of(part: &Object<'_>, message: &str, index: usize) -> Box<str> {
    part.word("id").unwrap_or_else(|| format!("{message}/part/{index}").into())
}

/// Returns the id of the record with a tool's result.
pub(super) fn result_id(part: &str) -> Box<str> {
    format!("{part}/result").into()
}

/// Returns the reported usage. `input` excludes the cache, and `output` excludes the reasoning.
pub(super) fn counts(tokens: &Object<'_>) -> Option<[u64; 4]> {
    let [input, output, reasoning] =
        ["input", "output", "reasoning"].map(|key| tokens.number(key).unwrap_or(0));
    let cache = tokens.object("cache").unwrap_or_default();
    let [read, written] = ["read", "write"].map(|key| cache.number(key).unwrap_or(0));
    let all = [input, read, written, output.saturating_add(reasoning)];
    (all != [0; 4]).then_some(all)
}

impl OpenCode {
    /// Reads a part. Returns a record without content for what an earlier line contained.
    pub(super) fn part(
        &mut self,
        speaker: &mut Speaker,
        span: ByteSpan,
        (part, text): (&Object<'_>, &str),
        index: usize,
    ) -> Vec<TranscriptRecord> {
        let kind = part.text("type").unwrap_or_default();
        let mut record = TranscriptRecord::bookkeeping(span, &kind);
        let times = part.object("time").unwrap_or_default();
        record.at = time::field(&times, "start").or(speaker.at);
        let id = id_of(part, &speaker.message, index);
        match &*kind {
            "text" => self.text(speaker, &mut record, part),
            "reasoning" => {
                let signature = part.object("metadata").and_then(|data| data.object("anthropic"));
                let signature = signature.and_then(|data| data.word("signature"));
                let thoughts = part.word("text").unwrap_or_default();
                if is_settled(speaker, part) && (signature.is_some() || !thoughts.is_empty()) {
                    let text = String::from(thoughts).into();
                    record.say(speaker.say(Part::Thinking { text, signature, extra: None }));
                }
            }
            "tool" => return self.tool(speaker, record, (part, text), &id),
            "file" => {
                if let Some(media) = media(part) {
                    record.say(speaker.say(media));
                }
            }
            "subtask" => {
                let prompt = part.word("prompt").unwrap_or_default();
                let message = Message::text(Role::User, String::from(prompt));
                record.say(message.standing(MessageOrigin::Injected("subtask".into())));
            }
            "step-finish" => {
                if let Some(counts) = part.object("tokens").and_then(|tokens| counts(&tokens)) {
                    record.push(RecordItem::Usage(UsageMeasured::of(&speaker.reply(Vec::new()), counts)));
                }
                speaker.steps += 1;
            }
            "compaction" => {
                let (is_auto, tail) = (part.flag("auto"), part.word("tail_start_id"));
                self.compaction = Some(BegunCompaction { is_auto, tail });
            }
            "step-start" | "snapshot" | "patch" | "agent" | "retry" => {}
            _ => {
                record.set_opaque(format!("unknown part of OpenCode: `{kind}`"));
                record.id = Some(id.clone());
                if let Some(text) = part.word("text") {
                    record.items.push(RecordItem::Message(speaker.say(Part::text(String::from(text)))));
                }
            }
        }
        self.give(speaker, record, id).into_iter().collect()
    }

    /// Completes a record with content. Returns `None` if an earlier line contained it.
    fn give(
        &mut self,
        speaker: &mut Speaker,
        mut record: TranscriptRecord,
        id: Box<str>,
    ) -> Option<TranscriptRecord> {
        if record.items.is_empty() {
            return Some(record);
        }
        if self.seen.contains(&id) {
            return None;
        }
        self.begins(&speaker.message, &id);
        let is_first = !std::mem::replace(&mut speaker.prompted, true);
        let name = if is_first && !speaker.message.is_empty() { speaker.message.clone() } else { id.clone() };
        self.rewinds.continue_with(&mut record, Some(&name));
        record.id = Some(id);
        Some(record)
    }

    fn text(&mut self, speaker: &mut Speaker, record: &mut TranscriptRecord, part: &Object<'_>) {
        let text = part.word("text").unwrap_or_default();
        if !is_settled(speaker, part) || text.is_empty() {
            return;
        }
        if let Some(summary) = &mut speaker.summary {
            if !summary.is_empty() {
                summary.push('\n');
            }
            summary.push_str(&text);
            return;
        }
        let message = speaker.say(Part::text(String::from(text)));
        record.say(if part.flag("ignored") {
            message.standing(MessageOrigin::Aside("ignored".into()))
        } else if part.flag("synthetic") {
            message.standing(MessageOrigin::Injected("synthetic".into()))
        } else {
            message
        });
    }

    /// Reads a call and its result, which are two records: the result is written later.
    fn tool(
        &mut self,
        speaker: &mut Speaker,
        mut called: TranscriptRecord,
        (part, text): (&Object<'_>, &str),
        id: &str,
    ) -> Vec<TranscriptRecord> {
        let state = part.object("state").unwrap_or_default();
        let status = state.text("status").unwrap_or_default();
        let times = state.object("time").unwrap_or_default();
        called.at = time::field(&times, "start").or(called.at);
        // The input of a call that is pending is not complete.
        if status == "pending" && !speaker.ended {
            return vec![called];
        }
        let call = CallId(part.word("callID").unwrap_or_else(|| id.into()));
        let name = part.word("tool").unwrap_or_default();
        let arguments = state.some("input").map_or_else(|| "{}".to_owned(), input).into();
        let made = Part::ToolCall { call: call.clone(), name, input: arguments, gist: None, extra: None };
        called.say(speaker.reply(vec![made]));
        let mut result = result_of(&called, &state, text, &status);
        let delegated = match part.text("tool").as_deref() {
            Some("task") => delegated(&state, &call, &status),
            _ => Vec::new(),
        };
        if let Some(result) = &mut result {
            let content = content_of(&state, &status);
            let told = Part::ToolResult { call, content, failed: status == "error", extra: None };
            result.push(RecordItem::Message(Message::new(Role::Tool, vec![told])));
            result.items.extend(delegated);
        }
        let called = self.give(speaker, called, id.into());
        let result = result.and_then(|result| self.give(speaker, result, result_id(id)));
        called.into_iter().chain(result).collect()
    }
}

/// Returns the start and the end of a sub-agent's work, as a call of the tool `task` reports them.
fn delegated(state: &Object<'_>, call: &CallId, status: &str) -> Vec<RecordItem> {
    let data = state.object("metadata").unwrap_or_default();
    let Some(spawned) = data.word("sessionId").and_then(|session| RecordItem::spawned(&session)) else {
        return Vec::new();
    };
    let outcome = match (status, state.text("error").as_deref()) {
        ("error", Some("Tool execution aborted")) => SubagentOutcome::Stopped,
        ("error", _) => SubagentOutcome::Failed,
        _ => SubagentOutcome::Done,
    };
    let times = state.object("time").unwrap_or_default();
    let millis =
        times.number("end").zip(times.number("start")).and_then(|(end, start)| end.checked_sub(start));
    let input = state.object("input").unwrap_or_default();
    let returned = SubagentReturned {
        call: Some(call.clone()),
        model: data.object("model").and_then(|model| model.word("modelID")),
        millis,
        ..SubagentReturned::new(spawned.session.clone(), outcome)
    };
    let (call, agent) = (Some(call.clone()), input.word("subagent_type"));
    let spawned = SubagentSpawned { call, agent, ..spawned };
    vec![RecordItem::Spawned(Box::new(spawned)), RecordItem::Returned(Box::new(returned))]
}

/// Returns whether a text does not grow any more.
fn is_settled(speaker: &Speaker, part: &Object<'_>) -> bool {
    let times = part.object("time").unwrap_or_default();
    speaker.ended || !speaker.is_last || times.some("end").is_some()
}

/// Returns an empty record for the result of a call that has ended. It begins at the result's text.
fn result_of(
    called: &TranscriptRecord,
    state: &Object<'_>,
    text: &str,
    status: &str,
) -> Option<TranscriptRecord> {
    let from = match status {
        "completed" => state.get("output").or_else(|| state.get("status")),
        "error" => state.get("error").or_else(|| state.get("status")),
        _ => None,
    };
    let at = position(from?.get(), text) as u64;
    let span = ByteSpan { offset: called.offset + at, len: called.len.saturating_sub(at), line: called.line };
    let mut record = TranscriptRecord::bookkeeping(span, "tool result");
    record.at = state.object("time").and_then(|times| time::field(&times, "end")).or(called.at);
    Some(record)
}

fn content_of(state: &Object<'_>, status: &str) -> Vec<Part> {
    let data = state.object("metadata").unwrap_or_default();
    // What a command had written when it was interrupted is in its metadata.
    let kept = data.word("output").filter(|_| data.flag("interrupted"));
    let text = match status {
        "error" => kept.or_else(|| state.word("error")),
        _ => state.word("output"),
    };
    let files = state.array("attachments").unwrap_or_default().into_iter();
    let text = text.map(|text| Part::text(String::from(text)));
    text.into_iter().chain(files.filter_map(|file: &RawValue| media(&Object::of(file)?))).collect()
}

/// Returns an image or a document. A file that OpenCode only names has been read into another part.
fn media(part: &Object<'_>) -> Option<Part> {
    let url = part.text("url")?;
    let mime = part.word("mime").unwrap_or_default();
    if let Some((_, data)) = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
        let body = data.to_owned().into();
        return Some(Part::Media { mime, form: MediaForm::Base64, body, extra: None });
    }
    let is_remote = url.starts_with("http://") || url.starts_with("https://");
    is_remote.then(|| Part::Media { mime, form: MediaForm::Url, body: url.into_owned().into(), extra: None })
}
