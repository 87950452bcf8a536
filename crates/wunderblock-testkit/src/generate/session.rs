//! Turns of a coding agent, as events.

use super::random::Random;
use super::results::{ResultKind, result};
use super::time::BEGIN;
use super::words::{chinese, name, path, prose, words};
use std::collections::VecDeque;
use wunderblock_core::event::{EventSource, Fact, MessageAppended, NewEvent, TurnCompleted, UsageMeasured};
use wunderblock_core::id::{CallId, EventId};
use wunderblock_core::message::{Message, Part, Role};
use wunderblock_core::units::{Millis, Tokens};

/// Model name in generated sessions.
pub(super) const MODEL: &str = "claude-sonnet-4-5";

/// Endless iterator over the events of a session.
pub(super) struct SessionEvents {
    random: Random,
    seed: u64,
    number: u64,
    millis: u64,
    waiting: VecDeque<NewEvent>,
    /// Number of tokens that the provider would have in its cache.
    context: u64,
}

impl SessionEvents {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let millis = BEGIN + random.below(86_400_000) as u64;
        Self { random, seed, number: 0, millis, waiting: VecDeque::new(), context: 18_000 }
    }

    fn push(&mut self, fact: Fact) {
        self.number += 1;
        self.millis += self.random.between(200, 4000) as u64;
        // The id is always valid, because it contains only hexadecimal digits and a hyphen, and is short.
        let Ok(id) = EventId::new(format!("{:016x}-{}", self.seed, self.number)) else { return };
        let at = Millis(i64::try_from(self.millis).unwrap_or(i64::MAX));
        self.waiting.push_back(NewEvent { id, at, source: EventSource::Live, fact });
    }

    fn say(&mut self, message: Message) {
        self.push(Fact::MessageAppended(MessageAppended { message }));
    }

    /// Queues one turn: a user text and everything the agent does in response.
    fn turn(&mut self) {
        let chinese = self.random.chance(6);
        let asked = self.prose(chinese, 60, 700);
        self.say(Message::text(Role::User, asked));
        for _ in 0..self.random.between(3, 13) {
            self.round(chinese);
        }
        let told = self.prose(chinese, 300, 2200);
        self.answer(vec![Part::text(told)], "end_turn");
        let stop_reason = "end".into();
        self.push(Fact::TurnCompleted(TurnCompleted { stop_reason, ..TurnCompleted::default() }));
    }

    fn prose(&mut self, is_chinese: bool, from: usize, to: usize) -> String {
        let bytes = self.random.between(from, to);
        if is_chinese { chinese(&mut self.random, bytes) } else { prose(&mut self.random, bytes) }
    }

    /// Queues a reply that calls tools, its usage, and the results of the tools.
    fn round(&mut self, chinese: bool) {
        let mut parts = Vec::new();
        if self.random.chance(65) {
            parts.push(Part::text(self.prose(chinese, 40, 500)));
        }
        let mut calls = Vec::new();
        for _ in 0..1 + self.random.below(5) / 3 {
            let (part, call, look) = self.call();
            parts.push(part);
            calls.push((call, look));
        }
        self.answer(parts, "tool_use");
        for (call, look) in calls {
            // In 70 % of cases, the smaller of two sizes is taken, because short results are more frequent than long
            // ones.
            let mut bytes = self.random.between(2_000, 20_000);
            if self.random.chance(70) {
                bytes = bytes.min(self.random.between(2_000, 20_000));
            }
            let text = result(&mut self.random, look, bytes, self.millis);
            // About 4 bytes per token.
            self.context += text.len() as u64 / 4;
            let failed = self.random.chance(8);
            let result = Part::ToolResult { call, content: vec![Part::text(text)], failed, extra: None };
            self.say(Message::new(Role::Tool, vec![result]));
        }
    }

    fn answer(&mut self, parts: Vec<Part>, stop: &str) {
        let api_id = format!("msg_01{:016x}", self.random.next_u64());
        let output = 40 + self.random.below(900) as u64;
        let usage = UsageMeasured {
            request: None,
            api_id: Some(api_id.as_str().into()),
            model: Some(MODEL.into()),
            input: Tokens(self.random.below(12) as u64),
            cache_read: Tokens(self.context),
            cache_write: Tokens(self.random.below(6000) as u64),
            output: Tokens(output),
            window: None,
        };
        // A context over 160,000 tokens shrinks, as if the agent had compacted it.
        self.context = if self.context > 160_000 { 24_000 } else { self.context + output };
        self.say(Message {
            api_id: Some(api_id.into()),
            model: Some(MODEL.into()),
            stop: Some(stop.into()),
            ..Message::new(Role::Assistant, parts)
        });
        self.push(Fact::UsageMeasured(usage));
    }

    fn call(&mut self) -> (Part, CallId, ResultKind) {
        let random = &mut self.random;
        let call = CallId::from(format!("toolu_01{:016x}", random.next_u64()));
        let (tool, look, input) = match random.below(10) {
            0..=3 => {
                let tests = random.chance(50);
                let verb = if tests { "test" } else { "build --release" };
                let (package, lines, about) = (name(random), random.between(20, 200), words(random, 30));
                let look = match (random.chance(25), tests) {
                    (true, _) => ResultKind::Records,
                    (false, true) => ResultKind::Tests,
                    (false, false) => ResultKind::Log,
                };
                let command = format!("cargo {verb} -p {package} 2>&1 | tail -{lines}");
                ("Bash", look, format!(r#"{{"command":"{command}","description":"{about}"}}"#))
            }
            4..=6 => {
                let (path, limit) = (path(random), random.between(50, 400));
                let input = format!(r#"{{"file_path":"/home/dev/project/{path}","limit":"{limit}"}}"#);
                ("Read", ResultKind::Code, input)
            }
            7 | 8 => {
                let (pattern, path) = (name(random), path(random));
                ("Grep", ResultKind::Matches, format!(r#"{{"pattern":"{pattern}","path":"{path}"}}"#))
            }
            _ => {
                let (path, old, new) = (path(random), words(random, 200), words(random, 260));
                let file = format!("/home/dev/project/{path}");
                let input = format!(r#"{{"file_path":"{file}","old_string":"{old}","new_string":"{new}"}}"#);
                ("Edit", ResultKind::Code, input)
            }
        };
        let (name, input, gist, extra) = (tool.into(), input.into(), None, None);
        (Part::ToolCall { call: call.clone(), name, input, gist, extra }, call, look)
    }
}

impl Iterator for SessionEvents {
    type Item = NewEvent;

    fn next(&mut self) -> Option<NewEvent> {
        if self.waiting.is_empty() {
            self.turn();
        }
        self.waiting.pop_front()
    }
}
