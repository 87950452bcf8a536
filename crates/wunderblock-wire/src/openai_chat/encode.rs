//! Writes the neutral form as OpenAI chat completions.
//!
//! Results are written right after the message with their calls, before any message that originally came between
//! them. Media of a tool result are in a user message that follows the results and names the call. Cache marks are
//! not written, because this provider chooses by itself what to cache.

use super::{FILENAME, IMAGES, PDF, REASONING, kind_for};
use crate::call_id::{self, CallIds};
use crate::extra::{self, INNER, KIND, MAX, MESSAGE, OpenedExtra, ROLE, SHAPE};
use crate::json::{ObjectWriter, RawFields, array, quote};
use crate::outcome::{Encoded, WireError};
use crate::writing::{Medium, UNSENDABLE, Union, Writing, checked, inline, name_of};
use wunderblock_core::budget::Reason;
use wunderblock_core::message::{Body, Dialect, Extra, MediaForm, Message, Part, Role};
use wunderblock_core::request::{Request, Tool};

const OWN: Dialect = Dialect::OpenaiChat;

/// The API refuses a `tool_calls[].id` of more than 40 characters ("string too long", as many clients report). Some
/// servers are less strict.
const IDS: call_id::IdRule = call_id::IdRule {
    fits: |id| !id.is_empty() && id.len() <= 40 && !id.chars().any(char::is_control),
    once: false,
};

/// Writes a request.
pub(crate) fn request(request: &Request) -> Result<Encoded, WireError> {
    let mut writing = Writing::new(OWN, request);
    let opened = writing.open(&request.extra)?;
    let mut object = ObjectWriter::default();
    if let Some(model) = &request.model {
        object = object.text("model", model);
    }
    if let Some(max) = request.max_output {
        let old = opened.own_word(MAX).is_some_and(|name| name == "max_tokens");
        object = object.raw(if old { "max_tokens" } else { "max_completion_tokens" }, &max.0.to_string());
    }
    let tools = tools(&request.tools, &mut writing)?;
    if !tools.is_empty() {
        object = object.raw("tools", &array(&tools));
    }
    let mut chat = Chat {
        ids: call_id::choose(&request.messages, IDS),
        written: system(&request.system, &mut writing)?,
        speech: None,
        results: Vec::new(),
        media: Vec::new(),
        others: Vec::new(),
    };
    for (at, message) in request.messages.iter().enumerate() {
        if !writing.sendable(at, message) {
            continue;
        }
        writing.at(Some(at), 0);
        if message.role == Role::Assistant {
            chat.speak(at, message, &mut writing)?;
        } else {
            chat.hear(at, message, &mut writing)?;
        }
    }
    let messages = chat.finish();
    let object = object.raw("messages", &array(&messages));
    let (stem, blocks) = (object.len() - 1, messages.len() as u64);
    let bytes = object.unknown(opened.fields()).finish().into_bytes();
    Ok(Encoded { bytes, stem, blocks, asked: stem, starts: Vec::new(), dropped: writing.dropped })
}

fn tools(tools: &[Tool], writing: &mut Writing) -> Result<Vec<String>, WireError> {
    let mut written = Vec::with_capacity(tools.len());
    for (at, tool) in tools.iter().enumerate() {
        writing.at(None, at);
        let opened = writing.open(&tool.extra)?;
        if opened.word(KIND).as_deref() == Some("whole") {
            written.extend(writing.whole_tool(tool, &opened));
            continue;
        }
        let mut function = ObjectWriter::default().text("name", &call_id::tool_name(OWN, &tool.name));
        if !tool.description.is_empty() {
            function = function.text("description", &tool.description);
        }
        if !tool.schema.is_empty() {
            function =
                function.raw("parameters", checked(&tool.schema, &format!("the schema of {}", tool.name))?);
        }
        let object = ObjectWriter::typed("function").raw("function", &opened.finish_inner(function)?);
        written.push(object.unknown(opened.fields()).finish());
    }
    Ok(written)
}

/// Writes the system text as one leading message, or as several if its parts record that there were several.
fn system(parts: &[Part], writing: &mut Writing) -> Result<Vec<String>, WireError> {
    let mut written = Vec::new();
    let mut pieces = Vec::new();
    let mut whole: Extra = None;
    for (at, part) in parts.iter().enumerate() {
        writing.at(None, at);
        let (Part::Text { extra, .. } | Part::Media { extra, .. }) = part else {
            pieces.extend(piece(part, "system", writing)?);
            continue;
        };
        if let Some(begun) = extra::open(extra, OWN)?.own_raw(MESSAGE) {
            written.extend(plain_message("system", &pieces, &extra::open(&whole, OWN)?));
            pieces.clear();
            whole = Some(begun.get().into());
        }
        pieces.extend(piece(part, "system", writing)?);
    }
    written.extend(plain_message("system", &pieces, &extra::open(&whole, OWN)?));
    Ok(written)
}

/// Messages already written, the latest assistant message, and the content that follows that message.
struct Chat {
    ids: CallIds,
    written: Vec<String>,
    speech: Option<Speech>,
    results: Vec<String>,
    media: Vec<String>,
    others: Vec<String>,
}

/// An assistant message that is being written.
#[derive(Default, PartialEq)]
struct Speech {
    reasoning: Vec<(&'static str, String)>,
    pieces: Vec<ContentPiece>,
    refusal: Option<String>,
    legacy: Option<String>,
    calls: Vec<String>,
    form: Option<String>,
    fields: Union,
}

/// A piece of content: plain text, or a part that is already JSON.
#[derive(PartialEq)]
enum ContentPiece {
    Plain(String),
    Part(String),
}

impl ContentPiece {
    fn json(&self) -> String {
        match self {
            Self::Plain(text) => ObjectWriter::typed("text").text("text", text).finish(),
            Self::Part(json) => json.clone(),
        }
    }
}

/// Adds the content of a message. A single plain text is a string, unless it was read as a list. Missing content is
/// written as it was read, or else as `empty`.
fn with_content(
    object: ObjectWriter,
    pieces: &[ContentPiece],
    form: Option<&str>,
    empty: &str,
) -> ObjectWriter {
    let json = match (pieces, form) {
        ([], Some("none")) => return object,
        ([], Some("null")) => "null".to_owned(),
        ([], Some("string")) => quote(""),
        ([], Some("blocks")) => "[]".to_owned(),
        ([], _) => empty.to_owned(),
        ([ContentPiece::Plain(text)], form) if form != Some("blocks") => quote(text),
        (pieces, _) => array(&pieces.iter().map(ContentPiece::json).collect::<Vec<_>>()),
    };
    object.raw("content", &json)
}

impl Chat {
    /// Adds an assistant message. Calls that directly follow other calls belong to the same message as those calls.
    fn speak(&mut self, at: usize, message: &Message, writing: &mut Writing) -> Result<(), WireError> {
        let heard = !(self.results.is_empty() && self.media.is_empty() && self.others.is_empty());
        if heard || self.speech.as_ref().is_some_and(|speech| speech.calls.is_empty()) {
            self.flush();
        }
        let opened = writing.open(&message.extra)?;
        let mut speech = self.speech.take().unwrap_or_default();
        for (place, part) in message.parts.iter().enumerate() {
            writing.at(Some(at), place);
            match part {
                Part::ToolCall { call, name, input, extra, .. } => {
                    let id = self.ids.id(at, place, call.as_str());
                    speech.call(id, name, input, &writing.open(extra)?)?;
                }
                Part::Thinking { text, extra, .. } => {
                    let opened = writing.open(extra)?;
                    match opened.is_marked_own().then(|| opened.word(KIND)).flatten() {
                        Some(kind) => {
                            let name =
                                REASONING.into_iter().find(|name| *name == kind).unwrap_or(REASONING[0]);
                            speech.reasoning.push((name, inline(text)?.to_owned()));
                        }
                        None => writing.drop_part(Reason::Dialect, "thinking"),
                    }
                }
                Part::Text { text, extra }
                    if extra::open(extra, OWN)?.own_word(KIND).as_deref() == Some("refusal") =>
                {
                    speech.refusal.get_or_insert_default().push_str(inline(text)?);
                }
                other => speech.pieces.extend(piece(other, "assistant", writing)?),
            }
        }
        if speech.form.is_none() {
            speech.form = opened.own_word(SHAPE);
        }
        writing.at(Some(at), 0);
        writing.unite(&mut speech.fields, opened.fields());
        self.speech = Some(speech).filter(|speech| *speech != Speech::default());
        Ok(())
    }

    /// Adds a message of any other role.
    fn hear(&mut self, at: usize, message: &Message, writing: &mut Writing) -> Result<(), WireError> {
        let opened = writing.open(&message.extra)?;
        let role = if message.role == Role::System { "system" } else { "user" };
        let mut pieces = Vec::new();
        for (place, part) in message.parts.iter().enumerate() {
            writing.at(Some(at), place);
            if let Part::ToolResult { call, content, failed, extra } = part {
                let id = self.ids.id(at, place, call.as_str()).to_owned();
                let opened = writing.open(extra)?;
                if *failed {
                    writing.drop(Reason::Dialect, "the mark that the tool failed");
                }
                self.result(&id, content, &opened, writing)?;
            } else {
                pieces.extend(piece(part, role, writing)?);
            }
        }
        self.others.extend(plain_message(role, &pieces, &opened));
        Ok(())
    }

    fn result(
        &mut self,
        id: &str,
        parts: &[Part],
        opened: &OpenedExtra<'_>,
        writing: &mut Writing,
    ) -> Result<(), WireError> {
        let (mut pieces, mut media) = (Vec::new(), Vec::new());
        writing.nest(true);
        for part in parts {
            match (part, piece(part, "user", writing)?) {
                (Part::Media { .. }, Some(written)) => media.push(written.json()),
                (_, written) => pieces.extend(written),
            }
        }
        writing.nest(false);
        if !media.is_empty() {
            let text = ObjectWriter::typed("text")
                .text("text", &format!("From the result of tool call {id}:"))
                .finish();
            media.insert(0, text);
            self.media
                .push(ObjectWriter::default().text("role", "user").raw("content", &array(&media)).finish());
        }
        let form = opened.own_word(SHAPE);
        let legacy = opened.own_word(KIND).as_deref() == Some("function");
        let mut object = ObjectWriter::default().text("role", if legacy { "function" } else { "tool" });
        if !legacy {
            object = object.text("tool_call_id", id);
        }
        object = with_content(object, &pieces, form.as_deref(), "\"\"");
        let fields = opened.fields().into_iter().filter(|(name, _)| !writing.is_envelope(name));
        self.results.push(object.unknown(fields).finish());
        Ok(())
    }

    fn flush(&mut self) {
        self.written.extend(self.speech.take().map(Speech::finish));
        // The API requires the results directly after the calls, so they precede everything else.
        self.written.append(&mut self.results);
        self.written.append(&mut self.media);
        self.written.append(&mut self.others);
    }

    fn finish(mut self) -> Vec<String> {
        self.flush();
        self.written
    }
}

impl Speech {
    fn call(
        &mut self,
        id: &str,
        name: &str,
        input: &Body,
        opened: &OpenedExtra<'_>,
    ) -> Result<(), WireError> {
        let kind = opened.own_word(KIND).unwrap_or_default();
        let custom = kind == "custom";
        let inner = ObjectWriter::default()
            .text("name", &call_id::tool_name(OWN, name))
            .text(if custom { "input" } else { "arguments" }, inline(input)?);
        let inner = opened.finish_inner(inner)?;
        if kind == "function_call" && self.legacy.is_none() {
            self.legacy = Some(inner);
            return Ok(());
        }
        let word = if custom { "custom" } else { "function" };
        let object = ObjectWriter::default().text("id", id).text("type", word).raw(word, &inner);
        self.calls.push(object.unknown(opened.fields()).finish());
        Ok(())
    }

    fn finish(self) -> String {
        let mut object = ObjectWriter::default().text("role", "assistant");
        for name in REASONING {
            let texts: Vec<&str> = self
                .reasoning
                .iter()
                .filter(|(own, _)| *own == name)
                .map(|(_, text)| text.as_str())
                .collect();
            if !texts.is_empty() {
                object = object.text(name, &texts.join("\n"));
            }
        }
        object = with_content(object, &self.pieces, self.form.as_deref(), "null");
        if let Some(refusal) = &self.refusal {
            object = object.text("refusal", refusal);
        }
        if let Some(legacy) = &self.legacy {
            object = object.raw("function_call", legacy);
        }
        if !self.calls.is_empty() {
            object = object.raw("tool_calls", &array(&self.calls));
        }
        object.unknown(self.fields.iter()).finish()
    }
}

/// Writes a system message or a user message. Returns `None` if the message is empty and was not empty when it was
/// read.
fn plain_message(role: &str, pieces: &[ContentPiece], opened: &OpenedExtra<'_>) -> Option<String> {
    let role = opened.own_word(ROLE).unwrap_or_else(|| role.to_owned());
    let form = opened.own_word(SHAPE);
    if pieces.is_empty() && form.is_none() {
        return None;
    }
    let object = ObjectWriter::default().text("role", &role);
    let object = with_content(object, pieces, form.as_deref(), "[]");
    Some(object.unknown(opened.fields()).finish())
}

/// Writes a part that is neither thinking, nor a tool call, nor a result.
fn piece(part: &Part, role: &str, writing: &mut Writing) -> Result<Option<ContentPiece>, WireError> {
    match part {
        Part::Text { text, extra } => {
            let opened = writing.open(extra)?;
            let text = inline(text)?;
            if opened.own_word(KIND).as_deref() == Some("refusal_part") && role == "assistant" {
                let object = ObjectWriter::typed("refusal").text("refusal", text);
                return Ok(Some(ContentPiece::Part(object.unknown(opened.fields()).finish())));
            }
            let fields = opened.fields();
            if fields.is_empty() {
                return Ok(Some(ContentPiece::Plain(text.to_owned())));
            }
            let object = ObjectWriter::typed("text").text("text", text);
            Ok(Some(ContentPiece::Part(object.unknown(fields).finish())))
        }
        Part::Media { .. } if role == "user" => media(part, writing),
        Part::Opaque { dialect, raw } => {
            let raw = writing.opaque(*dialect, raw)?;
            // Every sendable part of this provider has a neutral form, so a part that stayed opaque cannot be sent.
            let raw = raw.filter(|_| !writing.refuse(Some(UNSENDABLE)));
            Ok(raw.map(|raw| ContentPiece::Part(raw.to_owned())))
        }
        other => {
            writing.drop_part(Reason::Dialect, format!("{} in a message of role {role}", name_of(other)));
            Ok(None)
        }
    }
}

fn media(part: &Part, writing: &mut Writing) -> Result<Option<ContentPiece>, WireError> {
    let Some(Medium { kind, mime, form, body, opened }) =
        writing.medium(part, |opened, mime| opened.kind_or(kind_for(mime)))?
    else {
        return Ok(None);
    };
    let marked = opened.is_marked_own();
    let (name, inner) = match (kind.as_str(), form) {
        ("image", MediaForm::Base64) if marked || IMAGES.contains(&mime) => {
            ("image_url", ObjectWriter::default().text("url", &format!("data:{mime};base64,{body}")))
        }
        ("image", MediaForm::Url) => ("image_url", ObjectWriter::default().text("url", body)),
        ("audio", MediaForm::Base64) if marked || mime == "audio/wav" || mime == "audio/mpeg" => {
            let format = if mime == "audio/mpeg" { "mp3" } else { mime.trim_start_matches("audio/") };
            ("input_audio", ObjectWriter::default().text("data", body).text("format", format))
        }
        ("document", MediaForm::Base64) if marked || mime == PDF => {
            let object = ObjectWriter::default().text("file_data", &format!("data:{mime};base64,{body}"));
            let has_name = opened.own_word(SHAPE).as_deref() == Some("none") || names_file(&opened);
            ("file", if has_name { object } else { object.text("filename", FILENAME) })
        }
        ("document", MediaForm::File) if opened.is_own() => {
            ("file", ObjectWriter::default().text("file_id", body))
        }
        _ => {
            writing.drop_medium(&kind, mime, body);
            return Ok(None);
        }
    };
    let object = ObjectWriter::typed(name).raw(name, &opened.finish_inner(inner)?);
    Ok(Some(ContentPiece::Part(object.unknown(opened.fields()).finish())))
}

/// Returns whether the unknown fields of a file include its name.
fn names_file(opened: &OpenedExtra<'_>) -> bool {
    let inner = opened.own_raw(INNER).and_then(RawFields::of);
    inner.is_some_and(|inner| inner.get("filename").is_some())
}
