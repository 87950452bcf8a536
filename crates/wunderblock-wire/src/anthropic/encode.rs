//! Neutral → Anthropic Messages.
//!
//! Messages of one role in a row become one, as the API itself would combine them; in a user message the tool results
//! come first. Text of role system between turns stays a system message where it was one in this dialect and stands
//! where the API takes it; otherwise it is said by the user, inside `<system>`, because older models refuse the role.

use super::{IMAGES, PDF, block_for};
use crate::call_id::{self, Written};
use crate::extra::{FAILED, KIND, Opened, SHAPE};
use crate::json::{self, Object, array, quote};
use crate::outcome::{Encoded, WireError};
use crate::writing::{Union, Writing, checked, inline, name_of};
use serde_json::value::RawValue;
use wunderblock_core::budget::Reason;
use wunderblock_core::message::{Body, Dialect, Extra, MediaForm, Message, Part, Role};
use wunderblock_core::request::{Request, Tool};

const OWN: Dialect = Dialect::Anthropic;

/// Said by the user where a conversation would begin with the assistant, which the API refuses.
const OPENING: &str = "(The conversation begins here.)";

/// `tool_use.id` has to match `^[a-zA-Z0-9_-]+$` and be unique in a request. No limit of length is documented; 128
/// keeps room for every id the providers make.
const IDS: call_id::Rule = call_id::Rule { fits: |id| call_id::is_plain(id, 128), once: true };

/// One message of the API.
struct Turn {
    role: &'static str,
    results: Vec<String>,
    blocks: Vec<String>,
    /// Its content as a string, if it came as one.
    plain: Option<String>,
    fields: Union,
}

/// Writes a request.
pub(crate) fn request(request: &Request) -> Result<Encoded, WireError> {
    let mut writing = Writing::new(OWN);
    let opened = writing.open(&request.extra)?;
    let mut object = Object::default();
    if let Some(model) = &request.model {
        object = object.text("model", model);
    }
    if let Some(most) = request.max_output {
        object = object.raw("max_tokens", &most.0.to_string());
    }
    let tools = tools(&request.tools, &mut writing)?;
    if !tools.is_empty() {
        object = object.raw("tools", &array(&tools));
    }
    if let Some(system) = system(&request.system, &mut writing)? {
        object = object.raw("system", &system);
    }
    let mut turns = Turns { ids: call_id::choose(&request.messages, IDS), turns: Vec::new(), run: None };
    for (at, message) in request.messages.iter().enumerate() {
        if writing.sendable(at, message) {
            turns.add(at, message, &mut writing)?;
        }
    }
    let bytes =
        object.raw("messages", &array(&turns.finish())).unknown(opened.fields()).finish().into_bytes();
    Ok(Encoded { bytes, dropped: writing.dropped })
}

fn tools(tools: &[Tool], writing: &mut Writing) -> Result<Vec<String>, WireError> {
    let mut written = Vec::with_capacity(tools.len());
    for (at, tool) in tools.iter().enumerate() {
        writing.at(None, at);
        let opened = writing.open(&tool.extra)?;
        if opened.word(KIND).as_deref() == Some("whole") {
            if opened.is_own() {
                written.push(Object::default().unknown(opened.fields()).finish());
            } else {
                writing.drop(Reason::Dialect, format!("the tool {}, which its provider runs", tool.name));
            }
            continue;
        }
        let mut object = Object::default().text("name", &call_id::tool_name(OWN, &tool.name));
        if !tool.description.is_empty() {
            object = object.text("description", &tool.description);
        }
        let schema = match &*tool.schema {
            "" => r#"{"type":"object","properties":{}}"#,
            schema => checked(schema, &format!("the schema of {}", tool.name))?,
        };
        written.push(object.raw("input_schema", schema).unknown(opened.fields()).finish());
    }
    Ok(written)
}

fn system(parts: &[Part], writing: &mut Writing) -> Result<Option<String>, WireError> {
    let mut blocks = Vec::with_capacity(parts.len());
    for (at, part) in parts.iter().enumerate() {
        writing.at(None, at);
        match part {
            Part::Text { text, extra } => {
                let opened = writing.open(extra)?;
                if parts.len() == 1 && opened.own_word(SHAPE).as_deref() == Some("string") {
                    return Ok(Some(quote(inline(text)?)));
                }
                blocks.extend(text_block(text, &opened, Place::Message, writing)?);
            }
            Part::Opaque { dialect, raw } => blocks.extend(writing.opaque(*dialect, raw)?.map(str::to_owned)),
            other => writing.drop(Reason::Dialect, format!("{} in system text", name_of(other))),
        }
    }
    Ok((!blocks.is_empty()).then(|| array(&blocks)))
}

struct Turns {
    ids: Written,
    turns: Vec<Turn>,
    /// The first turn since the assistant last spoke.
    run: Option<usize>,
}

impl Turns {
    /// Adds a message to the turn it belongs to.
    fn add(&mut self, at: usize, message: &Message, writing: &mut Writing) -> Result<(), WireError> {
        writing.at(Some(at), 0);
        let opened = writing.open(&message.extra)?;
        let role = match message.role {
            Role::Assistant => "assistant",
            Role::System if opened.is_marked_own() && self.takes_system() => "system",
            Role::System | Role::User | Role::Tool => "user",
        };
        let quoted = message.role == Role::System && role == "user";
        let mut turn =
            Turn { role, results: Vec::new(), blocks: Vec::new(), plain: None, fields: Union::default() };
        for (place, part) in message.parts.iter().enumerate() {
            writing.at(Some(at), place);
            match part {
                Part::Text { text, .. } if quoted => {
                    let text = inline(text)?;
                    if !text.trim().is_empty() {
                        turn.blocks.push(Object::typed("text").text("text", &wrapped(text)).finish());
                    }
                }
                Part::ToolResult { call, content, failed, extra } if role == "user" => {
                    let id = self.ids.id(at, place, call.as_str());
                    turn.results.push(result(id, (content, *failed), extra, writing)?);
                }
                Part::ToolCall { call, name, input, extra, .. } if role == "assistant" => {
                    let id = self.ids.id(at, place, call.as_str());
                    turn.blocks.push(tool_use(id, name, input, &writing.open(extra)?)?);
                }
                other => turn.blocks.extend(block(other, role, writing)?),
            }
        }
        if turn.results.is_empty() && turn.blocks.is_empty() {
            return Ok(());
        }
        if let ([Part::Text { text, extra: None }], false) = (message.parts.as_slice(), quoted)
            && opened.own_word(SHAPE).as_deref() == Some("string")
        {
            turn.plain = Some(quote(inline(text)?));
        }
        for (name, value) in opened.fields() {
            turn.fields.add(name, value);
        }
        writing.at(Some(at), 0);
        self.join(turn, writing);
        Ok(())
    }

    /// A system message has to follow a user turn.
    fn takes_system(&self) -> bool {
        self.turns.last().is_some_and(|turn| turn.role != "assistant")
    }

    fn join(&mut self, mut turn: Turn, writing: &mut Writing) {
        if let Some(first) = self.run.and_then(|run| self.turns.get_mut(run)).filter(|_| turn.role == "user")
        {
            let results = std::mem::take(&mut turn.results);
            if !results.is_empty() {
                first.plain = None;
                first.results.extend(results);
            }
        }
        match self.turns.last_mut() {
            Some(last) if last.role == turn.role => {
                last.plain = None;
                last.results.append(&mut turn.results);
                last.blocks.append(&mut turn.blocks);
                for (name, value) in turn.fields.iter() {
                    if !last.fields.add(name, value) {
                        writing
                            .drop(Reason::Dialect, format!("the field {name}: the turn has another already"));
                    }
                }
            }
            _ if turn.results.is_empty() && turn.blocks.is_empty() => {}
            _ => {
                if turn.role == "assistant" {
                    self.run = None;
                } else if self.run.is_none() {
                    self.run = Some(self.turns.len());
                }
                self.turns.push(turn);
            }
        }
    }

    fn finish(self) -> Vec<String> {
        let mut messages = Vec::with_capacity(self.turns.len() + 1);
        if self.turns.first().is_some_and(|turn| turn.role == "assistant") {
            messages.push(Object::default().text("role", "user").text("content", OPENING).finish());
        }
        for Turn { role, mut results, blocks, plain, fields } in self.turns {
            let content = plain.unwrap_or_else(|| {
                results.extend(blocks);
                array(&results)
            });
            messages.push(
                Object::default().text("role", role).raw("content", &content).unknown(fields.iter()).finish(),
            );
        }
        messages
    }
}

fn wrapped(text: &str) -> String {
    format!("<system>\n{text}\n</system>")
}

/// Where a text stands: in a message the API refuses one of white space only, in a tool result it takes it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Message,
    Result,
}

/// A part that is neither a tool call nor a result.
fn block(part: &Part, role: &str, writing: &mut Writing) -> Result<Option<String>, WireError> {
    match part {
        Part::Text { text, extra } => {
            let opened = writing.open(extra)?;
            text_block(text, &opened, Place::Message, writing)
        }
        Part::Thinking { text, signature, extra } if role == "assistant" => {
            let opened = writing.open(extra)?;
            let signature = signature.as_deref().filter(|signature| !signature.is_empty() && opened.is_own());
            let Some(signature) = signature else {
                writing.drop(Reason::Unsigned, "thinking without a signature of this provider");
                return Ok(None);
            };
            let object =
                Object::typed("thinking").text("thinking", inline(text)?).text("signature", signature);
            Ok(Some(object.unknown(opened.fields()).finish()))
        }
        Part::Media { mime, form, body, extra } if role == "user" => {
            media((mime, *form, body), extra, writing)
        }
        Part::Opaque { dialect, raw } => Ok(writing.opaque(*dialect, raw)?.map(str::to_owned)),
        other => {
            writing.drop(Reason::Dialect, format!("{} in a message of role {role}", name_of(other)));
            Ok(None)
        }
    }
}

fn text_block(
    text: &Body,
    opened: &Opened<'_>,
    place: Place,
    writing: &mut Writing,
) -> Result<Option<String>, WireError> {
    let text = inline(text)?;
    if text.is_empty() || (place == Place::Message && text.trim().is_empty()) {
        writing.drop(Reason::Empty, "a text with nothing in it");
        return Ok(None);
    }
    let object = if opened.own_word(KIND).as_deref() == Some("document") {
        let source = Object::typed("text").text("data", text);
        Object::typed("document").raw("source", &opened.finish_inner(source)?)
    } else {
        Object::typed("text").text("text", text)
    };
    Ok(Some(object.unknown(opened.fields()).finish()))
}

fn tool_use(id: &str, name: &str, input: &Body, opened: &Opened<'_>) -> Result<String, WireError> {
    let input = inline(input)?;
    let object = Object::typed("tool_use").text("id", id).text("name", &call_id::tool_name(OWN, name));
    let object = match serde_json::from_str::<&RawValue>(input) {
        Ok(raw) if json::is_object(raw) => object.raw("input", raw.get()),
        _ if input.trim().is_empty() => object.raw("input", "{}"),
        _ => object.raw("input", &Object::default().text("arguments", input).finish()),
    };
    Ok(object.unknown(opened.fields()).finish())
}

fn result(
    id: &str,
    (content, failed): (&[Part], bool),
    extra: &Extra,
    writing: &mut Writing,
) -> Result<String, WireError> {
    let opened = writing.open(extra)?;
    let form = opened.own_word(SHAPE);
    let object = Object::typed("tool_result").text("tool_use_id", id);
    let object = match (content, form.as_deref()) {
        ([Part::Text { text, extra: None }], form) if form != Some("blocks") => {
            object.text("content", inline(text)?)
        }
        ([], Some("string")) => object.text("content", ""),
        ([], Some("null")) => object.raw("content", "null"),
        ([], Some("blocks")) => object.raw("content", "[]"),
        ([], _) => object,
        (parts, _) => {
            let mut blocks = Vec::with_capacity(parts.len());
            for part in parts {
                blocks.extend(match part {
                    Part::Text { text, extra } => {
                        let opened = writing.open(extra)?;
                        text_block(text, &opened, Place::Result, writing)?
                    }
                    other => block(other, "user", writing)?,
                });
            }
            object.raw("content", &array(&blocks))
        }
    };
    let object = match (failed, opened.own_raw(FAILED)) {
        (true, _) => object.raw("is_error", "true"),
        (false, Some(flag)) => object.raw("is_error", flag.get()),
        (false, None) => object,
    };
    Ok(object.unknown(opened.fields()).finish())
}

fn media(
    (mime, form, body): (&str, MediaForm, &Body),
    extra: &Extra,
    writing: &mut Writing,
) -> Result<Option<String>, WireError> {
    let opened = writing.open(extra)?;
    let body = inline(body)?;
    let kind = opened.word(KIND).unwrap_or_else(|| block_for(mime).to_owned());
    let known = match (kind.as_str(), form) {
        ("image", MediaForm::Base64) => IMAGES.contains(&mime),
        ("document", MediaForm::Base64) => mime == PDF,
        ("image" | "document", MediaForm::Url) => {
            !body.starts_with("data:") && (mime.is_empty() || mime == PDF || IMAGES.contains(&mime))
        }
        ("image" | "document", MediaForm::File) => opened.is_own(),
        _ => false,
    };
    if !known && !opened.is_marked_own() {
        let mime = if mime.is_empty() { "no type" } else { mime };
        writing.drop(Reason::Dialect, format!("a medium ({kind}, {mime}, {} bytes)", body.len()));
        return Ok(None);
    }
    let source = match form {
        MediaForm::Base64 => Object::typed("base64").text("media_type", mime).text("data", body),
        MediaForm::Url => Object::typed("url").text("url", body),
        MediaForm::File => Object::typed("file").text("file_id", body),
    };
    let object = Object::typed(&kind).raw("source", &opened.finish_inner(source)?);
    Ok(Some(object.unknown(opened.fields()).finish()))
}
