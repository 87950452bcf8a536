//! Generated sessions as Claude Code transcripts, with one JSON object per line and one block of a reply per line.

use super::random::Random;
use super::session::{MODEL, SessionEvents};
use super::time::iso;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::iter::{Peekable, Take};
use wunderblock_core::event::{Fact, NewEvent, UsageMeasured};
use wunderblock_core::message::{Body, Message, Part, Role};

/// Iterator over the transcript lines of generated events.
pub(super) struct TranscriptLines {
    events: Peekable<Take<SessionEvents>>,
    random: Random,
    session: String,
    parent: Option<String>,
    waiting: VecDeque<String>,
}

pub(super) fn lines(events: usize, seed: u64) -> TranscriptLines {
    // A random sequence that is independent of the session's own.
    let mut random = Random::new(seed ^ 0x6c69_6e65_7321);
    let session = uuid(&mut random);
    let events = SessionEvents::new(seed).take(events).peekable();
    TranscriptLines { events, random, session, parent: None, waiting: VecDeque::new() }
}

/// A random UUID, version 4.
fn uuid(random: &mut Random) -> String {
    let (high, low) = (random.next_u64(), random.next_u64());
    let [first, second, third] = [high >> 32, high >> 16 & 0xffff, high & 0xfff];
    format!(
        "{first:08x}-{second:04x}-4{third:03x}-a{:03x}-{:012x}",
        low >> 48 & 0xfff,
        low & 0xffff_ffff_ffff
    )
}

impl TranscriptLines {
    /// Queues a record: the fields that every record starts with, followed by its own fields.
    fn record(&mut self, millis: i64, own: impl FnOnce(&mut Random) -> Value) {
        let uuid = uuid(&mut self.random);
        let mut record = json!({
            "parentUuid": self.parent, "isSidechain": false, "userType": "external", "cwd": "/home/dev/project",
            "sessionId": self.session, "version": "2.1.0", "gitBranch": "main", "uuid": uuid,
            "timestamp": iso(u64::try_from(millis).unwrap_or_default()),
        });
        if let (Some(record), Value::Object(own)) = (record.as_object_mut(), own(&mut self.random)) {
            record.extend(own);
        }
        self.parent = Some(uuid);
        self.waiting.push_back(record.to_string());
    }

    fn user(&mut self, millis: i64, message: &Message) {
        for part in &message.parts {
            let mut content = json!(text_of(part));
            if let Part::ToolResult { call, failed, .. } = part {
                content =
                    json!([{ "type": "tool_result", "tool_use_id": call.as_str(), "content": content }]);
                if *failed && let Some(result) = content.get_mut(0).and_then(Value::as_object_mut) {
                    result.insert("is_error".to_owned(), json!(true));
                }
            }
            let message = json!({ "role": "user", "content": content });
            self.record(millis, |_| json!({ "type": "user", "message": message }));
        }
    }

    fn assistant(&mut self, millis: i64, said: &Message, usage: Option<&UsageMeasured>) {
        let request = format!("req_011{:016x}", self.random.next_u64());
        for part in &said.parts {
            let text = text_of(part);
            let block = match part {
                Part::ToolCall { call, name, .. } => {
                    let input: Value = serde_json::from_str(text).unwrap_or_default();
                    json!({ "type": "tool_use", "id": call.as_str(), "name": name, "input": input })
                }
                _ => json!({ "type": "text", "text": text }),
            };
            let mut message = json!({
                "id": said.api_id.as_deref().unwrap_or_default(), "type": "message", "role": "assistant",
                "model": MODEL, "content": [block], "stop_reason": said.stop.as_deref().unwrap_or_default(),
                "stop_sequence": null,
            });
            if let (Some(usage), Some(message)) = (usage, message.as_object_mut()) {
                message.insert("usage".to_owned(), usage_fields(usage));
            }
            self.record(millis, |_| json!({ "type": "assistant", "requestId": request, "message": message }));
        }
    }

    /// Takes the usage event that follows a reply. Every line of the reply repeats this usage.
    fn usage_of_next(&mut self) -> Option<UsageMeasured> {
        match self.events.next_if(|event| matches!(event.fact, Fact::UsageMeasured(_)))?.fact {
            Fact::UsageMeasured(usage) => Some(usage),
            _ => None,
        }
    }
}

fn usage_fields(usage: &UsageMeasured) -> Value {
    json!({
        "input_tokens": usage.input.0, "cache_creation_input_tokens": usage.cache_write.0,
        "cache_read_input_tokens": usage.cache_read.0, "output_tokens": usage.output.0, "service_tier": "standard",
    })
}

fn text_of(part: &Part) -> &str {
    part.bodies().first().and_then(|body| Body::inline(body)).unwrap_or_default()
}

impl Iterator for TranscriptLines {
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
                Fact::TurnCompleted(_) => self.record(at.0, |random| {
                    let duration = random.between(4_000, 400_000);
                    json!({ "type": "system", "subtype": "turn_duration", "durationMs": duration })
                }),
                _ => {}
            }
        }
        self.waiting.pop_front()
    }
}
