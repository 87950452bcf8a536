//! Reads Gemini `generateContent` into the neutral form.

use super::{MODELS, NAMELESS, camel, schema, takes};
use crate::anthropic::decode::split;
use crate::extra::{self, ExtraForm, INNER, KIND, MAX, MESSAGE, ROLE, SHAPE, hint};
use crate::json::{self, RawFields, is_null, is_object, list};
use crate::outcome::WireError;
use serde_json::value::RawValue;
use std::collections::HashMap;
use wunderblock_core::id::CallId;
use wunderblock_core::message::{Dialect, MediaForm, Message, Part, Role};
use wunderblock_core::request::{Request, Tool};
use wunderblock_core::units::Tokens;

const OWN: Dialect = Dialect::Gemini;

/// Fields that determine the kind of a part.
const KINDS: [&str; 9] = [
    "text",
    "functionCall",
    "functionResponse",
    "inlineData",
    "fileData",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
];
/// Other fields that clients may write in snake case.
const NAMES: [&str; 13] = [
    "systemInstruction",
    "generationConfig",
    "toolConfig",
    "safetySettings",
    "cachedContent",
    "maxOutputTokens",
    "functionDeclarations",
    "parametersJsonSchema",
    "thoughtSignature",
    "videoMetadata",
    "mimeType",
    "fileUri",
    "displayName",
];

/// Opens an object whose field names may be in snake case.
fn fields_of(raw: &RawValue) -> Option<RawFields<'_>> {
    let mut fields = RawFields::of(raw)?;
    fields.rename(camel, &NAMES);
    Some(fields)
}

/// Opens a part whose field names may be in snake case.
fn opened_part(raw: &RawValue) -> Option<RawFields<'_>> {
    let mut fields = fields_of(raw)?;
    fields.rename(camel, &KINDS);
    Some(fields)
}

/// Reads a request.
pub(crate) fn request(bytes: &[u8]) -> Result<Request, WireError> {
    let mut fields =
        fields_of(json::document(bytes)?).ok_or_else(|| WireError::shape("the request", "an object"))?;
    let contents =
        fields.take("contents").and_then(list).ok_or_else(|| WireError::shape("contents", "a list"))?;
    let mut hints = Vec::new();
    let model = fields.take_text("model").map(|name| match name.strip_prefix(MODELS) {
        Some(name) => name.into(),
        None => {
            hints.push(hint(KIND, "model"));
            name.into_boxed_str()
        }
    });
    let max_output = fields.get("generationConfig").and_then(max_output);
    if let Some((_, rest)) = &max_output {
        fields.take("generationConfig");
        hints.push((MAX, rest.clone()));
    }
    let system = fields.take_if("systemInstruction", system).unwrap_or_default();
    let tools = fields.take_objects("tools").into_iter().flat_map(tools).collect();
    let mut reading = Reading::default();
    let mut messages = Vec::with_capacity(contents.len());
    for (at, raw) in contents.into_iter().enumerate() {
        messages.extend(reading.content(raw, &format!("contents[{at}]"))?);
    }
    let plain = "{}";
    hints.retain(|(name, rest)| *name != MAX || rest != plain);
    let extra = extra::keep(OWN, hints, fields);
    let max_output = max_output.map(|(max, _)| max);
    Ok(Request { model, max_output, system, tools, messages, cache: None, extra })
}

/// Reads one content, which is a message of this API.
pub(crate) fn single(raw_json: &str) -> Result<Vec<Message>, WireError> {
    Reading::default().content(json::raw(raw_json)?, "content")
}

/// Returns the maximum number of output tokens, and the other settings as JSON.
fn max_output(raw: &RawValue) -> Option<(Tokens, String)> {
    let mut fields = fields_of(raw)?;
    let max = fields.take_if("maxOutputTokens", |raw| raw.get().parse().ok())?;
    Some((Tokens(max), extra::object(fields.rest()).unwrap_or_else(|| "{}".to_owned())))
}

/// Reads the system text. `None` if the text is empty or has another form. A text that is empty or has another form
/// stays among the unknown fields.
fn system(raw: &RawValue) -> Option<Vec<Part>> {
    let mut fields = RawFields::of(raw)?;
    let mut reading = Reading::default();
    let parts: Vec<Part> = list(fields.take("parts")?)?.into_iter().map(|raw| reading.part(raw)).collect();
    let is_text = |part: &Part| matches!(part, Part::Text { .. });
    if parts.is_empty() || !parts.iter().all(is_text) {
        return None;
    }
    let whole = extra::object(fields.rest());
    Some(marked(parts, whole))
}

/// Stores, in the extra of the first text, the remaining fields of the object that contains the texts.
fn marked(mut parts: Vec<Part>, whole: Option<String>) -> Vec<Part> {
    if let (Some(Part::Text { extra, .. }), Some(whole)) = (parts.first_mut(), whole) {
        *extra = extra::with_hint(OWN, extra, (MESSAGE, whole));
    }
    parts
}

/// Returns the functions that an entry of `tools` declares, or the whole entry as one tool.
fn tools(raw: &RawValue) -> Vec<Tool> {
    let Some(fields) = fields_of(raw) else { return Vec::new() };
    let functions = fields.get("functionDeclarations").and_then(list).unwrap_or_default();
    let read: Option<Vec<Tool>> = functions.into_iter().map(function).collect();
    match read.filter(|tools| !tools.is_empty() && fields.len() == 1) {
        Some(tools) => tools,
        None => {
            let name = fields.names().next().unwrap_or_default().to_owned();
            let extra = extra::mark(OWN, vec![hint(KIND, "whole")], fields);
            vec![Tool { name: name.into(), description: Box::default(), schema: Box::default(), extra }]
        }
    }
}

fn function(raw: &RawValue) -> Option<Tool> {
    let mut fields = fields_of(raw)?;
    let name = fields.take_text("name")?;
    let description = fields.take_word("description").unwrap_or_default();
    let mut hints = Vec::new();
    let mut schema = String::new();
    if let Some(raw) = fields.take_if("parametersJsonSchema", |raw| is_object(raw).then_some(raw)) {
        raw.get().clone_into(&mut schema);
    } else if let Some(raw) = fields.take_if("parameters", |raw| is_object(raw).then_some(raw)) {
        let lowered = schema::lowered(raw);
        hints.push(match lowered {
            Some(_) => (SHAPE, raw.get().to_owned()),
            None => hint(KIND, "parameters"),
        });
        schema = lowered.unwrap_or_else(|| raw.get().to_owned());
    }
    let extra = extra::keep(OWN, hints, fields);
    Some(Tool { name: name.into(), description: description.into(), schema: schema.into(), extra })
}

/// State that is kept while contents are read in order.
#[derive(Default)]
struct Reading {
    /// Names of the functions that earlier parts call, by call id.
    names: HashMap<CallId, String>,
    /// Number of calls or results without an id in the current content, by function name.
    nameless: HashMap<String, usize>,
}

impl Reading {
    fn content(&mut self, raw: &RawValue, path: &str) -> Result<Vec<Message>, WireError> {
        let mut fields = RawFields::of(raw).ok_or_else(|| WireError::shape(path, "an object"))?;
        let mut hints = Vec::new();
        let word = fields.take_text("role");
        let role = match word.as_deref() {
            Some("user") => Role::User,
            Some("model") => Role::Assistant,
            Some("function") => Role::User,
            None if fields.get("role").is_none() => Role::User,
            _ => return Err(WireError::shape(&format!("{path}.role"), "user, model or function")),
        };
        match word.as_deref() {
            Some("function") => hints.push(hint(ROLE, "function")),
            None => hints.push(hint(ROLE, "none")),
            _ => {}
        }
        let parts = fields
            .take("parts")
            .and_then(list)
            .ok_or_else(|| WireError::shape(&format!("{path}.parts"), "a list of parts"))?;
        self.nameless.clear();
        let parts = parts.into_iter().map(|raw| self.part(raw)).collect();
        let extra = extra::keep(OWN, hints, fields);
        let message = Message { extra, ..Message::new(role, parts) };
        Ok(if role == Role::User { split(message) } else { vec![message] })
    }

    /// Reads one part. A part whose shape is not exactly a known one is opaque.
    fn part(&mut self, raw: &RawValue) -> Part {
        let opaque = |text: &str| Part::Opaque { dialect: OWN, raw: text.into() };
        let Some(mut fields) = RawFields::of(raw) else { return opaque(raw.get()) };
        // A client that writes all the fields it knows sends `null` for the absent ones.
        let absent = fields.take_all(|name, value| is_null(value) && KINDS.contains(&camel(name).as_str()));
        let is_other = [KINDS.as_slice(), &NAMES].map(|names| fields.rename(camel, names)).contains(&true);
        let written = (is_other || !absent.is_empty()).then(|| fields.written());
        let kind = KINDS.into_iter().find(|name| fields.get(name).is_some()).unwrap_or_default();
        let known = match kind {
            "text" => spoken(fields),
            "functionCall" => self.call(fields),
            "functionResponse" => self.result(fields),
            "inlineData" => inline_data(fields, Vec::new()),
            "fileData" => file_data(fields),
            _ => None,
        };
        known.unwrap_or_else(|| opaque(written.as_deref().unwrap_or(raw.get())))
    }

    /// Returns the id of a call or of its result. If the id is missing, it is made from the function's name.
    fn id(&mut self, fields: &mut RawFields<'_>, name: &str, hints: &mut Vec<ExtraForm>) -> CallId {
        if let Some(id) = fields.take_word("id") {
            return id.into();
        }
        hints.push(hint(KIND, "nameless"));
        let count = self.nameless.entry(name.to_owned()).or_default();
        *count += 1;
        let made = format!("{NAMELESS}{name}");
        if *count == 1 { made.into() } else { format!("{made}:{count}").into() }
    }

    fn call(&mut self, mut fields: RawFields<'_>) -> Option<Part> {
        let mut inner = fields_of(fields.take("functionCall")?)?;
        let name = inner.take_text("name")?;
        let mut hints = Vec::new();
        let input = match inner.get("args") {
            Some(raw) if is_object(raw) => inner.take("args").map(RawValue::get).unwrap_or_default(),
            Some(_) => return None,
            None => {
                hints.push(hint(SHAPE, "none"));
                "{}"
            }
        };
        let call = self.id(&mut inner, &name, &mut hints);
        self.names.insert(call.clone(), name.clone());
        hints.extend(extra::object(inner.rest()).map(|rest| (INNER, rest)));
        let extra = extra::keep(OWN, hints, fields);
        Some(Part::ToolCall { call, name: name.into(), input: input.into(), gist: None, extra })
    }

    fn result(&mut self, mut fields: RawFields<'_>) -> Option<Part> {
        let mut inner = fields_of(fields.take("functionResponse")?)?;
        let name = inner.text("name")?;
        let response = inner.take("response").filter(|raw| is_object(raw))?;
        let mut hints = Vec::new();
        let call = self.id(&mut inner, &name, &mut hints);
        // The encoder takes the name from the call, so the result's name is kept only if it differs.
        if self.names.get(&call) == Some(&name) {
            inner.take("name");
        }
        let (mut content, failed) = answer(response, &mut hints);
        if let Some(parts) = inner.take_if("parts", list) {
            let data = |raw| inline_data(opened_part(raw)?, vec![hint(KIND, "part")]);
            content.extend(parts.into_iter().map(data).collect::<Option<Vec<_>>>()?);
        }
        hints.extend(extra::object(inner.rest()).map(|rest| (INNER, rest)));
        let extra = extra::keep(OWN, hints, fields);
        Some(Part::ToolResult { call, content, failed, extra })
    }
}

/// Reads a function's response: the text of its output or its error if this is its only field, otherwise the whole
/// object as JSON. The flag indicates whether the function failed.
fn answer(response: &RawValue, hints: &mut Vec<ExtraForm>) -> (Vec<Part>, bool) {
    let fields = RawFields::of(response).unwrap_or_default();
    let said = |name| fields.text(name).filter(|_| fields.len() == 1);
    for (name, failed) in [("output", false), ("error", true)] {
        if let Some(text) = said(name) {
            let content = if text.is_empty() { Vec::new() } else { vec![Part::text(text)] };
            return (content, failed);
        }
    }
    hints.push(hint(SHAPE, "json"));
    (vec![Part::text(response.get())], false)
}

/// Reads a text or a thought. A signature with an empty text is a thought whose text the provider withholds.
fn spoken(mut fields: RawFields<'_>) -> Option<Part> {
    let text = fields.take_text("text")?;
    let is_thought = fields.take_if("thought", |raw| (raw.get() == "true").then_some(())).is_some();
    if !is_thought && !text.is_empty() {
        return Some(Part::Text { text: text.into(), extra: extra::keep(OWN, Vec::new(), fields) });
    }
    let signature = fields.take_word("thoughtSignature").map(String::into_boxed_str);
    if !is_thought && signature.is_none() {
        return Some(Part::Text { text: text.into(), extra: extra::keep(OWN, Vec::new(), fields) });
    }
    let hints = if is_thought { Vec::new() } else { vec![hint(KIND, "text")] };
    Some(Part::Thinking { text: text.into(), signature, extra: extra::mark(OWN, hints, fields) })
}

fn inline_data(mut fields: RawFields<'_>, mut hints: Vec<ExtraForm>) -> Option<Part> {
    let mut inner = fields_of(fields.take("inlineData")?)?;
    let mime = inner.take_text("mimeType")?;
    let body = inner.take_text("data")?.into();
    hints.extend(extra::object(inner.rest()).map(|rest| (INNER, rest)));
    let extra = if takes(&mime) { extra::keep(OWN, hints, fields) } else { extra::mark(OWN, hints, fields) };
    Some(Part::Media { mime: mime.into(), form: MediaForm::Base64, body, extra })
}

/// Host of the provider's file store.
const FILE_HOST: &str = "googleapis.com";

/// Reads a file, which is either stored by the provider or available at a public address.
fn file_data(mut fields: RawFields<'_>) -> Option<Part> {
    let mut inner = fields_of(fields.take("fileData")?)?;
    let uri = inner.take_text("fileUri")?;
    let mime = inner.take_word("mimeType").unwrap_or_default();
    let host = uri.split_once("://").and_then(|(_, rest)| rest.split(['/', '?', '#', ':']).next());
    // Addresses at this host belong to the provider's own file store.
    let is_own = host.is_some_and(|host| {
        host == FILE_HOST || host.strip_suffix(FILE_HOST).is_some_and(|sub| sub.ends_with('.'))
    });
    let is_open = uri.starts_with("http") && !is_own;
    let form = if is_open { MediaForm::Url } else { MediaForm::File };
    let hints = extra::object(inner.rest()).map(|rest| (INNER, rest)).into_iter().collect();
    let extra = extra::medium(OWN, form, hints, fields);
    Some(Part::Media { mime: mime.into(), form, body: uri.into(), extra })
}
