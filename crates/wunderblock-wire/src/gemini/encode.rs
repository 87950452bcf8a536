//! Writes the neutral form as Gemini `generateContent`.
//!
//! Consecutive messages from one speaker become one content. In user content, function results come first, because
//! the API requires them right after the calls. The media of a result follow the results, after a text that names the
//! call. System messages between turns become user text inside `<system>`. Cache marks are not written, because this
//! provider chooses by itself what to cache.

use super::MODELS;
use super::parts::{Asked, FunctionAnswer, call_part, is_call, is_nameless, part_of, text_part};
use crate::call_id::{self, CallIds};
use crate::extra::{self, KIND, MAX, MESSAGE, OpenedExtra, ROLE, SHAPE};
use crate::json::{ObjectWriter, array};
use crate::outcome::{Encoded, WireError};
use crate::turns::{OPENING, Turn, TurnList, wrapped};
use crate::writing::{Writing, checked, inline, name_of};
use serde_json::value::RawValue;
use std::collections::HashMap;
use wunderblock_core::budget::Reason;
use wunderblock_core::message::{Dialect, Extra, Message, Part, Role};
use wunderblock_core::request::{Request, Tool};

const OWN: Dialect = Dialect::Gemini;

/// The reference specifies no form for ids. A maximum of 128 characters leaves room for every id that the providers
/// make.
const IDS: call_id::IdRule = call_id::IdRule {
    fits: |id| !id.is_empty() && id.len() <= 128 && !id.chars().any(char::is_control),
    once: false,
};

/// Writes a request.
pub(crate) fn request(request: &Request) -> Result<Encoded, WireError> {
    let mut writing = Writing::new(OWN, request);
    let opened = writing.open(&request.extra)?;
    let mut object = ObjectWriter::default();
    if let Some(model) = &request.model {
        // The API's form is `models/NAME`. A name given in another form is kept unchanged.
        let is_bare = opened.own_word(KIND).as_deref() == Some("model") || model.starts_with(MODELS);
        object = object.text("model", &if is_bare { model.to_string() } else { format!("{MODELS}{model}") });
    }
    let tools = tools(&request.tools, &mut writing)?;
    if !tools.is_empty() {
        object = object.raw("tools", &array(&tools));
    }
    if let Some(system) = system(&request.system, &mut writing)? {
        object = object.raw("systemInstruction", &system);
    }
    let mut contents = Contents {
        ids: call_id::choose(&request.messages, IDS),
        asked: HashMap::new(),
        list: TurnList::new("model"),
        signs: request.model.as_deref().is_some_and(checks_signatures),
    };
    for (at, message) in request.messages.iter().enumerate() {
        if writing.sendable(at, message) {
            contents.add(at, message, &mut writing)?;
        }
    }
    let (contents, blocks, open) = contents.finish();
    object = object.raw("contents", &array(&contents));
    let asked = object.len() - "]".len();
    if let Some(max) = request.max_output {
        object = object.raw("generationConfig", &settings(max.0, &opened)?);
    }
    let bytes = object.unknown(opened.fields()).finish().into_bytes();
    Ok(Encoded { bytes, stem: asked - open, blocks, asked, starts: Vec::new(), dropped: writing.dropped })
}

/// Returns whether a model refuses calls without a signature: Gemini 3 and later do, as do the names of the latest
/// models.
fn checks_signatures(model: &str) -> bool {
    let Some(name) = model.strip_prefix(MODELS).unwrap_or(model).strip_prefix("gemini-") else {
        return false;
    };
    match name.split(['.', '-']).next().unwrap_or_default().parse::<u32>() {
        Ok(number) => number >= 3,
        Err(_) => name.ends_with("-latest"),
    }
}

/// Writes the maximum number of output tokens and the other settings of the request.
fn settings(max: u64, opened: &OpenedExtra<'_>) -> Result<String, WireError> {
    let mut object = ObjectWriter::default().raw("maxOutputTokens", &max.to_string());
    let own = opened.fields().into_iter().find(|(name, _)| *name == "generationConfig").map(|(_, raw)| raw);
    for rest in [opened.own_raw(MAX).map(RawValue::get), own].into_iter().flatten() {
        let fields = extra::parse(rest)?;
        object = object.unknown(fields.iter().map(|(name, raw)| (name.as_str(), raw.get())));
    }
    Ok(object.finish())
}

/// Writes the tools: one entry for all functions, and the provider's own tools unchanged.
fn tools(tools: &[Tool], writing: &mut Writing) -> Result<Vec<String>, WireError> {
    let mut functions: Vec<String> = Vec::new();
    let mut place = None;
    let mut entries: Vec<String> = Vec::new();
    for (at, tool) in tools.iter().enumerate() {
        writing.at(None, at);
        let opened = writing.open(&tool.extra)?;
        if opened.word(KIND).as_deref() == Some("whole") {
            entries.extend(writing.whole_tool(tool, &opened));
            continue;
        }
        place.get_or_insert(entries.len());
        functions.push(function(tool, &opened)?);
    }
    if let Some(place) = place {
        let entry = ObjectWriter::default().raw("functionDeclarations", &array(&functions));
        entries.insert(place, entry.finish());
    }
    Ok(entries)
}

fn function(tool: &Tool, opened: &OpenedExtra<'_>) -> Result<String, WireError> {
    let mut object = ObjectWriter::default().text("name", &call_id::tool_name(OWN, &tool.name));
    if !tool.description.is_empty() {
        object = object.text("description", &tool.description);
    }
    if let Some(raw) = opened.own_raw(SHAPE) {
        object = object.raw("parameters", raw.get());
    } else if !tool.schema.is_empty() {
        let is_own = opened.own_word(KIND).as_deref() == Some("parameters");
        let schema = checked(&tool.schema, &format!("the schema of {}", tool.name))?;
        object = object.raw(if is_own { "parameters" } else { "parametersJsonSchema" }, schema);
    }
    Ok(object.unknown(opened.fields()).finish())
}

fn system(parts: &[Part], writing: &mut Writing) -> Result<Option<String>, WireError> {
    let mut written = Vec::with_capacity(parts.len());
    let mut whole: Extra = None;
    for (at, part) in parts.iter().enumerate() {
        writing.at(None, at);
        let Part::Text { text, extra } = part else {
            writing.drop(Reason::Dialect, format!("{} in system text", name_of(part)));
            continue;
        };
        let opened = writing.open(extra)?;
        if let Some(fields) = opened.own_raw(MESSAGE) {
            whole = Some(fields.get().into());
        }
        written.extend(text_part(inline(text)?, &opened, writing));
    }
    if written.is_empty() {
        return Ok(None);
    }
    let object = ObjectWriter::default().raw("parts", &array(&written));
    Ok(Some(object.unknown(extra::open(&whole, OWN)?.fields()).finish()))
}

/// Contents of a request that is being written.
struct Contents {
    ids: CallIds,
    /// Functions of the calls already written, by the ids that were written.
    asked: HashMap<String, Asked>,
    list: TurnList<String>,
    /// Whether the model refuses a call without a signature.
    signs: bool,
}

impl Contents {
    fn add(&mut self, at: usize, message: &Message, writing: &mut Writing) -> Result<(), WireError> {
        writing.at(Some(at), 0);
        let opened = writing.open(&message.extra)?;
        let role = match (message.role, opened.own_word(ROLE).as_deref()) {
            (Role::Assistant, _) => "model",
            // In a request that we build, everything that the model does not say belongs to the user's turn.
            (_, Some("function")) if !writing.is_made() => "function",
            (_, Some("none")) if !writing.is_made() => "",
            _ => "user",
        };
        let mut turn = Turn::new(role);
        let mut media = Vec::new();
        // Only the first call of a content carries a signature.
        let mut has_called = role == "model" && self.has_call();
        for (place, part) in message.parts.iter().enumerate() {
            writing.at(Some(at), place);
            match part {
                Part::Text { text, .. } if message.role == Role::System => {
                    let text = inline(text)?;
                    if !text.trim().is_empty() {
                        turn.blocks.push(ObjectWriter::default().text("text", &wrapped(text)).finish());
                    }
                }
                Part::ToolCall { call, name, input, extra, .. } if role == "model" => {
                    let id = self.ids.id(at, place, call.as_str());
                    let signs = self.signs && !std::mem::replace(&mut has_called, true);
                    let opened = writing.open(extra)?;
                    let asked = Asked { name: name.clone(), is_nameless: is_nameless(&opened) };
                    self.asked.insert(id.to_owned(), asked);
                    turn.blocks.push(call_part(id, name, inline(input)?, &opened, signs)?);
                }
                Part::ToolResult { call, content, failed, extra } if role != "model" => {
                    let id = self.ids.id(at, place, call.as_str());
                    let answer = FunctionAnswer { id, asked: self.asked.get(id), content, failed: *failed };
                    turn.results.push(answer.write(extra, &mut media, writing)?);
                }
                other => turn.blocks.extend(part_of(other, role, writing)?),
            }
        }
        // Media of results come before everything else that the user says.
        media.append(&mut turn.blocks);
        turn.blocks = media;
        if !turn.is_empty() {
            writing.at(Some(at), 0);
            writing.unite(&mut turn.fields, opened.fields());
            self.list.join(turn, writing);
        }
        Ok(())
    }

    /// Returns whether the model turn that is being extended contains a call.
    fn has_call(&self) -> bool {
        let last = self.list.turns.last().filter(|turn| turn.role == "model");
        last.is_some_and(|turn| turn.blocks.iter().any(|part| is_call(part)))
    }

    /// Returns the contents, the number of their parts, and the bytes of the last content after its last part.
    fn finish(self) -> (Vec<String>, u64, usize) {
        let opening = || {
            let part = ObjectWriter::default().text("text", OPENING).finish();
            Turn { results: vec![part], ..Turn::new("user") }
        };
        let turns = self.list.finish(opening);
        let (mut contents, mut parts, mut open) = (Vec::with_capacity(turns.len()), 0, 0);
        for turn in turns {
            parts += turn.results.len() as u64;
            let mut object = ObjectWriter::default();
            if !turn.role.is_empty() {
                object = object.text("role", turn.role);
            }
            let object = object.raw("parts", &array(&turn.results));
            let end = object.len() - "]".len();
            let content = object.unknown(turn.fields.iter()).finish();
            open = content.len() - end;
            contents.push(content);
        }
        (contents, parts, open)
    }
}
