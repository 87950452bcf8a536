//! Finds the request and the reply in an entry of a log.
//!
//! Logs put the bodies of requests and replies under many names: `{request: {body}, response: {body}}` (claude-trace,
//! also with a stream as the text `body_raw`), `{request, response}`, `{req, res}`, `{request_body, response_body}`,
//! or the bodies alone. All names are tried, down to a few levels.

use crate::json::RawFields;
use crate::outcome::WireError;
use crate::reply::{ModelReply, ReplyReader, decode_reply};
use crate::transcript::parsing::object::{Object, array, position, string};
use crate::transcript::parsing::seen::hash;
use crate::transcript::parsing::{chain, time};
use crate::{anthropic, dialect, openai_responses};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use wunderblock_core::message::{Dialect, Extra, Message, Part, Role};
use wunderblock_core::units::Millis;

/// Fields that may contain a request.
pub(super) const REQUESTS: [&str; 11] = [
    "request",
    "req",
    "body",
    "request_body",
    "requestBody",
    "payload",
    "data",
    "params",
    "kwargs",
    "input",
    "json",
];

/// Fields that may contain a reply.
const REPLIES: [&str; 12] = [
    "response",
    "res",
    "reply",
    "body",
    "body_raw",
    "response_body",
    "responseBody",
    "payload",
    "data",
    "result",
    "output",
    "completion",
];

/// Maximum number of levels below an entry at which a request or a reply is found.
pub(super) const LEVELS: usize = 3;

/// Fields that may contain the time of a request or a reply.
const TIMES: [&str; 9] =
    ["timestamp", "created_at", "createdAt", "logged_at", "time", "ts", "date", "startTime", "start_time"];

/// A place in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Position {
    /// Hash of the conversation's first message.
    pub(super) session: u64,
    /// Hash of the conversation up to this place.
    pub(super) chain: u64,
    /// Hash of the reply's id, if the conversation ends with a reply that has one. A request of OpenAI Responses may
    /// name it instead of repeating the conversation.
    pub(super) reply: Option<u64>,
}

/// The content of one entry.
pub(super) struct Exchange<'a> {
    dialect: Dialect,
    system: Option<&'a RawValue>,
    /// Messages of the request, in order.
    pub(super) elements: Vec<Element<'a>>,
    pub(super) reply: Option<Reply<'a>>,
    /// Id of the message that the first element follows, if the entry does not repeat the conversation.
    pub(super) base: Option<u64>,
    pub(super) at: Option<Millis>,
    /// End of the conversation with this entry. `None` if the entry contains no message.
    pub(super) end: Option<Position>,
}

/// One message of a request.
pub(super) struct Element<'a> {
    pub(super) raw: &'a str,
    /// Role in the provider's spelling.
    pub(super) kind: Box<str>,
    /// Content. Tool results and the text beside them are separate messages.
    pub(super) messages: Vec<Message>,
    /// Reason why the message could not be read.
    pub(super) unread: Option<String>,
    pub(super) id: u64,
}

/// The reply to a request.
pub(super) struct Reply<'a> {
    pub(super) raw: &'a str,
    pub(super) reply: ModelReply,
    pub(super) at: Option<Millis>,
    pub(super) id: u64,
}

impl<'a> Exchange<'a> {
    /// Reads an entry. `last` is the end of the conversation in the entry before. `None` if the entry contains neither
    /// a request nor a reply nor a message.
    pub(super) fn of(dialect: Dialect, value: &'a RawValue, last: Option<&Position>) -> Option<Self> {
        let outer = Object::of(value).unwrap_or_default();
        let found = find_reply(dialect, value, LEVELS);
        let request = find_request(dialect, &outer, LEVELS);
        let list = match (array(value), &request) {
            (Some(messages), _) => messages,
            (None, Some(request)) => list(dialect, request),
            (None, None) if found.is_none() && is_message(dialect, &outer) => vec![value],
            (None, None) if found.is_some() => Vec::new(),
            (None, None) => return None,
        };
        let repeats = request.is_some() || array(value).is_some();
        let request = request.unwrap_or_default();
        let base = match request.word("previous_response_id") {
            Some(id) => last.filter(|last| last.reply == Some(hash([&*id]))),
            None => last.filter(|_| !repeats),
        };
        let mut exchange = Self {
            dialect,
            system: system_field(dialect, &request),
            elements: elements(dialect, list, value.get()),
            reply: None,
            base: base.map(|base| base.chain),
            at: time_of(&outer).or_else(|| REQUESTS.iter().find_map(|key| time_of(&outer.object(key)?))),
            end: base.copied(),
        };
        exchange.link(base);
        if let Some(raw) = found {
            let at = REPLIES.iter().find_map(|key| time_of(&outer.object(key)?));
            exchange.answer(raw, at);
        }
        Some(exchange)
    }

    /// Gives the messages their ids.
    fn link(&mut self, base: Option<&Position>) {
        let mut before = base.map_or(0, |base| base.chain);
        for element in &mut self.elements {
            let unread = if element.unread.is_some() { element.raw } else { "" };
            before = chain::next(before, &element.messages, unread);
            element.id = before;
            let session = self.end.map_or(before, |end| end.session);
            self.end = Some(Position { session, chain: before, reply: None });
        }
    }

    fn answer(&mut self, raw: &'a RawValue, at: Option<Millis>) {
        let reply = match string(raw) {
            Some(stream) => {
                let mut reader = ReplyReader::new(self.dialect, usize::MAX);
                reader.push(stream.as_bytes());
                reader.finish()
            }
            None => decode_reply(self.dialect, raw.get().as_bytes()),
        };
        let before = self.end.map_or(0, |end| end.chain);
        let unread = if reply.message.parts.is_empty() { raw.get() } else { "" };
        let id = chain::next(before, std::slice::from_ref(&reply.message), unread);
        // The next request does not repeat a reply that broke off.
        if !reply.message.parts.is_empty() && reply.fault.is_none() {
            let session = self.end.map_or(id, |end| end.session);
            let named = reply.message.api_id.as_deref().map(|id| hash([id]));
            self.end = Some(Position { session, chain: id, reply: named });
        }
        self.reply = Some(Reply { raw: raw.get(), reply, at, id });
    }

    /// Returns the ids of all messages.
    pub(super) fn ids(&self) -> impl Iterator<Item = u64> {
        self.elements.iter().map(|element| element.id).chain(self.reply.iter().map(|reply| reply.id))
    }

    /// Returns the system text as a message, with the text that it comes from.
    pub(super) fn system(&self) -> Option<(&'a str, Message)> {
        let raw = self.system?;
        let parts = match (string(raw), self.dialect) {
            (Some(text), _) => vec![Part::text(text.into_owned())],
            (None, Dialect::Gemini) => {
                dialect::decode_message(Dialect::Gemini, raw.get()).ok()?.into_iter().next()?.parts
            }
            (None, _) => anthropic::decode::decode_blocks(raw.get()).ok()?,
        };
        let parts: Vec<Part> = parts.into_iter().map(unmarked).collect();
        (!parts.is_empty()).then(|| (raw.get(), Message::new(Role::System, parts)))
    }
}

fn time_of(object: &Object<'_>) -> Option<Millis> {
    TIMES.iter().find_map(|key| time::field(object, key))
}

fn find_request<'a>(dialect: Dialect, object: &Object<'a>, levels: usize) -> Option<Object<'a>> {
    if is_request(dialect, object) {
        return Some(object.clone());
    }
    let levels = levels.checked_sub(1)?;
    REQUESTS.iter().find_map(|key| find_request(dialect, &object.object(key)?, levels))
}

fn find_reply(dialect: Dialect, value: &RawValue, levels: usize) -> Option<&RawValue> {
    let object = match (string(value), Object::of(value)) {
        (Some(text), _) => return is_stream(&text).then_some(value),
        (None, Some(object)) => object,
        // Gemini sends a list of replies if no events were requested.
        (None, None) => {
            let first = array(value)?.first().copied().and_then(Object::of)?;
            return (dialect == Dialect::Gemini && first.has("candidates")).then_some(value);
        }
    };
    if is_reply(dialect, &object) || (levels < LEVELS && object.some("error").is_some()) {
        return Some(value);
    }
    let levels = levels.checked_sub(1)?;
    REPLIES.iter().find_map(|key| find_reply(dialect, object.some(key)?, levels))
}

fn is_request(dialect: Dialect, object: &Object<'_>) -> bool {
    match dialect {
        Dialect::OpenaiResponses => {
            object.get("input").is_some_and(|input| input.get().starts_with(['"', '[']))
        }
        Dialect::Gemini => object.array("contents").is_some(),
        _ => object.array("messages").is_some(),
    }
}

fn is_reply(dialect: Dialect, object: &Object<'_>) -> bool {
    match dialect {
        Dialect::OpenaiResponses => object.array("output").is_some(),
        Dialect::Gemini => object.array("candidates").is_some(),
        _ => {
            let is_model = object.text("role").as_deref() == Some("assistant");
            let is_body = object.text("type").as_deref() == Some("message") || object.has("usage");
            is_model && is_body && object.array("content").is_some()
        }
    }
}

/// Returns whether an object is one message of a request.
pub(super) fn is_message(dialect: Dialect, object: &Object<'_>) -> bool {
    match dialect {
        Dialect::OpenaiResponses => {
            let kind = object.text("type");
            let has_role = object.has("role") && object.has("content");
            has_role || kind.is_some_and(|kind| is_item(&kind))
        }
        Dialect::Gemini => object.array("parts").is_some(),
        _ => object.has("role") && object.has("content"),
    }
}

/// Returns whether a type is that of an item that only OpenAI Responses has.
pub(super) fn is_item(kind: &str) -> bool {
    kind == "reasoning"
        || kind == "item_reference"
        || kind.ends_with("_call")
        || kind.ends_with("_call_output")
}

/// Returns whether a text is a stream of events.
fn is_stream(text: &str) -> bool {
    ["event:", "data:"].iter().any(|begin| text.trim_start().starts_with(begin))
}

fn list<'a>(dialect: Dialect, request: &Object<'a>) -> Vec<&'a RawValue> {
    let key = match dialect {
        Dialect::OpenaiResponses => "input",
        Dialect::Gemini => "contents",
        _ => "messages",
    };
    let Some(value) = request.get(key) else { return Vec::new() };
    array(value).unwrap_or_else(|| vec![value])
}

fn system_field<'a>(dialect: Dialect, request: &Object<'a>) -> Option<&'a RawValue> {
    let keys: &[&str] = match dialect {
        Dialect::OpenaiResponses => &["instructions"],
        Dialect::Gemini => &["systemInstruction", "system_instruction"],
        _ => &["system"],
    };
    keys.iter().find_map(|key| request.some(key))
}

/// Returns the messages of a list. In OpenAI Responses, consecutive items of the model are one message, because a
/// reply contains them together.
fn elements<'a>(dialect: Dialect, list: Vec<&'a RawValue>, text: &'a str) -> Vec<Element<'a>> {
    if dialect != Dialect::OpenaiResponses {
        return list
            .into_iter()
            .map(|raw| element(raw.get(), dialect::decode_message(dialect, raw.get())))
            .collect();
    }
    let mut elements = Vec::new();
    let mut rest = list.as_slice();
    while let Some((first, others)) = rest.split_first() {
        let count =
            if is_spoken(first) { 1 + others.iter().take_while(|raw| is_spoken(raw)).count() } else { 1 };
        let (group, others) = rest.split_at(count);
        rest = others;
        elements.push(match string(first) {
            Some(said) => element(first.get(), Ok(vec![Message::user(said.into_owned())])),
            None if is_spoken(first) => {
                let raw = group.last().and_then(|last| between(first.get(), last.get(), text));
                let read = openai_responses::decode::output(group).map(|message| vec![message]);
                element(raw.unwrap_or(first.get()), read)
            }
            None => element(first.get(), dialect::decode_message(dialect, first.get())),
        });
    }
    elements
}

/// Returns the text from one part to another.
fn between<'a>(first: &str, last: &str, text: &'a str) -> Option<&'a str> {
    text.get(position(first, text)..position(last, text) + last.len())
}

/// Returns whether an item of OpenAI Responses is the model's.
fn is_spoken(raw: &RawValue) -> bool {
    let Some(item) = Object::of(raw) else { return false };
    match item.text("role") {
        Some(role) => role == "assistant",
        None => item.text("type").is_some_and(|kind| !kind.ends_with("_output")),
    }
}

fn element(raw: &str, read: Result<Vec<Message>, WireError>) -> Element<'_> {
    let object = Object::parse(raw).unwrap_or_default();
    let kind = object.word("role").or_else(|| object.word("type")).unwrap_or_else(|| "user".into());
    let (messages, unread) = match read {
        Ok(messages) => (messages.into_iter().map(without_marks).collect(), None),
        Err(error) => (Vec::new(), Some(format!("invalid message: {error}"))),
    };
    Element { raw, kind, messages, unread, id: 0 }
}

/// Removes cache marks. A mark belongs to the request that was sent, not to the message.
fn without_marks(mut message: Message) -> Message {
    message.parts = message.parts.into_iter().map(unmarked).collect();
    message
}

fn unmarked(mut part: Part) -> Part {
    if let Part::ToolResult { content, .. } = &mut part {
        *content = std::mem::take(content).into_iter().map(unmarked).collect();
    }
    if let Part::Text { extra, .. }
    | Part::ToolCall { extra, .. }
    | Part::ToolResult { extra, .. }
    | Part::Media { extra, .. } = &mut part
    {
        *extra = without_mark(extra.take());
    }
    part
}

fn without_mark(extra: Extra) -> Extra {
    let text = extra?;
    let Ok(mut fields) = RawFields::parse(&text) else { return Some(text) };
    if fields.take(anthropic::cache::FIELD).is_none() {
        return Some(text);
    }
    (fields.len() > 0).then(|| fields.written().into_boxed_str())
}
