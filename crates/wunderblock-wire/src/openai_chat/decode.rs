//! Reads OpenAI chat completions into the neutral form.

use super::{FILENAME, LEGACY, REASONING, data_url, kind_for};
use crate::extra::{self, ExtraForm, INNER, KIND, MAX, MESSAGE, ROLE, SHAPE, hint};
use crate::json::{self, RawFields, is_null, is_object, list, text};
use crate::outcome::WireError;
use serde_json::value::RawValue;
use wunderblock_core::message::{Dialect, MediaForm, Message, Part, Role};
use wunderblock_core::request::{Request, Tool};
use wunderblock_core::units::Tokens;

const OWN: Dialect = Dialect::OpenaiChat;

/// Reads a request.
pub(crate) fn request(bytes: &[u8]) -> Result<Request, WireError> {
    let mut fields =
        RawFields::of(json::document(bytes)?).ok_or_else(|| WireError::shape("the request", "an object"))?;
    let raw_messages =
        fields.take("messages").and_then(list).ok_or_else(|| WireError::shape("messages", "a list"))?;
    let mut hints = Vec::new();
    let number = |raw: &RawValue| raw.get().parse().ok().map(Tokens);
    let mut max_output = fields.take_if("max_completion_tokens", number);
    // The older `max_tokens` counts only if the newer field is missing.
    if max_output.is_none() && fields.get("max_completion_tokens").is_none() {
        max_output = fields.take_if("max_tokens", number);
        hints.extend(max_output.map(|_| hint(MAX, "max_tokens")));
    }
    let model = fields.take_text("model").map(String::into_boxed_str);
    let tools = fields.take_objects("tools").into_iter().filter_map(tool).collect();
    let mut system = Vec::new();
    let mut messages: Vec<Message> = Vec::with_capacity(raw_messages.len());
    for (at, raw) in raw_messages.into_iter().enumerate() {
        let message = message(raw, &format!("messages[{at}]"))?;
        if messages.is_empty() && is_system_text(OWN, &message) {
            let is_plain = system.is_empty() && message.extra.is_none();
            begin(OWN, &mut system, message, is_plain);
            continue;
        }
        match messages.last_mut() {
            // In the neutral form, consecutive results are one message.
            Some(last) if last.role == Role::Tool && message.role == Role::Tool => {
                last.parts.extend(message.parts)
            }
            _ => messages.push(message),
        }
    }
    let extra = extra::keep(OWN, hints, fields);
    Ok(Request { model, max_output, system, tools, messages, cache: None, extra })
}

/// Reads one message.
pub(crate) fn single(raw_json: &str) -> Result<Vec<Message>, WireError> {
    message(json::raw(raw_json)?, "message").map(|message| vec![message])
}

/// Returns whether a message of this dialect or of OpenAI Responses consists of system text only.
pub(crate) fn is_system_text(own: Dialect, message: &Message) -> bool {
    let is_text = |part: &Part| match part {
        Part::Text { extra, .. } => extra::open(extra, own).is_ok_and(|opened| opened.word(KIND).is_none()),
        _ => false,
    };
    message.role == Role::System && !message.parts.is_empty() && message.parts.iter().all(is_text)
}

/// Adds the text of a leading system message. The first part of the message records the message's extra and the fact
/// that a message begins with this part. `is_plain` is true for a first message in the default form, which needs no
/// record.
pub(crate) fn begin(own: Dialect, system: &mut Vec<Part>, message: Message, is_plain: bool) {
    for (at, mut part) in message.parts.into_iter().enumerate() {
        if let Part::Text { extra, .. } = &mut part
            && at == 0
            && !is_plain
        {
            let whole = message.extra.as_deref().unwrap_or("{}").to_owned();
            *extra = extra::with_hint(own, extra, (MESSAGE, whole));
        }
        system.push(part);
    }
}

fn tool(raw: &RawValue) -> Option<Tool> {
    let mut fields = RawFields::of(raw)?;
    let kind = fields.text("type");
    let function = fields.object("function").filter(|_| kind.as_deref() == Some("function"));
    let (Some(mut function), Some(name)) = (function, fields.object("function").and_then(|f| f.text("name")))
    else {
        let custom = fields.object("custom").and_then(|custom| custom.text("name"));
        let name = custom.or(kind).unwrap_or_default();
        let extra = extra::mark(OWN, vec![hint(KIND, "whole")], fields);
        return Some(Tool { name: name.into(), description: Box::default(), schema: Box::default(), extra });
    };
    fields.take("type");
    fields.take("function");
    function.take("name");
    let description = function.take_word("description").unwrap_or_default();
    let schema = function.take_if("parameters", |raw| is_object(raw).then(|| raw.get())).unwrap_or_default();
    let hints = extra::object(function.rest()).map(|rest| (INNER, rest)).into_iter().collect();
    let extra = extra::keep(OWN, hints, fields);
    Some(Tool { name: name.into(), description: description.into(), schema: schema.into(), extra })
}

fn message(raw: &RawValue, path: &str) -> Result<Message, WireError> {
    let mut fields = RawFields::of(raw).ok_or_else(|| WireError::shape(path, "an object"))?;
    let word = fields.take_text("role");
    let role = match word.as_deref() {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool" | "function") => Role::Tool,
        _ => {
            return Err(WireError::shape(
                &format!("{path}.role"),
                "system, developer, user, assistant, tool or function",
            ));
        }
    };
    let (content, form) = content(fields.take("content"))
        .ok_or_else(|| WireError::shape(&format!("{path}.content"), "a string or a list of parts"))?;
    if role == Role::Tool {
        let legacy = word.as_deref() == Some("function");
        return Ok(Message::new(role, vec![result(fields, content, form, legacy)]));
    }
    let mut hints: Vec<ExtraForm> = Vec::new();
    if word.as_deref() == Some("developer") {
        hints.push(hint(ROLE, "developer"));
    }
    // The encoder writes `null` for an assistant message without content, so only other forms are recorded.
    hints
        .extend(form.filter(|form| role != Role::Assistant || *form != "null").map(|form| hint(SHAPE, form)));
    let parts = if role == Role::Assistant { spoken(&mut fields, content) } else { content };
    Ok(Message { extra: extra::keep(OWN, hints, fields), ..Message::new(role, parts) })
}

/// Reads content as parts. Also returns the form of the content if the encoder would choose another form.
fn content(raw: Option<&RawValue>) -> Option<(Vec<Part>, Option<&'static str>)> {
    let Some(raw) = raw else { return Some((Vec::new(), Some("none"))) };
    if is_null(raw) {
        return Some((Vec::new(), Some("null")));
    }
    if let Some(text) = text(raw) {
        return Some(if text.is_empty() {
            (Vec::new(), Some("string"))
        } else {
            (vec![Part::text(text)], None)
        });
    }
    let parts: Vec<Part> = list(raw)?.into_iter().map(part).collect();
    let looks_plain = parts.is_empty() || matches!(parts.as_slice(), [Part::Text { extra: None, .. }]);
    Some((parts, looks_plain.then_some("blocks")))
}

fn result(mut fields: RawFields<'_>, content: Vec<Part>, form: Option<&'static str>, legacy: bool) -> Part {
    let mut hints: Vec<ExtraForm> =
        form.filter(|form| *form != "string").map(|form| hint(SHAPE, form)).into_iter().collect();
    let call = if legacy {
        hints.push(hint(KIND, "function"));
        format!("{LEGACY}{}", fields.text("name").unwrap_or_default())
    } else {
        fields.take_text("tool_call_id").unwrap_or_default()
    };
    Part::ToolResult { call: call.into(), content, failed: false, extra: extra::keep(OWN, hints, fields) }
}

/// Returns the parts of an assistant message: reasoning, content, refusal and calls, in this order.
fn spoken(fields: &mut RawFields<'_>, content: Vec<Part>) -> Vec<Part> {
    let none = RawFields::default;
    let mut parts = Vec::new();
    for name in REASONING {
        if let Some(text) = fields.take_word(name) {
            let extra = extra::mark(OWN, vec![hint(KIND, name)], none());
            parts.push(Part::Thinking { text: text.into(), signature: None, extra });
        }
    }
    parts.extend(content);
    if let Some(text) = fields.take_word("refusal") {
        let extra = extra::mark(OWN, vec![hint(KIND, "refusal")], none());
        parts.push(Part::Text { text: text.into(), extra });
    }
    if let Some(part) = fields.take_if("function_call", legacy_call) {
        parts.push(part);
    }
    // If any call is of an unknown kind, all calls stay among the unknown fields, so that their order is kept.
    let all =
        |raw| list(raw)?.into_iter().map(call).collect::<Option<Vec<_>>>().filter(|calls| !calls.is_empty());
    parts.extend(fields.take_if("tool_calls", all).unwrap_or_default());
    parts
}

fn call(raw: &RawValue) -> Option<Part> {
    let mut fields = RawFields::of(raw)?;
    let kind = fields.take_text("type").unwrap_or_else(|| "function".to_owned());
    let id = fields.take_text("id").unwrap_or_default();
    let mut hints = Vec::new();
    let argument = match kind.as_str() {
        "function" => "arguments",
        "custom" => {
            hints.push(hint(KIND, "custom"));
            "input"
        }
        _ => return None,
    };
    let (name, input, inner) = named(RawFields::of(fields.take(&kind)?)?, argument)?;
    hints.extend(extra::object(inner.rest()).map(|rest| (INNER, rest)));
    let extra = extra::keep(OWN, hints, fields);
    Some(Part::ToolCall { call: id.into(), name: name.into(), input: input.into(), gist: None, extra })
}

fn legacy_call(raw: &RawValue) -> Option<Part> {
    let (name, input, inner) = named(RawFields::of(raw)?, "arguments")?;
    let mut hints = vec![hint(KIND, "function_call")];
    hints.extend(extra::object(inner.rest()).map(|rest| (INNER, rest)));
    let extra = extra::keep(OWN, hints, RawFields::default());
    let call = format!("{LEGACY}{name}");
    Some(Part::ToolCall { call: call.into(), name: name.into(), input: input.into(), gist: None, extra })
}

/// Returns the name, the arguments and the other fields of a call. Some servers write the arguments as an object. The
/// JSON of that object is used as the argument text.
fn named<'a>(mut inner: RawFields<'a>, argument: &str) -> Option<(String, String, RawFields<'a>)> {
    let name = inner.take_text("name")?;
    let input =
        inner.take(argument).map(|raw| text(raw).unwrap_or_else(|| raw.get().to_owned())).unwrap_or_default();
    Some((name, input, inner))
}

/// Reads one content part. A part whose shape is not exactly a known one is opaque.
fn part(raw: &RawValue) -> Part {
    let known = || {
        let mut fields = RawFields::of(raw)?;
        let kind = fields.take_text("type")?;
        match kind.as_str() {
            "text" => {
                let text = fields.take_text("text")?;
                Some(Part::Text { text: text.into(), extra: extra::keep(OWN, Vec::new(), fields) })
            }
            "refusal" => {
                let text = fields.take_text("refusal")?;
                let extra = extra::mark(OWN, vec![hint(KIND, "refusal_part")], fields);
                Some(Part::Text { text: text.into(), extra })
            }
            "image_url" | "input_audio" | "file" => {
                let inner = RawFields::of(fields.take(&kind)?)?;
                media(&kind, fields, inner)
            }
            _ => None,
        }
    };
    known().unwrap_or_else(|| Part::Opaque { dialect: OWN, raw: raw.get().into() })
}

fn media(kind: &str, fields: RawFields<'_>, mut inner: RawFields<'_>) -> Option<Part> {
    let mut hints = Vec::new();
    let (word, mime, form, body) = match kind {
        "image_url" => {
            let url = inner.take_text("url")?;
            let (mime, form, body) = match data_url(&url) {
                Some((mime, data)) => (mime.to_owned(), MediaForm::Base64, data.to_owned()),
                None => (String::new(), MediaForm::Url, url),
            };
            ("image", mime, form, body)
        }
        "input_audio" => {
            let mime = match inner.take_text("format")?.as_str() {
                "mp3" => "audio/mpeg".to_owned(),
                // The encoder would write this format as `mp3`, so the part stays opaque.
                "mpeg" => return None,
                format => format!("audio/{format}"),
            };
            ("audio", mime, MediaForm::Base64, inner.take_text("data")?)
        }
        _ if inner.get("file_id").is_some() => {
            ("document", String::new(), MediaForm::File, inner.take_text("file_id")?)
        }
        _ => {
            let data = inner.take_text("file_data")?;
            let (mime, body) = data_url(&data)?;
            if inner.get("filename").is_none() {
                hints.push(hint(SHAPE, "none"));
            }
            // The encoder adds this name by default, so it is not recorded.
            inner.take_if("filename", |raw| text(raw).filter(|name| name == FILENAME));
            ("document", mime.to_owned(), MediaForm::Base64, body.to_owned())
        }
    };
    if kind_for(&mime) != word {
        hints.push(hint(KIND, word));
    }
    hints.extend(extra::object(inner.rest()).map(|rest| (INNER, rest)));
    Some(Part::Media {
        mime: mime.into(),
        form,
        body: body.into(),
        extra: extra::medium(OWN, form, hints, fields),
    })
}
