//! Content blocks as agents store them. Most agents keep the blocks of their provider.
//!
//! This module is not a dialect: nothing is written back, so every spelling seen in a transcript is accepted, for any
//! provider. An unknown block stays whole as [`Part::Opaque`].

use super::object::{self, Object, array, string};
use crate::extra::KIND;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::VecDeque;
use wunderblock_core::id::CallId;
use wunderblock_core::message::{Body, Dialect, Extra, MediaForm, Part};

/// Maximum number of calls without an id that wait for their result. Beyond this number, the oldest calls are
/// forgotten.
const MAX_WAITING: usize = 1024;

/// Ids for calls and results that were recorded without an id. These calls and results are paired by their order.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct CallPairing {
    waiting: VecDeque<Box<str>>,
}

/// Reader of the blocks of one record.
#[derive(Debug)]
pub(crate) struct Blocks<'p> {
    /// Dialect of the blocks.
    pub(crate) dialect: Dialect,
    /// Ids for calls without an id.
    pub(crate) pairing: &'p mut CallPairing,
    /// Base of generated ids, unique to the record.
    pub(crate) base: &'p str,
    made: usize,
}

impl<'p> Blocks<'p> {
    pub(crate) fn new(dialect: Dialect, pairing: &'p mut CallPairing, base: &'p str) -> Self {
        Self { dialect, pairing, base, made: 0 }
    }

    /// Returns the parts of a content: a string, one block, or an array of either.
    pub(crate) fn content(&mut self, value: Option<&RawValue>) -> Vec<Part> {
        let Some(value) = value.filter(|value| value.get() != "null") else { return Vec::new() };
        if let Some(text) = string(value) {
            return vec![Part::text(text.into_owned())];
        }
        match array(value) {
            Some(blocks) => blocks.into_iter().map(|block| self.block(block)).collect(),
            None => vec![self.block(value)],
        }
    }

    /// Returns the id of a call: its own id, or a generated one.
    pub(crate) fn call_id(&mut self, id: Option<Box<str>>) -> CallId {
        if let Some(id) = id {
            return CallId(id);
        }
        let made = self.make_id();
        if self.pairing.waiting.len() >= MAX_WAITING {
            self.pairing.waiting.pop_front();
        }
        self.pairing.waiting.push_back(made.clone());
        CallId(made)
    }

    /// Returns the id of a result: its own id, or that of the oldest waiting call.
    pub(crate) fn result_id(&mut self, id: Option<Box<str>>) -> CallId {
        CallId(id.or_else(|| self.pairing.waiting.pop_front()).unwrap_or_else(|| self.make_id()))
    }

    fn make_id(&mut self) -> Box<str> {
        self.made += 1;
        match self.made {
            1 => format!("call-{}", self.base).into(),
            n => format!("call-{}-{n}", self.base).into(),
        }
    }

    /// Reads a call in any known shape.
    pub(crate) fn tool_call(&mut self, call: &Object<'_>) -> Option<Part> {
        self.tool_call_as(None, call)
    }

    /// Reads a call whose id is in another object.
    pub(crate) fn tool_call_as(&mut self, id: Option<Box<str>>, call: &Object<'_>) -> Option<Part> {
        let function = call.object("function").or_else(|| call.object("functionCall")).unwrap_or_default();
        let name =
            first_word(call, &["name", "toolName", "tool_name", "tool"]).or_else(|| function.word("name"))?;
        let arguments = first(call, &["arguments", "args", "input", "parameters", "params"])
            .or_else(|| first(&function, &["arguments", "args", "parameters"]));
        let id = id.or_else(|| first_word(call, &CALL_IDS)).or_else(|| function.word("id"));
        Some(Part::ToolCall {
            call: self.call_id(id),
            name,
            input: arguments.map_or_else(|| "{}".to_owned(), input).into(),
            gist: None,
            extra: None,
        })
    }

    /// Reads a result in any known shape.
    pub(crate) fn tool_result(&mut self, result: &Object<'_>) -> Part {
        let content = first(result, &["content", "output", "result", "value", "response", "text", "error"]);
        let id =
            first_word(result, &["tool_use_id", "tool_call_id", "call_id", "toolCallId", "callId", "id"]);
        let failed = ["is_error", "isError", "failed"].iter().any(|key| result.flag(key))
            || is_false(result, "success");
        Part::ToolResult {
            call: self.result_id(id),
            content: content.map(|content| self.answer(content)).unwrap_or_default(),
            failed,
            extra: None,
        }
    }

    /// Reads a tool's answer: text, blocks, or an object that is kept as JSON text.
    pub(crate) fn answer(&mut self, value: &RawValue) -> Vec<Part> {
        let Some(object) = Object::of(value) else { return self.content(Some(value)) };
        if object.has("type") {
            return vec![self.block(value)];
        }
        for key in ["content", "output"] {
            match object.get(key) {
                Some(inner) if inner.get().starts_with(['"', '[']) => return self.content(Some(inner)),
                _ => {}
            }
        }
        vec![Part::text(value.get())]
    }

    fn block(&mut self, value: &RawValue) -> Part {
        if let Some(text) = string(value) {
            return Part::text(text.into_owned());
        }
        let part = Object::of(value).and_then(|block| self.known(&block));
        part.unwrap_or_else(|| Part::Opaque { dialect: self.dialect, raw: value.get().into() })
    }

    fn known(&mut self, block: &Object<'_>) -> Option<Part> {
        let kind = block.text("type");
        match kind.as_deref().unwrap_or("") {
            "text" | "input_text" | "output_text" | "summary_text" | "reasoning_text" => Some(Part::Text {
                // Some agents write the text under `content`, the name of the field that contains the block.
                text: first_text(block, &["text", "content"])?.into(),
                extra: self.extra(block, &["type", "text", "content"]),
            }),
            "thinking" | "think" | "reasoning" => {
                let text = first_text(block, &["thinking", "think", "text", "reasoning"])?;
                Some(Part::Thinking {
                    text: text.into(),
                    signature: first_word(block, &["signature", "thinkingSignature"]),
                    extra: self.extra(block, &["type", "thinking", "signature"]),
                })
            }
            "redacted_thinking" => Some(Part::Thinking {
                text: "".into(),
                signature: block.word("data"),
                extra: crate::extra::with_hint(self.dialect, &None, crate::extra::hint(KIND, "redacted")),
            }),
            "tool_use" | "toolCall" | "tool_call" | "tool-call" | "function_call" => {
                let mut part = self.tool_call(block)?;
                if let Part::ToolCall { extra, .. } = &mut part {
                    *extra = self.extra(block, &["type", "id", "name", "input", "arguments", "function"]);
                }
                Some(part)
            }
            "tool_result" | "tool-result" | "toolResult" => {
                let mut part = self.tool_result(block);
                if let Part::ToolResult { extra, .. } = &mut part {
                    *extra = self.extra(block, &["type", "tool_use_id", "content", "is_error"]);
                }
                Some(part)
            }
            "image" | "document" | "file" | "audio" | "image_url" | "input_image" | "input_audio"
            | "input_file" => self.media(block),
            "" => self.gemini(block),
            _ => None,
        }
    }

    fn media(&self, block: &Object<'_>) -> Option<Part> {
        let (form, mime, body, known) = anthropic_media(block).or_else(|| openai_media(block))?;
        let inner = block.object("image_url").or_else(|| block.object("file"));
        let inner = inner.and_then(|inner| self.extra(&inner, &["url", "file_data", "file_id"]));
        let extra = self.extra(block, known).or(inner);
        Some(Part::Media { mime: mime.into(), form, body: body.into(), extra })
    }

    /// Reads a part of Gemini. A Gemini part has no type: the name of its field determines its kind.
    fn gemini(&mut self, part: &Object<'_>) -> Option<Part> {
        if let Some(text) = part.text("text") {
            let text: Body = text.into_owned().into();
            let signature = part.word("thoughtSignature");
            return Some(if part.flag("thought") {
                Part::Thinking { text, signature, extra: None }
            } else {
                Part::Text { text, extra: None }
            });
        }
        if let Some(call) = part.object("functionCall") {
            return self.tool_call(&call);
        }
        if let Some(response) = part.object("functionResponse") {
            return Some(self.tool_result(&response));
        }
        let data = part.object("inlineData").or_else(|| part.object("inline_data"))?;
        let mime = first_text(&data, &["mimeType", "mime_type"]).unwrap_or_default();
        let body = data.text("data")?.into_owned().into();
        Some(Part::Media { mime: mime.into(), form: MediaForm::Base64, body, extra: None })
    }

    /// Returns the unknown fields of a block, if requests may contain such a block. Agents with their own blocks (pi,
    /// Codex) use unknown fields for bookkeeping, so these fields are dropped.
    fn extra(&self, block: &Object<'_>, known: &[&str]) -> Extra {
        matches!(self.dialect, Dialect::Anthropic | Dialect::OpenaiChat).then(|| block.extra(known)).flatten()
    }
}

const CALL_IDS: [&str; 6] = ["call_id", "tool_call_id", "toolCallId", "callId", "tool_use_id", "id"];

/// Returns the arguments of a call as the text of a JSON object. Arguments of any other kind become the object's
/// field `input`.
pub(crate) fn input(value: &RawValue) -> String {
    let Some(text) = string(value) else {
        return match value.get() {
            object if object.starts_with('{') => object.to_owned(),
            "null" => "{}".to_owned(),
            other => format!("{{\"input\":{other}}}"),
        };
    };
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return "{}".to_owned();
    }
    if Object::parse(trimmed).is_ok() {
        trimmed.to_owned()
    } else {
        format!("{{\"input\":{}}}", object::quoted(&text))
    }
}

/// Returns the first of the fields that exists and is not `null`.
pub(crate) fn first<'a>(object: &Object<'a>, keys: &[&str]) -> Option<&'a RawValue> {
    keys.iter().find_map(|key| object.some(key))
}

/// Returns the first of the fields that is a non-empty text.
pub(crate) fn first_word(object: &Object<'_>, keys: &[&str]) -> Option<Box<str>> {
    keys.iter().find_map(|key| object.word(key))
}

fn first_text(object: &Object<'_>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| object.text(key)).map(std::borrow::Cow::into_owned)
}

/// Returns whether no part has content that could be sent to a model.
pub(crate) fn is_silent(parts: &[Part]) -> bool {
    parts.iter().all(|part| matches!(part, Part::Text { text, .. } if text.bytes().0 == 0))
}

fn is_false(object: &Object<'_>, key: &str) -> bool {
    object.get(key).is_some_and(|value| value.get() == "false")
}

type Medium = (MediaForm, String, String, &'static [&'static str]);

fn anthropic_media(block: &Object<'_>) -> Option<Medium> {
    if let Some(data) = first_text(block, &["data"]) {
        let mime = first_text(block, &["mimeType", "media_type", "mime"]).unwrap_or_default();
        return Some((MediaForm::Base64, mime, data, &["type", "data", "mimeType", "media_type", "mime"]));
    }
    let source = block.object("source")?;
    let mime = first_text(&source, &["media_type"]).unwrap_or_default();
    let known = &["type", "source"];
    match source.text("type")?.as_ref() {
        "base64" => Some((MediaForm::Base64, mime, first_text(&source, &["data"])?, known)),
        "url" => Some((MediaForm::Url, mime, first_text(&source, &["url"])?, known)),
        "file" => Some((MediaForm::File, mime, first_text(&source, &["file_id"])?, known)),
        _ => None,
    }
}

fn openai_media(block: &Object<'_>) -> Option<Medium> {
    if let Some(audio) = block.object("input_audio") {
        let mime = format!("audio/{}", audio.text("format").unwrap_or_default());
        return Some((MediaForm::Base64, mime, first_text(&audio, &["data"])?, &["type", "input_audio"]));
    }
    let file = block.object("file").unwrap_or_default();
    let image = block.object("image_url").unwrap_or_default();
    let url = first_text(block, &["image_url", "file_url", "file_data"])
        .or_else(|| first_text(&image, &["url"]))
        .or_else(|| first_text(&file, &["file_data", "url"]));
    let known = &["type", "image_url", "file_url", "file_data", "file_id", "file"];
    match url {
        Some(url) => {
            let (form, mime, body) = split_data_url(url);
            Some((form, mime, body, known))
        }
        None => {
            let id = first_text(block, &["file_id"]).or_else(|| first_text(&file, &["file_id"]))?;
            Some((MediaForm::File, String::new(), id, known))
        }
    }
}

fn split_data_url(url: String) -> (MediaForm, String, String) {
    let parts = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match parts {
        Some((mime, data)) => (MediaForm::Base64, mime.to_owned(), data.to_owned()),
        None => (MediaForm::Url, String::new(), url),
    }
}
