//! Writes the neutral form as OpenAI Responses.
//!
//! Items are written in the order of the request: an output may be anywhere after its call. Ids, status and empty
//! fields of items are written only for a request that was read in this dialect. The caller decides in the request's
//! extra whether the provider may store it (`store`) and whether reasoning is returned encrypted (`include`). Cache
//! marks are not written, because this provider chooses by itself what to cache.

use super::PHASE;
use super::content::{finish, piece, reasoning};
use super::decode;
use super::order::{self, ItemKind, Settling, WrittenItem};
use crate::call_id::{self, CallIds, IdChooser};
use crate::extra::{self, KIND, MESSAGE, OpenedExtra, ROLE, SHAPE};
use crate::json::{ObjectWriter, array, quote};
use crate::outcome::{Encoded, WireError};
use crate::writing::{Writing, checked, inline, name_of};
use std::collections::HashSet;
use wunderblock_core::budget::Reason;
use wunderblock_core::message::{Dialect, Extra, Message, Part, Role};
use wunderblock_core::request::{Request, Tool};

const OWN: Dialect = Dialect::OpenaiResponses;

/// The API refuses a `call_id` of more than 64 characters ("string too long"). Outputs are matched to their calls by
/// this id across the whole input, so the id must be unique there.
pub(crate) const IDS: call_id::IdRule = call_id::IdRule {
    fits: |id| !id.is_empty() && id.len() <= 64 && !id.chars().any(char::is_control),
    once: true,
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
        object = object.raw("max_output_tokens", &max.0.to_string());
    }
    let tools = tools(&request.tools, &mut writing)?;
    if !tools.is_empty() {
        object = object.raw("tools", &array(&tools));
    }
    let mut input = Input::new(&request.messages);
    if let Some(text) = input.system(&request.system, &mut writing)? {
        object = object.text("instructions", text);
    }
    if let Some(text) = plain(request, &opened).filter(|_| input.items.is_empty()) {
        let object = object.text("input", text);
        let stem = object.len();
        let bytes = object.unknown(opened.fields()).finish().into_bytes();
        let dropped = writing.dropped;
        // The next message turns this string into a list, so a later request repeats none of these bytes.
        return Ok(Encoded { bytes, stem: 0, blocks: 1, asked: stem, starts: Vec::new(), dropped });
    }
    let items = input.all(&request.messages, &mut writing)?;
    let items: Vec<String> = items.into_iter().map(|item| item.json).collect();
    let object = object.raw("input", &array(&items));
    let (stem, blocks) = (object.len() - 1, items.len() as u64);
    let bytes = object.unknown(opened.fields()).finish().into_bytes();
    Ok(Encoded { bytes, stem, blocks, asked: stem, starts: Vec::new(), dropped: writing.dropped })
}

/// Writes the items of messages that come one by one.
pub(crate) struct ItemEncoder {
    ids: IdChooser,
    input: Input,
    settling: Settling,
    /// Number of messages.
    count: usize,
    /// Number of ids that were replaced.
    pub(crate) replaced: usize,
}

impl ItemEncoder {
    /// Creates an encoder. `taken` has the [names made by us](call_id::made_names) that the messages contain.
    pub(crate) fn new(taken: HashSet<String>) -> Self {
        let (ids, settling) = (IdChooser::new(IDS, taken), Settling::default());
        Self { ids, input: Input::default(), settling, count: 0, replaced: 0 }
    }

    /// Adds a message, and returns the items that are decided, each with the message and part that it was written for.
    pub(crate) fn push(
        &mut self,
        message: &Message,
        writing: &mut Writing,
    ) -> Result<Vec<WrittenItem>, WireError> {
        self.input.ids = self.ids.choose(std::slice::from_ref(message));
        self.replaced += self.input.ids.replaced();
        let mut kept = Vec::new();
        self.input.add(0, message, writing)?;
        for mut item in self.input.items.drain(..) {
            item.place.0 = Some(self.count);
            self.settling.push(item, writing, &mut kept);
        }
        self.count += 1;
        Ok(kept)
    }

    /// Returns the number of messages before the first one whose items are not decided.
    pub(crate) fn decided(&self) -> usize {
        self.settling.first().unwrap_or(self.count)
    }

    /// Returns the items that are left.
    pub(crate) fn finish(self, writing: &mut Writing) -> Vec<WrittenItem> {
        let mut kept = Vec::new();
        self.settling.finish(writing, &mut kept);
        kept
    }
}

/// Returns the input of a request if it was read as one string and still consists of that string.
fn plain<'a>(request: &'a Request, opened: &OpenedExtra<'_>) -> Option<&'a str> {
    let [Message { role: Role::User, parts, extra: None, .. }] = request.messages.as_slice() else {
        return None;
    };
    match parts.as_slice() {
        [Part::Text { text, extra: None }] => {
            text.inline().filter(|_| opened.own_word(SHAPE).as_deref() == Some("string"))
        }
        _ => None,
    }
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
        let mut object = ObjectWriter::typed("function").text("name", &call_id::tool_name(OWN, &tool.name));
        if !tool.description.is_empty() {
            object = object.text("description", &tool.description);
        }
        let is_own = opened.is_marked_own();
        if !tool.schema.is_empty() {
            let schema = checked(&tool.schema, &format!("the schema of {}", tool.name))?;
            object = object.raw("parameters", schema);
        } else if !is_own {
            object = object.raw("parameters", r#"{"type":"object","properties":{}}"#);
        }
        if !is_own {
            object = object.raw("strict", "false");
        }
        written.push(object.unknown(opened.fields()).finish());
    }
    Ok(written)
}

/// Items that are being written.
#[derive(Default)]
struct Input {
    ids: CallIds,
    /// Ids of the calls with free text as input. The outputs of these calls are items of another type.
    custom: HashSet<String>,
    called: HashSet<String>,
    items: Vec<WrittenItem>,
}

/// A message item that is being written.
#[derive(Default)]
struct Open {
    pieces: Vec<String>,
    /// Content of the message, if it is one text.
    text: Option<String>,
    whole: Extra,
    part: usize,
}

impl Input {
    fn new(messages: &[Message]) -> Self {
        Self { ids: call_id::choose(messages, IDS), ..Self::default() }
    }

    /// Adds all messages, and returns the items that the provider accepts in their position.
    fn all(mut self, messages: &[Message], writing: &mut Writing) -> Result<Vec<WrittenItem>, WireError> {
        for (at, message) in messages.iter().enumerate() {
            if writing.sendable(at, message) {
                self.add(at, message, writing)?;
            }
        }
        Ok(order::settle(self.items, writing))
    }

    /// Writes the system text as leading messages. If the first message is one plain text, returns that text for the
    /// instructions instead.
    fn system<'a>(&mut self, parts: &'a [Part], writing: &mut Writing) -> Result<Option<&'a str>, WireError> {
        let begins = |part: &Part| match part {
            Part::Text { extra, .. } => {
                extra::open(extra, OWN).is_ok_and(|opened| opened.own_raw(MESSAGE).is_some())
            }
            _ => false,
        };
        let first = parts.iter().skip(1).position(begins).map_or(parts.len(), |at| at + 1);
        let mut instructions = None;
        let mut open = Open::default();
        for (at, part) in parts.iter().enumerate() {
            writing.at(None, at);
            if let (0, 1, Part::Text { text, extra }) = (at, first, part)
                && !begins(part)
                && extra::open(extra, OWN)?.fields().is_empty()
            {
                writing.open(extra)?;
                instructions = Some(inline(text)?);
                continue;
            }
            if begins(part) {
                self.close(std::mem::take(&mut open), "developer", None, writing)?;
            }
            if matches!(part, Part::Text { .. }) {
                open.add(part, at, piece(part, "input_text", writing)?)?;
            } else {
                writing.drop(Reason::Dialect, format!("{} in system text", name_of(part)));
            }
        }
        self.close(open, "developer", None, writing)?;
        Ok(instructions)
    }

    fn add(&mut self, at: usize, message: &Message, writing: &mut Writing) -> Result<(), WireError> {
        writing.at(Some(at), 0);
        let opened = writing.open(&message.extra)?;
        let (role, words) = match message.role {
            Role::Assistant => ("assistant", "output_text"),
            Role::System => ("developer", "input_text"),
            Role::User | Role::Tool => ("user", "input_text"),
        };
        let is_model = message.role == Role::Assistant;
        let whole = message.extra.clone().filter(|_| opened.is_own());
        let mut open = Open { whole, ..Open::default() };
        for (place, part) in message.parts.iter().enumerate() {
            writing.at(Some(at), place);
            let is_content = match part {
                Part::Text { .. } if is_model && writing.is_made() => {
                    if let Some(json) = spoken(part, &mut open.whole, writing)? {
                        let place = (Some(at), place);
                        self.items.push(WrittenItem { json, kind: ItemKind::Spoken, place });
                    }
                    continue;
                }
                Part::Text { extra, .. } => {
                    let begins = is_model && extra::open(extra, OWN)?.own_raw(MESSAGE).is_some();
                    if begins {
                        self.close(std::mem::take(&mut open), role, Some(at), writing)?;
                    }
                    true
                }
                Part::Media { .. } => true,
                Part::Opaque { .. } => !is_model,
                Part::Thinking { .. } | Part::ToolCall { .. } | Part::ToolResult { .. } => false,
            };
            if is_content {
                open.add(part, place, piece(part, words, writing)?)?;
                continue;
            }
            if !open.pieces.is_empty() {
                self.close(std::mem::take(&mut open), role, Some(at), writing)?;
                writing.at(Some(at), place);
            }
            if let Some((json, kind)) = self.item((at, place), part, is_model, writing)? {
                self.items.push(WrittenItem { json, kind, place: (Some(at), place) });
            }
        }
        self.close(open, role, Some(at), writing)
    }

    /// Writes the open message. An empty message is left out, unless it was already empty when it was read and is not
    /// the model's.
    fn close(
        &mut self,
        open: Open,
        role: &str,
        message: Option<usize>,
        writing: &Writing,
    ) -> Result<(), WireError> {
        let mut opened = extra::open(&open.whole, OWN)?;
        if writing.is_made() {
            // `Writing::open` has already reported the fields of an extra without a dialect.
            opened.keep_known(&[]);
        }
        let form = opened.own_word(SHAPE);
        if open.pieces.is_empty() && (form.is_none() || role == "assistant") {
            return Ok(());
        }
        let object = match opened.own_word(KIND).as_deref() {
            Some("easy") => ObjectWriter::default(),
            _ => ObjectWriter::typed("message"),
        };
        let object = object.text("role", opened.own_word(ROLE).as_deref().unwrap_or(role));
        let content = match (&open.text, form.as_deref()) {
            (Some(text), Some("string")) => quote(text),
            (None, Some("string")) if open.pieces.is_empty() => quote(""),
            _ => array(&open.pieces),
        };
        let json = finish(object.raw("content", &content), &opened, writing)?;
        let kind = if role == "assistant" { ItemKind::Spoken } else { ItemKind::Heard };
        self.items.push(WrittenItem { json, kind, place: (message, open.part) });
        Ok(())
    }

    /// Writes a part that is an item by itself.
    fn item(
        &mut self,
        (at, place): (usize, usize),
        part: &Part,
        is_model: bool,
        writing: &mut Writing,
    ) -> Result<Option<(String, ItemKind)>, WireError> {
        match part {
            Part::Thinking { text, signature, extra } if is_model => {
                let opened = writing.open(extra)?;
                let json = reasoning(inline(text)?, signature.as_deref(), &opened, writing)?;
                Ok(json.map(|json| (json, ItemKind::Reasoning)))
            }
            Part::ToolCall { call, name, input, extra, .. } if is_model => {
                let id = self.ids.id(at, place, call.as_str()).to_owned();
                let opened = writing.open(extra)?;
                // Chat completions also have custom calls, so this recorded kind applies to any dialect.
                let is_custom = opened.word(KIND).as_deref() == Some("custom");
                let (kind, argument) =
                    if is_custom { ("custom_tool_call", "input") } else { ("function_call", "arguments") };
                let object = ObjectWriter::typed(kind)
                    .text("call_id", &id)
                    .text("name", &call_id::tool_name(OWN, name))
                    .text(argument, inline(input)?);
                if is_custom {
                    self.custom.insert(id.clone());
                }
                self.called.insert(id);
                Ok(Some((finish(object, &opened, writing)?, ItemKind::Spoken)))
            }
            Part::ToolResult { call, content, failed, extra } => {
                let id = self.ids.id(at, place, call.as_str()).to_owned();
                let opened = writing.open(extra)?;
                if *failed {
                    writing.drop(Reason::Dialect, "the mark that the tool failed");
                }
                let json = self.output(&id, content, &opened, writing)?;
                Ok(Some((json, ItemKind::Heard)))
            }
            Part::Opaque { dialect, raw } => {
                let Some(raw) = writing.opaque(*dialect, raw)? else { return Ok(None) };
                if !writing.is_made() {
                    return Ok(Some((raw.to_owned(), ItemKind::of(raw))));
                }
                if writing.refuse(order::broken(raw)) {
                    return Ok(None);
                }
                // A transcript may contain reasoning as an opaque item.
                match decode::reasoning_of(raw) {
                    Some(part) => self.item((at, place), &part, is_model, writing),
                    None => Ok(Some((order::unbooked(raw), ItemKind::of(raw)))),
                }
            }
            other => {
                writing.drop_part(
                    Reason::Dialect,
                    format!("{} of another speaker than the model", name_of(other)),
                );
                Ok(None)
            }
        }
    }

    fn output(
        &self,
        id: &str,
        parts: &[Part],
        opened: &OpenedExtra<'_>,
        writing: &mut Writing,
    ) -> Result<String, WireError> {
        let said_custom = opened.own_word(KIND).as_deref() == Some("custom");
        // The output must have the type of its call, whatever the result records.
        let is_custom = if self.called.contains(id) { self.custom.contains(id) } else { said_custom };
        let kind = if is_custom { "custom_tool_call_output" } else { "function_call_output" };
        let object = ObjectWriter::typed(kind).text("call_id", id);
        let output = match (parts, opened.own_word(SHAPE).as_deref()) {
            ([], form) if form != Some("blocks") => quote(""),
            ([Part::Text { text, extra: None }], form) if form != Some("blocks") => quote(inline(text)?),
            (parts, _) => {
                writing.nest(true);
                let mut pieces = Vec::with_capacity(parts.len());
                for part in parts {
                    pieces.extend(piece(part, "input_text", writing)?);
                }
                writing.nest(false);
                array(&pieces)
            }
        };
        finish(object.raw("output", &output), opened, writing)
    }
}

/// In a request that we build, returns a model text as a separate message, because a message without an id has one
/// string as content. `whole` is the extra of the message that the text belongs to. The extra of a text that
/// begins a message replaces `whole`.
fn spoken(part: &Part, whole: &mut Extra, writing: &mut Writing) -> Result<Option<String>, WireError> {
    let Part::Text { text, extra } = part else { return Ok(None) };
    let opened = writing.open(extra)?;
    let lost: Vec<&str> = opened.fields().into_iter().map(|(name, _)| name).collect();
    if !lost.is_empty() {
        writing.drop(Reason::Dialect, format!("fields that only an answer has: {}", lost.join(", ")));
    }
    if opened.own_word(KIND).as_deref() == Some("refusal") {
        writing.drop(Reason::Dialect, "the mark that the model declined");
    }
    if let Some(begun) = opened.own_raw(MESSAGE) {
        *whole = Some(begun.get().into());
    }
    let mut message = extra::open(whole, OWN)?;
    // `Writing::open` has already reported the other fields of an extra without a dialect.
    message.keep_known(&[PHASE]);
    let object = ObjectWriter::typed("message").text("role", "assistant").text("content", inline(text)?);
    let json = finish(object, &message, writing)?;
    // Only the first text carries all fields of the message. The following texts repeat the phase.
    *whole = message
        .fields()
        .into_iter()
        .find(|(name, _)| *name == PHASE)
        .map(|(name, phase)| format!(r#"{{"{name}":{phase}}}"#).into());
    Ok(Some(json))
}

impl Open {
    /// Adds a piece of content. Does nothing if the part could not be written.
    fn add(&mut self, part: &Part, place: usize, piece: Option<String>) -> Result<(), WireError> {
        let Some(piece) = piece else { return Ok(()) };
        if self.pieces.is_empty() {
            self.part = place;
            if let Part::Text { text, extra } = part {
                let opened = extra::open(extra, OWN)?;
                if let Some(whole) = opened.own_raw(MESSAGE) {
                    self.whole = Some(whole.get().into());
                }
                self.text = Some(inline(text)?.to_owned()).filter(|_| opened.fields().is_empty());
            }
        } else {
            self.text = None;
        }
        self.pieces.push(piece);
        Ok(())
    }
}
