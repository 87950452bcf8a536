//! Reads Anthropic Messages into the neutral form.

use crate::extra::{self, ExtraForm, FAILED, INNER, KIND, REPLY, SHAPE, hint};
use crate::json::{self, RawFields, is_null, is_object, list, text};
use crate::outcome::WireError;
use serde_json::value::RawValue;
use wunderblock_core::message::{Dialect, MediaForm, Message, Part, Role};
use wunderblock_core::request::{Request, Tool};
use wunderblock_core::units::Tokens;

const OWN: Dialect = Dialect::Anthropic;

/// Reads a request.
pub(crate) fn request(bytes: &[u8]) -> Result<Request, WireError> {
    let mut fields =
        RawFields::of(json::document(bytes)?).ok_or_else(|| WireError::shape("the request", "an object"))?;
    let messages =
        fields.take("messages").and_then(list).ok_or_else(|| WireError::shape("messages", "a list"))?;
    let mut request = Request {
        model: fields.take_text("model").map(String::into_boxed_str),
        max_output: fields.take_if("max_tokens", |raw| raw.get().parse().ok()).map(Tokens),
        system: fields.take_if("system", system).unwrap_or_default(),
        tools: fields.take_objects("tools").into_iter().filter_map(tool).collect(),
        messages: Vec::with_capacity(messages.len()),
        cache: None,
        extra: None,
    };
    for (at, raw) in messages.into_iter().enumerate() {
        request.messages.extend(message(raw, &format!("messages[{at}]"), false)?);
    }
    request.extra = extra::keep(OWN, Vec::new(), fields);
    Ok(request)
}

/// Reads one message of a request or of a reply.
pub(crate) fn single(raw_json: &str) -> Result<Vec<Message>, WireError> {
    message(json::raw(raw_json)?, "message", true)
}

/// Reads the value of a `content` field: a string, or a list of blocks.
///
/// # Errors
/// Returns an error unless the text is a string or a list in JSON.
pub fn decode_blocks(raw_json: &str) -> Result<Vec<Part>, WireError> {
    content(json::raw(raw_json)?)
        .map(|(parts, _)| parts)
        .ok_or_else(|| WireError::shape("content", "a string or a list of blocks"))
}

/// Reads the system text. `None` if the text is empty or has another form. A text that is empty or has another form
/// stays among the unknown fields.
fn system(raw: &RawValue) -> Option<Vec<Part>> {
    if let Some(text) = text(raw) {
        let extra = extra::mark(OWN, vec![hint(SHAPE, "string")], RawFields::parse("{}").ok()?);
        return (!text.is_empty()).then(|| vec![Part::Text { text: text.into(), extra }]);
    }
    let parts: Vec<Part> = list(raw)?.into_iter().map(|raw| block(raw, false)).collect();
    (!parts.is_empty()).then_some(parts)
}

fn tool(raw: &RawValue) -> Option<Tool> {
    let mut fields = RawFields::of(raw)?;
    let (Some(name), Some(schema)) =
        (fields.text("name"), fields.get("input_schema").filter(|raw| is_object(raw)))
    else {
        // A tool that the provider runs itself has no schema. Its type identifies it.
        let name = fields.text("name").or_else(|| fields.text("type")).unwrap_or_default();
        let extra = extra::mark(OWN, vec![hint(KIND, "whole")], fields);
        return Some(Tool { name: name.into(), description: Box::default(), schema: Box::default(), extra });
    };
    fields.take("name");
    fields.take("input_schema");
    let description = fields.take_word("description").unwrap_or_default();
    let extra = extra::keep(OWN, Vec::new(), fields);
    Some(Tool { name: name.into(), description: description.into(), schema: schema.get().into(), extra })
}

fn message(raw: &RawValue, path: &str, of_reply: bool) -> Result<Vec<Message>, WireError> {
    let mut fields = RawFields::of(raw).ok_or_else(|| WireError::shape(path, "an object"))?;
    let role = match fields.take_text("role").as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => return Err(WireError::shape(&format!("{path}.role"), "user, assistant or system")),
    };
    let (parts, form) = fields
        .take("content")
        .and_then(content)
        .ok_or_else(|| WireError::shape(&format!("{path}.content"), "a string or a list of blocks"))?;
    let mut hints: Vec<ExtraForm> = form.into_iter().collect();
    let mut whole = Message::new(role, parts);
    if of_reply {
        fields = reply(fields, &mut whole, &mut hints);
    }
    // The mark distinguishes a system message that was read in this dialect from one that we added. The encoder keeps
    // the system role only for a message that was read in this dialect, because older models refuse the role.
    whole.extra =
        if role == Role::System { extra::mark(OWN, hints, fields) } else { extra::keep(OWN, hints, fields) };
    Ok(if role == Role::User { split(whole) } else { vec![whole] })
}

/// Moves the other fields of a recorded message into a hint. The fields are kept but never sent, because the API
/// refuses a message with unknown fields or with fields of a reply.
fn reply<'a>(mut fields: RawFields<'a>, message: &mut Message, hints: &mut Vec<ExtraForm>) -> RawFields<'a> {
    let is_reply = fields.text("type").as_deref() == Some("message") || fields.get("usage").is_some();
    if is_reply {
        message.api_id = fields.take_text("id").map(String::into_boxed_str);
        message.model = fields.take_text("model").map(String::into_boxed_str);
        message.stop = fields.take_text("stop_reason").map(String::into_boxed_str);
    }
    if let Some(rest) = extra::object(fields.rest()) {
        hints.push((REPLY, rest));
    }
    RawFields::default()
}

/// Splits a user message into messages of tool results and messages of other content, in order.
pub(crate) fn split(message: Message) -> Vec<Message> {
    let Message { parts, extra, .. } = message;
    let mut messages: Vec<Message> = Vec::new();
    for part in parts {
        let role = if matches!(part, Part::ToolResult { .. }) { Role::Tool } else { Role::User };
        match messages.last_mut() {
            Some(last) if last.role == role => last.parts.push(part),
            _ => messages.push(Message::new(role, vec![part])),
        }
    }
    if messages.is_empty() {
        messages.push(Message::new(Role::User, Vec::new()));
    }
    if let Some(first) = messages.first_mut() {
        first.extra = extra;
    }
    messages
}

/// Reads content as parts. Also returns the original form of the content if the encoder would choose another form.
fn content(raw: &RawValue) -> Option<(Vec<Part>, Option<ExtraForm>)> {
    if let Some(text) = text(raw) {
        let parts = if text.is_empty() { Vec::new() } else { vec![Part::text(text)] };
        return Some((parts, Some(hint(SHAPE, "string"))));
    }
    Some((list(raw)?.into_iter().map(|raw| block(raw, false)).collect(), None))
}

fn opaque(raw: &RawValue) -> Part {
    Part::Opaque { dialect: OWN, raw: raw.get().into() }
}

/// Reads one block. A block whose shape is not exactly a known one is opaque. `nested` states whether the block is in
/// a tool result.
fn block(raw: &RawValue, nested: bool) -> Part {
    let Some(mut fields) = RawFields::of(raw) else { return opaque(raw) };
    let kind = fields.take_text("type").unwrap_or_default();
    let part = match kind.as_str() {
        "text" => text_block(fields),
        "image" | "document" => media(fields, &kind),
        "thinking" if !nested => thinking(fields),
        "redacted_thinking" if !nested => redacted(fields),
        "tool_use" if !nested => tool_use(fields),
        "tool_result" if !nested => tool_result(fields),
        _ => None,
    };
    part.unwrap_or_else(|| opaque(raw))
}

fn text_block(mut fields: RawFields<'_>) -> Option<Part> {
    let text = fields.take_text("text")?;
    Some(Part::Text { text: text.into(), extra: extra::keep(OWN, Vec::new(), fields) })
}

fn thinking(mut fields: RawFields<'_>) -> Option<Part> {
    let text = fields.take_text("thinking")?;
    let signature = fields.take_text("signature").map(String::into_boxed_str);
    Some(Part::Thinking { text: text.into(), signature, extra: extra::keep(OWN, Vec::new(), fields) })
}

/// Reads redacted thinking: the signature is all that is left of it.
fn redacted(mut fields: RawFields<'_>) -> Option<Part> {
    let signature = Some(fields.take_word("data")?.into_boxed_str());
    let extra = extra::keep(OWN, vec![hint(KIND, "redacted")], fields);
    Some(Part::Thinking { text: "".into(), signature, extra })
}

fn tool_use(mut fields: RawFields<'_>) -> Option<Part> {
    let call = fields.take_text("id")?;
    let name = fields.take_text("name")?;
    // If the input is missing, the encoders write an empty object, which the API accepts.
    let input = fields.take("input").map(RawValue::get).unwrap_or_default();
    let extra = extra::keep(OWN, Vec::new(), fields);
    Some(Part::ToolCall { call: call.into(), name: name.into(), input: input.into(), gist: None, extra })
}

fn tool_result(mut fields: RawFields<'_>) -> Option<Part> {
    let call = fields.take_text("tool_use_id")?;
    let flag =
        fields.take_if("is_error", |raw| ["true", "false", "null"].contains(&raw.get()).then(|| raw.get()));
    let failed = flag == Some("true");
    let mut hints: Vec<ExtraForm> =
        flag.filter(|_| !failed).map(|flag| (FAILED, flag.to_owned())).into_iter().collect();
    let mut content = Vec::new();
    if let Some(raw) = fields.take("content") {
        if let Some(text) = text(raw) {
            if text.is_empty() {
                hints.push(hint(SHAPE, "string"));
            } else {
                content.push(Part::text(text));
            }
        } else if is_null(raw) {
            hints.push(hint(SHAPE, "null"));
        } else {
            content = list(raw)?.into_iter().map(|raw| block(raw, true)).collect();
            // The encoder writes a single plain text as a string, so the list has to be recorded.
            if content.is_empty() || matches!(content.as_slice(), [Part::Text { extra: None, .. }]) {
                hints.push(hint(SHAPE, "blocks"));
            }
        }
    }
    let extra = extra::keep(OWN, hints, fields);
    Some(Part::ToolResult { call: call.into(), content, failed, extra })
}

fn media(mut fields: RawFields<'_>, kind: &str) -> Option<Part> {
    let mut source = RawFields::of(fields.take("source")?)?;
    let mut hints = Vec::new();
    let form = source.take_text("type")?;
    let (mime, form, body) = match form.as_str() {
        "base64" => (source.take_text("media_type")?, MediaForm::Base64, source.take_text("data")?),
        "url" => (String::new(), MediaForm::Url, source.take_text("url")?),
        "file" => (String::new(), MediaForm::File, source.take_text("file_id")?),
        "text" if kind == "document" => {
            let text = source.take_text("data")?;
            hints.push(hint(KIND, "document"));
            hints.extend(extra::object(source.rest()).map(|rest| (INNER, rest)));
            return Some(Part::Text { text: text.into(), extra: extra::keep(OWN, hints, fields) });
        }
        _ => return None,
    };
    if kind != super::block_for(&mime) {
        hints.push(hint(KIND, kind));
    }
    hints.extend(extra::object(source.rest()).map(|rest| (INNER, rest)));
    Some(Part::Media {
        mime: mime.into(),
        form,
        body: body.into(),
        extra: extra::medium(OWN, form, hints, fields),
    })
}
