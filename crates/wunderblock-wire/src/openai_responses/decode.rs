//! Reads OpenAI Responses into the neutral form.

use super::{BETWEEN, DETAIL, books};
use crate::extra::{self, ExtraForm, KIND, MESSAGE, ROLE, SHAPE, hint};
use crate::json::{self, RawFields, is_object, list, text};
use crate::openai_chat::decode::{begin, is_system_text};
use crate::openai_chat::{FILENAME, data_url, kind_for};
use crate::outcome::WireError;
use serde_json::value::RawValue;
use wunderblock_core::message::{Dialect, Extra, MediaForm, Message, Part, Role};
use wunderblock_core::request::{Request, Tool};
use wunderblock_core::units::Tokens;

const OWN: Dialect = Dialect::OpenaiResponses;

/// Reads a request.
pub(crate) fn request(bytes: &[u8]) -> Result<Request, WireError> {
    let mut fields =
        RawFields::of(json::document(bytes)?).ok_or_else(|| WireError::shape("the request", "an object"))?;
    let shape = || WireError::shape("input", "a string or a list of items");
    let input = fields.take("input").ok_or_else(shape)?;
    let model = fields.take_text("model").map(String::into_boxed_str);
    let max_output = fields.take_if("max_output_tokens", |raw| raw.get().parse().ok()).map(Tokens);
    let tools = fields.take_objects("tools").into_iter().filter_map(tool).collect();
    let system: Vec<Part> = fields.take_word("instructions").map(Part::text).into_iter().collect();
    let mut conversation = Conversation { system, messages: Vec::new() };
    let mut hints = Vec::new();
    if let Some(text) = text(input) {
        hints.push(hint(SHAPE, "string"));
        conversation.messages.push(Message::user(text));
    } else {
        for (at, raw) in list(input).ok_or_else(shape)?.into_iter().enumerate() {
            conversation.add(item(raw, &format!("input[{at}]"))?);
        }
    }
    let Conversation { system, messages } = conversation;
    let extra = extra::keep(OWN, hints, fields);
    Ok(Request { model, max_output, system, tools, messages, cache: None, extra })
}

/// Reads one item. Reasoning stays opaque: requests leave out a message that contains only thinking, but keep an
/// opaque item before the item that it led to.
pub(crate) fn single(raw_json: &str) -> Result<Vec<Message>, WireError> {
    let raw = json::raw(raw_json)?;
    let item = match item(raw, "item")? {
        Item::Spoken(parts) if parts.iter().all(Part::is_thinking) => Item::Spoken(vec![opaque(raw)]),
        item => item,
    };
    Ok(vec![item.into_message()])
}

/// Reads a reasoning item. `None` for any other item, and for reasoning of an unknown shape.
pub(super) fn reasoning_of(raw: &str) -> Option<Part> {
    let mut fields = RawFields::parse(raw).ok()?;
    fields.take_if("type", |kind| text(kind).filter(|kind| kind == "reasoning"))?;
    reasoning(fields)
}

/// Reads the items of a reply as one message.
pub(crate) fn output(items: &[&RawValue]) -> Result<Message, WireError> {
    let mut said = Message::new(Role::Assistant, Vec::new());
    for (at, raw) in items.iter().enumerate() {
        match item(raw, &format!("output[{at}]"))? {
            Item::Spoken(parts) => say(&mut said.parts, parts),
            Item::Heard(_) | Item::Output(_) => said.parts.push(opaque(raw)),
        }
    }
    Ok(said)
}

/// Content of an item, by its speaker.
enum Item {
    /// Parts of the model's message.
    Spoken(Vec<Part>),
    /// Output of a tool.
    Output(Part),
    /// Message of any other speaker.
    Heard(Message),
}

impl Item {
    fn into_message(self) -> Message {
        match self {
            Self::Spoken(parts) => Message::new(Role::Assistant, parts),
            Self::Output(part) => Message::new(Role::Tool, vec![part]),
            Self::Heard(message) => message,
        }
    }
}

struct Conversation {
    system: Vec<Part>,
    messages: Vec<Message>,
}

impl Conversation {
    fn add(&mut self, item: Item) {
        match item {
            Item::Heard(message) if self.messages.is_empty() && is_system_text(OWN, &message) => {
                // A single text without a record would be written as the instructions.
                let is_plain = self.system.is_empty() && message.extra.is_none() && message.parts.len() > 1;
                begin(OWN, &mut self.system, message, is_plain);
            }
            Item::Heard(message) => self.messages.push(message),
            item => {
                let message = item.into_message();
                match self.messages.last_mut() {
                    Some(last) if last.role == message.role && message.role == Role::Assistant => {
                        say(&mut last.parts, message.parts);
                    }
                    Some(last) if last.role == message.role => last.parts.extend(message.parts),
                    _ => self.messages.push(message),
                }
            }
        }
    }
}

/// Adds an item to the model's message. A text after another text records that it begins a new message item.
fn say(said: &mut Vec<Part>, mut item: Vec<Part>) {
    if let (Some(Part::Text { .. }), Some(Part::Text { extra, .. })) = (said.last(), item.first_mut())
        && extra::open(extra, OWN).is_ok_and(|opened| opened.own_raw(MESSAGE).is_none())
    {
        *extra = extra::with_hint(OWN, extra, (MESSAGE, "{}".to_owned()));
    }
    said.extend(item);
}

fn opaque(raw: &RawValue) -> Part {
    Part::Opaque { dialect: OWN, raw: raw.get().into() }
}

fn tool(raw: &RawValue) -> Option<Tool> {
    let mut fields = RawFields::of(raw)?;
    let kind = fields.text("type");
    let Some(name) = fields.text("name").filter(|_| kind.as_deref() == Some("function")) else {
        let name = fields.text("name").or(kind).unwrap_or_default();
        let extra = extra::mark(OWN, vec![hint(KIND, "whole")], fields);
        return Some(Tool { name: name.into(), description: Box::default(), schema: Box::default(), extra });
    };
    fields.take("type");
    fields.take("name");
    let description = fields.take_word("description").unwrap_or_default();
    let schema = fields.take_if("parameters", |raw| is_object(raw).then(|| raw.get())).unwrap_or_default();
    // A tool with a schema and `"strict":false` needs no extra: the encoder writes that flag for tools of other
    // dialects, because this API is strict by default.
    let is_loose = !schema.is_empty()
        && fields.len() == 1
        && fields.get("strict").is_some_and(|raw| raw.get() == "false");
    let extra = if is_loose { None } else { extra::mark(OWN, Vec::new(), fields) };
    Some(Tool { name: name.into(), description: description.into(), schema: schema.into(), extra })
}

fn item(raw: &RawValue, path: &str) -> Result<Item, WireError> {
    let mut fields = RawFields::of(raw).ok_or_else(|| WireError::shape(path, "an object"))?;
    let kind = fields.text("type");
    if kind.as_deref() == Some("message") || (kind.is_none() && fields.get("role").is_some()) {
        return message(raw, fields, path);
    }
    fields.take("type");
    let known = match kind.as_deref().unwrap_or_default() {
        "reasoning" => reasoning(fields).map(|part| Item::Spoken(vec![part])),
        "function_call" => call(fields, "arguments").map(|part| Item::Spoken(vec![part])),
        "custom_tool_call" => call(fields, "input").map(|part| Item::Spoken(vec![part])),
        "function_call_output" => result(fields, Vec::new()).map(Item::Output),
        "custom_tool_call_output" => result(fields, vec![hint(KIND, "custom")]).map(Item::Output),
        _ => None,
    };
    Ok(known.unwrap_or_else(|| Item::Spoken(vec![opaque(raw)])))
}

fn message(raw: &RawValue, mut fields: RawFields<'_>, path: &str) -> Result<Item, WireError> {
    let mut hints: Vec<ExtraForm> = Vec::new();
    if fields.take("type").is_none() {
        hints.push(hint(KIND, "easy"));
    }
    let role = match fields.take_text("role").as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("developer") => Role::System,
        Some("system") => {
            hints.push(hint(ROLE, "system"));
            Role::System
        }
        _ => {
            let path = format!("{path}.role");
            return Err(WireError::shape(&path, "user, assistant, developer or system"));
        }
    };
    let (parts, form) = fields
        .take("content")
        .and_then(|raw| content(raw, if role == Role::Assistant { "output_text" } else { "input_text" }))
        .ok_or_else(|| WireError::shape(&format!("{path}.content"), "a string or a list of parts"))?;
    hints.extend(form.map(|form| hint(SHAPE, form)));
    hints.extend(books(&mut fields));
    let extra = extra::keep(OWN, hints, fields);
    if role != Role::Assistant {
        return Ok(Item::Heard(Message { extra, ..Message::new(role, parts) }));
    }
    let is_text = |part: &Part| matches!(part, Part::Text { .. });
    if parts.is_empty() || !parts.iter().all(is_text) {
        return Ok(Item::Spoken(vec![opaque(raw)]));
    }
    Ok(Item::Spoken(spoken(parts, extra)))
}

/// Stores the remaining fields of an assistant message in the extra of its first text.
fn spoken(mut parts: Vec<Part>, whole: Extra) -> Vec<Part> {
    if let (Some(Part::Text { extra, .. }), Some(whole)) = (parts.first_mut(), whole) {
        *extra = extra::with_hint(OWN, extra, (MESSAGE, whole.into()));
    }
    parts
}

/// Reads content as parts. Also returns the form of the content, unless the content is a list with at least one
/// element. `words` is the type of its texts.
fn content(raw: &RawValue, words: &str) -> Option<(Vec<Part>, Option<&'static str>)> {
    if let Some(text) = text(raw) {
        let parts = if text.is_empty() { Vec::new() } else { vec![Part::text(text)] };
        return Some((parts, Some("string")));
    }
    let parts: Vec<Part> = list(raw)?.into_iter().map(|raw| part(raw, words)).collect();
    let form = parts.is_empty().then_some("blocks");
    Some((parts, form))
}

/// Reads one content part. A part whose shape is not exactly a known one is opaque.
fn part(raw: &RawValue, words: &str) -> Part {
    let known = || {
        let mut fields = RawFields::of(raw)?;
        let kind = fields.take_text("type")?;
        match kind.as_str() {
            kind if kind == words => {
                let text = fields.take_text("text")?;
                let hints = books(&mut fields).into_iter().collect();
                Some(Part::Text { text: text.into(), extra: extra::keep(OWN, hints, fields) })
            }
            "refusal" => {
                let text = fields.take_text("refusal")?;
                let extra = extra::mark(OWN, vec![hint(KIND, "refusal")], fields);
                Some(Part::Text { text: text.into(), extra })
            }
            "input_image" | "input_file" => media(&kind, fields),
            _ => None,
        }
    };
    known().unwrap_or_else(|| opaque(raw))
}

fn media(kind: &str, mut fields: RawFields<'_>) -> Option<Part> {
    let mut hints = Vec::new();
    let (word, url) = match kind {
        "input_image" => ("image", fields.take_text("image_url")),
        _ => ("document", fields.take_text("file_url")),
    };
    let (mime, form, body) = if let Some(url) = url {
        match data_url(&url).filter(|_| word == "image") {
            Some((mime, data)) => (mime.to_owned(), MediaForm::Base64, data.to_owned()),
            None => (String::new(), MediaForm::Url, url),
        }
    } else if let Some(id) = fields.take_text("file_id") {
        (String::new(), MediaForm::File, id)
    } else {
        let data = fields.take_text("file_data")?;
        let (mime, body) = data_url(&data)?;
        if fields.get("filename").is_none() {
            hints.push(hint(SHAPE, "none"));
        }
        fields.take_if("filename", |raw| text(raw).filter(|name| name == FILENAME));
        (mime.to_owned(), MediaForm::Base64, body.to_owned())
    };
    if word == "image" {
        if fields.get("detail").is_none_or(json::is_null) {
            hints.push(hint(SHAPE, "none"));
        }
        fields.take_if("detail", |raw| text(raw).filter(|detail| detail == DETAIL));
    }
    if kind_for(&mime) != word {
        hints.push(hint(KIND, word));
    }
    hints.extend(books(&mut fields));
    let extra = extra::medium(OWN, form, hints, fields);
    Some(Part::Media { mime: mime.into(), form, body: body.into(), extra })
}

/// Reads reasoning: its summary, or its own text if the provider shows it, with the encrypted content as the
/// signature.
fn reasoning(mut fields: RawFields<'_>) -> Option<Part> {
    let summary = list(fields.take("summary")?)?;
    let own = |raw| list(raw).filter(|pieces| !pieces.is_empty());
    let mut hints = Vec::new();
    let (pieces, kind) = match fields.take_if("content", own) {
        Some(content) if summary.is_empty() => {
            hints.push(hint(KIND, "content"));
            (content, "reasoning_text")
        }
        Some(_) => return None,
        None => (summary, "summary_text"),
    };
    let piece = |raw: &RawValue| {
        let mut fields = RawFields::of(raw)?;
        let of_kind = fields.take_text("type").as_deref() == Some(kind);
        let text = fields.take_text("text")?;
        (of_kind && fields.len() == 0).then_some(text)
    };
    let texts: Vec<String> = pieces.into_iter().map(piece).collect::<Option<_>>()?;
    let lengths: Vec<String> = texts.iter().map(|text| text.len().to_string()).collect();
    if texts.len() > 1 || texts.first().is_some_and(String::is_empty) {
        hints.push((SHAPE, json::array(&lengths)));
    }
    let signature = fields.take_word("encrypted_content").map(String::into_boxed_str);
    hints.extend(books(&mut fields));
    let extra = extra::mark(OWN, hints, fields);
    Some(Part::Thinking { text: texts.join(BETWEEN).into(), signature, extra })
}

fn call(mut fields: RawFields<'_>, argument: &str) -> Option<Part> {
    let id = fields.take_text("call_id")?;
    let name = fields.take_text("name")?;
    let input = fields.take_text(argument)?;
    let mut hints = Vec::new();
    if argument == "input" {
        hints.push(hint(KIND, "custom"));
    }
    hints.extend(books(&mut fields));
    let extra = extra::keep(OWN, hints, fields);
    Some(Part::ToolCall { call: id.into(), name: name.into(), input: input.into(), gist: None, extra })
}

fn result(mut fields: RawFields<'_>, mut hints: Vec<ExtraForm>) -> Option<Part> {
    let call = fields.take_text("call_id")?;
    let (content, form) = content(fields.take("output")?, "input_text")?;
    let looks_plain = matches!(content.as_slice(), [] | [Part::Text { extra: None, .. }]);
    match form {
        Some("string") => {}
        _ if looks_plain => hints.push(hint(SHAPE, "blocks")),
        _ => {}
    }
    hints.extend(books(&mut fields));
    let extra = extra::keep(OWN, hints, fields);
    Some(Part::ToolResult { call: call.into(), content, failed: false, extra })
}
