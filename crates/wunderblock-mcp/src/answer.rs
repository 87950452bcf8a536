//! Answers of tools, and the errors that a model can act on.

use crate::hint::sentence;
use jiff::Timestamp;
use serde_json::{Map, Value};
use wunderblock::Error;
use wunderblock::redact::{PushedText, Redactor};
use wunderblock_core::fence::plain;
use wunderblock_core::units::Millis;

/// Answer of a tool.
#[derive(Debug)]
pub(crate) struct ToolAnswer {
    /// Text for the model. Everything in it that was written by others is in a fence.
    pub(crate) text: String,
    /// Fields beside the text: numbers, addresses and ids.
    pub(crate) facts: Map<String, Value>,
    /// Resources that hold what the text leaves out.
    pub(crate) links: Vec<ContentLink>,
}

/// Link to a resource of this server.
#[derive(Debug)]
pub(crate) struct ContentLink {
    pub(crate) uri: String,
    pub(crate) name: String,
    pub(crate) description: &'static str,
}

impl ContentLink {
    /// Returns whether the link can be sent: a changed one would lead nowhere.
    pub(crate) fn has_no_secret(&self, redactor: &Redactor) -> bool {
        [&self.uri, &self.name].into_iter().all(|text| redactor.push(text).into_string() == *text)
    }
}

impl ToolAnswer {
    pub(crate) fn new(text: String, facts: Value) -> Self {
        let facts = match facts {
            Value::Object(facts) => facts,
            _ => Map::new(),
        };
        Self { text, facts, links: Vec::new() }
    }
}

/// An answer without secrets: nothing else is sent to a client.
pub(crate) struct PushedAnswer {
    pub(crate) text: PushedText,
    pub(crate) facts: Map<String, Value>,
    pub(crate) links: Vec<ContentLink>,
}

impl ToolAnswer {
    /// Removes the secrets of an answer from the ledger.
    pub(crate) fn push(self, redactor: &Redactor) -> PushedAnswer {
        let Self { text, facts, mut links } = self;
        links.retain(|link| link.has_no_secret(redactor));
        let facts = facts.into_iter().map(|(name, fact)| (name, without_secrets(fact, redactor))).collect();
        PushedAnswer { text: redactor.push(&text), facts, links }
    }
}

fn without_secrets(fact: Value, redactor: &Redactor) -> Value {
    match fact {
        Value::String(text) => redactor.push(&text).into_string().into(),
        Value::Array(items) => items.into_iter().map(|item| without_secrets(item, redactor)).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, fact)| (name, without_secrets(fact, redactor))).collect()
        }
        other => other,
    }
}

/// Reason why a tool has no answer.
#[derive(Debug)]
pub(crate) enum ToolFailure {
    /// Error of the engine.
    Engine(Error),
    /// Error of this server, in words.
    Door(String),
}

impl From<Error> for ToolFailure {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

impl ToolFailure {
    /// Returns the error and what to do next. Ids and paths in it are shown without characters that could imitate a
    /// fence.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Door(text) => text.clone(),
            Self::Engine(error) => {
                let lines = error.to_string();
                let lines: Vec<String> = lines.lines().map(harmless).collect();
                let hint = error.hint().as_ref().and_then(sentence);
                let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                format!("{}{hint}", lines.join("\n"))
            }
        }
    }
}

/// Returns a line without characters that could imitate a fence. `plain` cuts long names, so it is given one character
/// at a time.
fn harmless(line: &str) -> String {
    let mut one = [0; 4];
    line.chars().map(|c| plain(c.encode_utf8(&mut one))).collect()
}

/// Returns a time in UTC, such as `2026-11-27T09:30:00Z`.
pub(crate) fn time(at: Millis) -> String {
    let time = Timestamp::from_millisecond(at.0).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
