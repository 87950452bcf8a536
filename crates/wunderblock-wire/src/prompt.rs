//! Compares the prompts of two requests in the order in which providers cache them: tools, system text, messages.
//!
//! Requests are compared as they are written, in any dialect that has these parts. Cache marks are not content, and
//! are left out. Other fields, such as the temperature, are not part of the prompt.

use crate::anthropic::cache::without_marks;
use crate::json::{RawFields, list, text};
use serde_json::Value;
use serde_json::value::RawValue;

/// Part of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum PromptPart {
    /// Tool schemas.
    Tools,
    /// System text.
    System,
    /// A message.
    Message {
        /// Number of the message, counted from 1.
        number: usize,
        /// Its role; in formats without one, its type.
        role: Box<str>,
    },
}

/// First place at which a prompt does not continue the previous one.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PromptBreak {
    /// Offset in the later request, in bytes; cache marks are not counted.
    pub offset: usize,
    /// Part of the prompt that holds the place.
    #[serde(flatten)]
    pub part: PromptPart,
}

/// Names of the list of messages, by dialect: Anthropic and OpenAI Chat, OpenAI Responses, Gemini.
const MESSAGES: [&str; 3] = ["messages", "input", "contents"];
/// Names of the system text outside the messages, by dialect.
const SYSTEM: [&str; 4] = ["system", "instructions", "systemInstruction", "system_instruction"];
/// Maximum number of objects around a request in an entry of a log.
const AROUND: usize = 3;

/// Returns the first place at which `after` does not continue `before`. `None` if it continues it, or if one of the
/// two is not a request.
#[must_use]
pub fn first_break(before: &[u8], after: &[u8]) -> Option<PromptBreak> {
    let (before, after) = (without_marks(before), without_marks(after));
    let (before, after) = (std::str::from_utf8(&before).ok()?, std::str::from_utf8(&after).ok()?);
    let (old, new) = (Prompt::of(before)?, Prompt::of(after)?);
    let pairs = [
        (&old.tools, &new.tools, Kind::Tools),
        (&old.system, &new.system, Kind::System),
        (&old.messages, &new.messages, Kind::Messages),
    ];
    pairs.into_iter().find_map(|(old, new, kind)| section_break(after, old, new, kind))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tools,
    System,
    Messages,
}

/// Items of a prompt, as they are written.
struct Prompt<'a> {
    tools: Vec<&'a str>,
    system: Vec<&'a str>,
    messages: Vec<&'a str>,
}

impl<'a> Prompt<'a> {
    fn of(request: &'a str) -> Option<Self> {
        let fields = RawFields::parse(request).ok()?;
        let items = |names: &[&str]| {
            let raw = names.iter().find_map(|name| fields.get(name));
            raw.map(|raw| {
                list(raw).map_or_else(|| vec![raw.get()], |all| all.into_iter().map(RawValue::get).collect())
            })
        };
        let messages = items(&MESSAGES)?;
        Some(Self {
            tools: items(&["tools"]).unwrap_or_default(),
            system: items(&SYSTEM).unwrap_or_default(),
            messages,
        })
    }
}

fn section_break(after: &str, old: &[&str], new: &[&str], kind: Kind) -> Option<PromptBreak> {
    let differs = old.iter().zip(new).position(|(old, new)| old != new && content(old) != content(new));
    // A conversation may grow at its end. Everything before it may not.
    let is_longer = kind != Kind::Messages && new.len() > old.len();
    let cut = (old.len() > new.len() || is_longer).then(|| old.len().min(new.len()));
    let at = differs.or(cut)?;
    let offset = match (old.get(at), new.get(at)) {
        (Some(old), Some(new)) => {
            let same = old.bytes().zip(new.bytes()).take_while(|(old, new)| old == new).count();
            offset_of(after, new) + same
        }
        (_, Some(new)) => offset_of(after, new),
        // The later request ends where an item of the previous one followed.
        _ => new.last().map_or(0, |last| offset_of(after, last) + last.len()),
    };
    let role = || new.get(at).or(old.get(at)).and_then(|item| role(item)).unwrap_or_else(|| "unknown".into());
    let part = match kind {
        Kind::Tools => PromptPart::Tools,
        Kind::System => PromptPart::System,
        Kind::Messages => PromptPart::Message { number: at + 1, role: role() },
    };
    Some(PromptBreak { offset, part })
}

/// Returns the content of an item without its cache marks, whatever the spaces between its fields are. Items
/// come from JSON that was read, so each of them is JSON.
fn content(item: &str) -> Value {
    let mut value: Value = serde_json::from_str(item).unwrap_or_default();
    unmark(&mut value);
    value
}

fn unmark(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(unmark),
        Value::Object(fields) => {
            fields.remove("cache_control");
            fields.values_mut().for_each(unmark);
        }
        _ => {}
    }
}

/// Returns the offset of a part of a text.
fn offset_of(whole: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize)
}

fn role(message: &str) -> Option<Box<str>> {
    let fields = RawFields::parse(message).ok()?;
    let name = ["role", "type"].iter().find_map(|name| fields.get(name))?;
    text(name).map(Into::into)
}

/// Returns the request in the entry of a log at an offset in bytes: the log is one JSON value or one per line, and an
/// entry holds the request itself, or an object around it. `None` if there is no whole request.
#[must_use]
pub fn request_at(log: &str, offset: usize) -> Option<&str> {
    let (head, tail) = log.split_at_checked(offset)?;
    let start = head.rfind('\n').map_or(0, |at| at + 1);
    let end = tail.find('\n').map_or(log.len(), |at| offset + at);
    let entry = log.get(start..end).and_then(|line| request_in(line, offset - start, AROUND));
    entry.or_else(|| request_in(log, offset, AROUND))
}

fn request_in(entry: &str, offset: usize, depth: usize) -> Option<&str> {
    let raw: &RawValue = serde_json::from_str(entry).ok()?;
    let depth = depth.checked_sub(1)?;
    if let Some(items) = list(raw) {
        let holds = |item: &&&RawValue| {
            let from = offset_of(entry, item.get());
            (from..from + item.get().len()).contains(&offset)
        };
        let item = items.iter().find(holds)?.get();
        return request_in(item, offset - offset_of(entry, item), depth + 1);
    }
    let fields = RawFields::of(raw)?;
    let has_messages = |name: &str| {
        let items = fields.get(name).and_then(list).unwrap_or_default();
        items.first().is_some_and(|first| RawFields::of(first).is_some())
    };
    if MESSAGES.iter().any(|name| has_messages(name)) {
        return Some(raw.get());
    }
    let inner = fields.rest().into_iter().map(|(_, value)| value.get());
    inner.filter(|value| value.starts_with('{')).find_map(|value| request_in(value, 0, depth))
}

#[cfg(test)]
mod tests;
