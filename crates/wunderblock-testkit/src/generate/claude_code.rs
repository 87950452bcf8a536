//! The same sessions as Claude Code writes them: one JSON object a line, one block of a reply a line.

use super::random::{Random, push_hex, push_number};
use super::session::{MODEL, SessionEvents};
use super::time::push_iso;
use serde_json::Value;
use std::collections::VecDeque;
use std::iter::Peekable;
use wunderblock_core::event::{Fact, NewEvent, UsageMeasured};
use wunderblock_core::id::CallId;
use wunderblock_core::message::{Body, Message, Part, Role};

/// Writes lines from events.
pub(super) struct TranscriptLines<I: Iterator<Item = NewEvent>> {
    events: Peekable<I>,
    random: Random,
    session: String,
    parent: Option<String>,
    waiting: VecDeque<String>,
}

pub(super) fn lines(events: usize, seed: u64) -> TranscriptLines<std::iter::Take<SessionEvents>> {
    // Another stream of numbers than the session's own.
    let mut random = Random::new(seed ^ 0x6c69_6e65_7321);
    let session = uuid(&mut random);
    let events = SessionEvents::new(seed).take(events).peekable();
    TranscriptLines { events, random, session, parent: None, waiting: VecDeque::new() }
}

/// A random (version 4) UUID.
fn uuid(random: &mut Random) -> String {
    let (high, low) = (random.next_u64(), random.next_u64());
    let mut out = String::with_capacity(36);
    push_hex(&mut out, high >> 32, 8);
    out.push('-');
    push_hex(&mut out, high >> 16, 4);
    out.push_str("-4");
    push_hex(&mut out, high, 3);
    out.push_str("-a");
    push_hex(&mut out, low >> 48, 3);
    out.push('-');
    push_hex(&mut out, low, 12);
    out
}

fn push_string(out: &mut String, text: &str) {
    out.push_str(&Value::from(text).to_string());
}

impl<I: Iterator<Item = NewEvent>> TranscriptLines<I> {
    /// What every record begins with, up to its own fields.
    fn begin(&mut self, millis: i64, room: usize) -> String {
        let uuid = uuid(&mut self.random);
        let mut line = String::with_capacity(room + 640);
        line.push_str("{\"parentUuid\":");
        match &self.parent {
            Some(parent) => push_string(&mut line, parent),
            None => line.push_str("null"),
        }
        line.push_str(
            ",\"isSidechain\":false,\"userType\":\"external\",\"cwd\":\"/home/dev/project\",\"sessionId\":\"",
        );
        line.push_str(&self.session);
        line.push_str("\",\"version\":\"2.1.0\",\"gitBranch\":\"main\",\"uuid\":\"");
        line.push_str(&uuid);
        line.push_str("\",\"timestamp\":\"");
        push_iso(&mut line, u64::try_from(millis).unwrap_or_default());
        line.push('"');
        self.parent = Some(uuid);
        line
    }

    fn user(&mut self, millis: i64, message: &Message) {
        for part in &message.parts {
            let text = text_of(part);
            let mut line = self.begin(millis, text.len() + text.len() / 16);
            line.push_str(",\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":");
            match part {
                Part::ToolResult { call, failed, .. } => {
                    line.push_str("[{\"type\":\"tool_result\",\"tool_use_id\":");
                    push_string(&mut line, call.as_str());
                    line.push_str(",\"content\":");
                    push_string(&mut line, text);
                    line.push_str(if *failed { ",\"is_error\":true}]" } else { "}]" });
                }
                _ => push_string(&mut line, text),
            }
            line.push_str("}}");
            self.waiting.push_back(line);
        }
    }

    fn assistant(&mut self, millis: i64, message: &Message, usage: Option<&UsageMeasured>) {
        let mut request = "req_011".to_owned();
        push_hex(&mut request, self.random.next_u64(), 16);
        for part in &message.parts {
            let text = text_of(part);
            let mut line = self.begin(millis, text.len() + text.len() / 16);
            line.push_str(",\"type\":\"assistant\",\"requestId\":\"");
            line.push_str(&request);
            line.push_str("\",\"message\":{\"id\":");
            push_string(&mut line, message.api_id.as_deref().unwrap_or_default());
            line.push_str(",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"");
            line.push_str(MODEL);
            line.push_str("\",\"content\":[");
            match part {
                Part::ToolCall { call, name, .. } => push_call(&mut line, call, name, text),
                _ => {
                    line.push_str("{\"type\":\"text\",\"text\":");
                    push_string(&mut line, text);
                    line.push('}');
                }
            }
            line.push_str("],\"stop_reason\":");
            push_string(&mut line, message.stop.as_deref().unwrap_or_default());
            line.push_str(",\"stop_sequence\":null");
            if let Some(usage) = usage {
                push_usage(&mut line, usage);
            }
            line.push_str("}}");
            self.waiting.push_back(line);
        }
    }

    /// The usage that is told right after a reply stands in each of the reply's lines.
    fn usage_of_next(&mut self) -> Option<UsageMeasured> {
        let told = self.events.next_if(|event| matches!(event.fact, Fact::UsageMeasured(_)))?;
        match told.fact {
            Fact::UsageMeasured(usage) => Some(usage),
            _ => None,
        }
    }
}

fn push_call(line: &mut String, call: &CallId, name: &str, input: &str) {
    line.push_str("{\"type\":\"tool_use\",\"id\":");
    push_string(line, call.as_str());
    line.push_str(",\"name\":");
    push_string(line, name);
    line.push_str(",\"input\":");
    line.push_str(input);
    line.push('}');
}

fn push_usage(line: &mut String, usage: &UsageMeasured) {
    line.push_str(",\"usage\":");
    let fields = [
        ("{\"input_tokens\":", usage.input),
        (",\"cache_creation_input_tokens\":", usage.cache_write),
        (",\"cache_read_input_tokens\":", usage.cache_read),
        (",\"output_tokens\":", usage.output),
    ];
    for (field, tokens) in fields {
        line.push_str(field);
        push_number(line, tokens.0, 0);
    }
    line.push_str(",\"service_tier\":\"standard\"}");
}

fn text_of(part: &Part) -> &str {
    part.bodies().first().and_then(|body| Body::inline(body)).unwrap_or_default()
}

impl<I: Iterator<Item = NewEvent>> Iterator for TranscriptLines<I> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        while self.waiting.is_empty() {
            let NewEvent { at, fact, .. } = self.events.next()?;
            match fact {
                Fact::MessageAppended(said) if said.message.role == Role::Assistant => {
                    let usage = self.usage_of_next();
                    self.assistant(at.0, &said.message, usage.as_ref());
                }
                Fact::MessageAppended(said) => self.user(at.0, &said.message),
                Fact::TurnCompleted(_) => {
                    let mut line = self.begin(at.0, 0);
                    line.push_str(",\"type\":\"system\",\"subtype\":\"turn_duration\",\"durationMs\":");
                    push_number(&mut line, self.random.between(4_000, 400_000) as u64, 0);
                    line.push('}');
                    self.waiting.push_back(line);
                }
                _ => {}
            }
        }
        self.waiting.pop_front()
    }
}
