//! SWE-agent trajectories: one JSON document per run.
//!
//! `history` contains the messages that the model saw: a demonstration and the output of the environment have the
//! user's role, and a command is part of the reply's text unless the model called a function. `trajectory` contains
//! the same steps again, with the state after each. The format is described in SWE-agent's documentation
//! (`docs/usage/trajectories.md`). The file is written again after each step, so ids follow from the content.

use crate::transcript::parsing::blocks::{Blocks, CallPairing, first_word};
use crate::transcript::parsing::object::{Object, position, quoted, string};
use crate::transcript::parsing::{chain, elements};
use crate::transcript::record::{ByteSpan, RecordItem, TranscriptRecord};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use wunderblock_core::id::CallId;
use wunderblock_core::message::{Dialect, Message, MessageOrigin, Part, Role};

/// Record types, and what is read from each of them.
pub(in crate::transcript) const RECORD_TYPES: &[(&str, &str)] = &[
    ("system", "system message"),
    (
        "user",
        "the task; later, the result of the command in the reply before, or an injected message without one",
    ),
    ("assistant", "message; the command is a call"),
    ("tool", "tool result"),
    ("demonstration", "injected message"),
    ("step", "message and tool result, if the file has no `history`"),
    ("info", "end of the run"),
    (
        "document",
        "kept in the source: `trajectory`, `environment`, `replay_config` and other data around the messages",
    ),
];

/// Name of the tool that runs a command which the model wrote as text.
const SHELL: &str = "bash";

/// State of a file that is being read.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::transcript) struct SweAgent {
    own: Option<Box<str>>,
}

impl SweAgent {
    pub(in crate::transcript) fn session(&self) -> Option<&str> {
        self.own.as_deref()
    }

    /// Reads a run.
    pub(in crate::transcript) fn read(&mut self, span: ByteSpan, text: &str) -> Vec<TranscriptRecord> {
        let run = Object::parse(text).unwrap_or_default();
        let filled = |key| run.array(key).filter(|list| !list.is_empty());
        let (list, is_history) = match (filled("history"), filled("trajectory")) {
            (Some(history), _) => (history, true),
            (None, Some(steps)) => (steps, false),
            (None, None) => {
                return vec![TranscriptRecord::opaque(span, "document", "a run without messages")];
            }
        };
        let parts: Vec<&str> = list.iter().map(|element| element.get()).collect();
        let mut reading = Reading { model: model(&run), ..Reading::default() };
        let mut records: Vec<TranscriptRecord> = Vec::new();
        for (element, span) in list.iter().zip(elements::spans(&parts, text, span)) {
            let mut record = TranscriptRecord::bookkeeping(span, "element");
            match Object::of(element) {
                Some(object) if is_history => reading.message(&mut record, &object),
                Some(object) => reading.step(&mut record, &object),
                None => record.set_opaque("expected a message, found another value"),
            }
            records.push(record);
        }
        let ended = run.get("info").and_then(|info| end(info, elements::span_of(info.get(), text, span)));
        // The end of the run follows its messages, wherever it is in the file.
        let begins = |key| run.get(key).map_or(0, |value| position(value.get(), text));
        let place = begins(if is_history { "history" } else { "trajectory" });
        records.extend(ended.filter(|_| begins("info") > place));
        self.settle(&mut records, run.get("replay_config").map_or("", RawValue::get));
        elements::with_rest(records, text, span)
    }

    /// Gives the records their ids and their session. `settings` are the settings of the run.
    fn settle(&mut self, records: &mut [TranscriptRecord], settings: &str) {
        let said = |record: &TranscriptRecord| -> Vec<Message> {
            let messages = record.items.iter().filter_map(|item| match item {
                RecordItem::Message(message) => Some(message.clone()),
                _ => None,
            });
            messages.collect()
        };
        // Runs of one task begin alike, and runs of different tasks have the same system text. The settings and the
        // first reply distinguish them.
        let is_reply = |record: &TranscriptRecord| {
            said(record)
                .iter()
                .any(|said| said.role == Role::Assistant && said.standing == MessageOrigin::Said)
        };
        let first = records.iter().position(is_reply).map_or(records.len(), |first| first + 1);
        let settings = chain::next(0, &[], settings);
        let begun =
            records.iter().take(first).fold(settings, |begun, record| chain::next(begun, &said(record), ""));
        let session = chain::name(begun);
        let own = self.own.get_or_insert_with(|| session.clone()).clone();
        let mut before = begun;
        for record in records.iter_mut() {
            before = chain::next(before, &said(record), &record.kind);
            record.id = Some(chain::name(before));
            record.session = Some(session.clone()).filter(|session| *session != own);
        }
        if let Some(first) = records.first_mut() {
            first.open("swe-agent");
        }
    }
}

/// State of a run that is being read.
#[derive(Debug, Default)]
struct Reading {
    model: Option<Box<str>>,
    pairing: CallPairing,
    /// Command without a result.
    waiting: Option<CallId>,
    /// Number of replies.
    replies: usize,
}

impl Reading {
    fn message(&mut self, record: &mut TranscriptRecord, object: &Object<'_>) {
        let role = object.text("role").unwrap_or_default();
        let is_demo =
            object.flag("is_demo") || object.text("message_type").as_deref() == Some("demonstration");
        record.kind = if is_demo { "demonstration" } else { role.as_ref() }.into();
        let content = self.content(object);
        let message = match role.as_ref() {
            "system" => Message::new(Role::System, content),
            "assistant" if is_demo => Message::new(Role::Assistant, content),
            "assistant" => self.reply(object, content),
            "tool" => {
                let id = object.array("tool_call_ids").and_then(|ids| string(ids.first()?));
                let id = id.map(|id| id.into_owned().into()).or_else(|| object.word("tool_call_id"));
                self.result(id.map(CallId), content)
            }
            "user" if is_demo => Message::new(Role::User, content),
            "user" => match self.waiting.take() {
                Some(call) => self.result(Some(call), content),
                None if self.replies > 0 => {
                    Message::new(Role::User, content).standing(MessageOrigin::Injected("environment".into()))
                }
                None => Message::new(Role::User, content),
            },
            _ => return record.set_opaque(format!("unknown role of SWE-agent: `{role}`")),
        };
        record.say(match is_demo {
            true => message.standing(MessageOrigin::Injected("demonstration".into())),
            false => message,
        });
    }

    /// Reads a step of `trajectory`: the reply, and the output of its command.
    fn step(&mut self, record: &mut TranscriptRecord, object: &Object<'_>) {
        record.kind = "step".into();
        let said = first_word(object, &["response", "thought"]).map(|text| Part::text(String::from(text)));
        let reply = self.reply(object, said.into_iter().collect());
        record.say(reply);
        if let (Some(call), Some(output)) = (self.waiting.take(), object.text("observation")) {
            let result = self.result(Some(call), vec![Part::text(output.into_owned())]);
            record.say(result);
        }
    }

    fn content(&mut self, object: &Object<'_>) -> Vec<Part> {
        Blocks::new(Dialect::Neutral, &mut self.pairing, "").content(object.get("content"))
    }

    fn result(&mut self, call: Option<CallId>, content: Vec<Part>) -> Message {
        let waiting = self.waiting.take();
        let call = call.or(waiting).unwrap_or_else(|| command_id(self.replies));
        Message::new(Role::Tool, vec![Part::ToolResult { call, content, failed: false, extra: None }])
    }

    /// Reads a reply, whose command becomes a call.
    fn reply(&mut self, object: &Object<'_>, content: Vec<Part>) -> Message {
        self.replies += 1;
        self.waiting = None;
        let base = self.replies.to_string();
        let calls: Vec<&RawValue> = object.array("tool_calls").unwrap_or_default();
        let mut blocks = Blocks::new(Dialect::Neutral, &mut self.pairing, &base);
        let mut called: Vec<Part> =
            calls.into_iter().filter_map(Object::of).filter_map(|call| blocks.tool_call(&call)).collect();
        let action = object.word("action").filter(|action| called.is_empty() && !action.trim().is_empty());
        let mut parts = content;
        if let Some(action) = action {
            parts = parts.into_iter().map(|part| without_command(part, action.trim())).collect();
            let call = command_id(self.replies);
            self.waiting = Some(call.clone());
            let input = format!("{{\"command\":{}}}", quoted(&action));
            called.push(Part::ToolCall {
                call,
                name: SHELL.into(),
                input: input.into(),
                gist: None,
                extra: None,
            });
        }
        parts.retain(|part| !matches!(part, Part::Text { text, .. } if text.bytes().0 == 0));
        parts.extend(called);
        Message { model: self.model.clone(), ..Message::new(Role::Assistant, parts) }
    }
}

/// Returns the id of the command in a reply.
fn command_id(reply: usize) -> CallId {
    CallId(format!("action-{reply}").into())
}

/// Returns a text without the command in it and without the fence or the element around the command.
fn without_command(part: Part, action: &str) -> Part {
    let Part::Text { text, extra } = part else { return part };
    let whole = text.inline().unwrap_or_default();
    let Some((before, after)) = whole.rsplit_once(action) else { return Part::Text { text, extra } };
    let opening = before.trim_end().rsplit_once('\n').map_or(before.trim_end(), |(_, line)| line).trim();
    let closing = after.trim_start().lines().next().unwrap_or_default().trim();
    let is_fence = opening.starts_with("```") && closing == "```";
    let is_element = opening.starts_with('<') && opening.ends_with('>') && closing.starts_with("</");
    if !is_fence && !is_element {
        return Part::Text { text, extra };
    }
    let before = before.trim_end().strip_suffix(opening).unwrap_or(before).trim_end();
    let after = after.trim_start().strip_prefix(closing).unwrap_or(after).trim();
    Part::text([before, after].join("\n").trim().to_owned())
}

/// Returns the record of a run's end, if the run has ended.
fn end(info: &RawValue, span: ByteSpan) -> Option<TranscriptRecord> {
    let status = Object::of(info)?.word("exit_status")?;
    let mut record = TranscriptRecord::bookkeeping(span, "info");
    record.push(RecordItem::turn(&status, None, None));
    Some(record)
}

/// Returns the name of the model, which only the settings of a run contain.
fn model(run: &Object<'_>) -> Option<Box<str>> {
    let settings = run.text("replay_config")?;
    let settings = Object::parse(&settings).ok()?;
    settings.object("agent")?.object("model")?.word("name")
}

/// Returns whether an object is a message of `history`.
pub(in crate::transcript) fn is_message(object: &Object<'_>) -> bool {
    object.has("role") && object.has("content") && (object.has("agent") || object.has("message_type"))
}

/// Returns whether an object is a step of `trajectory`.
pub(in crate::transcript) fn is_step(object: &Object<'_>) -> bool {
    object.has("action") && object.has("observation")
}
