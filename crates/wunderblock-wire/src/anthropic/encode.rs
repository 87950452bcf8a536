//! Writes the neutral form as Anthropic Messages.
//!
//! Consecutive messages of the same role become one message, just as the API itself would combine them. In a user
//! message, the tool results precede all other content. A system message between turns keeps its role if it had that
//! role in this dialect and the API accepts it at that position. Any other system message becomes part of a user
//! message, inside `<system>`, because older models refuse the role.
//!
//! If a request specifies what to cache, the marks of an imported conversation are not written. If a request
//! specifies what to cache, content is always a list of blocks, so that a block that joins a message later changes
//! nothing before it.

use super::blocks;
use super::cache::{self, WrittenBlock};
use super::{IMAGES, PDF, block_for};
use crate::call_id::{self, CallIds};
use crate::extra::{FAILED, KIND, OpenedExtra, SHAPE};
use crate::json::{self, ObjectWriter, array, quote};
use crate::outcome::{Encoded, WireError};
use crate::turns::{OPENING, Turn, TurnList, wrapped};
use crate::writing::{Medium, Writing, checked, inline, name_of};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use wunderblock_core::budget::Reason;
use wunderblock_core::message::{Body, Dialect, Extra, MediaForm, Message, Part, Role};
use wunderblock_core::request::{CachePoint, Request, Tool};

const OWN: Dialect = Dialect::Anthropic;

/// `tool_use.id` must match `^[a-zA-Z0-9_-]+$` and be unique in a request. The reference gives no maximum length. 128
/// characters leave room for every id that the providers make.
pub(crate) const IDS: call_id::IdRule = call_id::IdRule { fits: |id| call_id::is_plain(id, 128), once: true };

/// Writes a request.
pub(crate) fn request(request: &Request) -> Result<Encoded, WireError> {
    let mut writing = Writing::new(OWN, request);
    let points = request.cache.as_deref().unwrap_or_default();
    if request.cache.is_some() {
        writing.own(cache::FIELD);
    }
    let wanted = |point| points.contains(&point);
    let opened = writing.open(&request.extra)?;
    let mut object = ObjectWriter::default();
    if let Some(model) = &request.model {
        object = object.text("model", model);
    }
    if let Some(max) = request.max_output {
        object = object.raw("max_tokens", &max.0.to_string());
    }
    let mut tools = tools(&request.tools, &mut writing)?;
    if wanted(CachePoint::Tools) {
        cache::mark_last(&mut tools);
    }
    if !tools.is_empty() {
        object = object.raw("tools", &listed(&tools));
    }
    if let Some(system) = system(&request.system, wanted(CachePoint::System), &mut writing)? {
        object = object.raw("system", &system);
    }
    let mut turns = Turns {
        encoder: MessageEncoder::new(&request.messages),
        list: TurnList::new("assistant"),
        preamble: wanted(CachePoint::Preamble),
    };
    for (at, message) in request.messages.iter().enumerate() {
        if writing.sendable(at, message) {
            turns.add(at, message, &mut writing)?;
        }
    }
    let Conversation { messages, blocks, open, thinking } = turns.finish(request.cache.as_deref());
    object = object.raw("messages", &array(&messages));
    // The end of the last message is before the bracket that closes the list.
    let asked = object.len() - "]".len();
    let stem = asked - open;
    let starts = starts(asked, &messages, &thinking);
    if wanted(CachePoint::End) {
        // The mark is written after the messages, so that nothing before them depends on it.
        object = object.raw(cache::FIELD, cache::MARK);
    }
    let bytes = object.unknown(opened.fields()).finish().into_bytes();
    Ok(Encoded { bytes, stem, blocks, asked, starts, dropped: writing.dropped })
}

/// For each message with thinking, returns its index in the request and the offset of its encoded form. `end` is the
/// end of the last message.
fn starts(end: usize, messages: &[String], thinking: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let all: usize = messages.iter().map(String::len).sum::<usize>() + messages.len().saturating_sub(1);
    let mut at = end - all;
    let mut begins = Vec::with_capacity(messages.len());
    for message in messages {
        begins.push(at);
        at += message.len() + ",".len();
    }
    thinking.iter().filter_map(|(said, turn)| Some((*said, *begins.get(*turn)?))).collect()
}

fn listed(blocks: &[WrittenBlock]) -> String {
    array(&blocks.iter().map(|block| block.json.as_str()).collect::<Vec<_>>())
}

fn tools(tools: &[Tool], writing: &mut Writing) -> Result<Vec<WrittenBlock>, WireError> {
    let mut written = Vec::with_capacity(tools.len());
    for (at, tool) in tools.iter().enumerate() {
        writing.at(None, at);
        let opened = writing.open(&tool.extra)?;
        let loaded = !opened.fields().contains(&("defer_loading", "true"));
        if opened.word(KIND).as_deref() == Some("whole") {
            written.extend(writing.whole_tool(tool, &opened).map(|json| WrittenBlock::new(json, loaded)));
            continue;
        }
        let mut object = ObjectWriter::default().text("name", &call_id::tool_name(OWN, &tool.name));
        if !tool.description.is_empty() {
            object = object.text("description", &tool.description);
        }
        let schema = match &*tool.schema {
            "" => r#"{"type":"object","properties":{}}"#,
            schema => checked(schema, &format!("the schema of {}", tool.name))?,
        };
        let object = object.raw("input_schema", schema).unknown(opened.fields());
        written.push(WrittenBlock::new(object.finish(), loaded));
    }
    Ok(written)
}

fn system(parts: &[Part], mark: bool, writing: &mut Writing) -> Result<Option<String>, WireError> {
    let mut blocks = Vec::with_capacity(parts.len());
    for (at, part) in parts.iter().enumerate() {
        writing.at(None, at);
        match part {
            Part::Text { text, extra } => {
                let opened = writing.open(extra)?;
                let plain = parts.len() == 1 && opened.own_word(SHAPE).as_deref() == Some("string");
                // A string cannot carry a mark, so the text becomes a block if the encoder writes marks.
                if plain && !writing.owns(cache::FIELD) {
                    return Ok(Some(quote(inline(text)?)));
                }
                let block = text_block(text, &opened, TextContainer::Message, writing)?;
                blocks.extend(block.map(|json| WrittenBlock::new(json, true)));
            }
            Part::Opaque { dialect, raw } => {
                blocks.extend(opaque(*dialect, raw, writing)?.map(|json| WrittenBlock::new(json, false)));
            }
            other => writing.drop(Reason::Dialect, format!("{} in system text", name_of(other))),
        }
    }
    if mark {
        cache::mark_last(&mut blocks);
    }
    Ok((!blocks.is_empty()).then(|| listed(&blocks)))
}

/// All messages of a request, encoded.
struct Conversation {
    messages: Vec<String>,
    /// Number of blocks in all messages.
    blocks: u64,
    /// Bytes of the last message after its last block. The bytes after the last block change when another block joins
    /// the message.
    open: usize,
    /// Indexes of the request's messages with thinking, each with the index of the encoded message that contains it.
    thinking: Vec<(usize, usize)>,
}

/// Encoder of single messages, with the ids that the calls of all messages have.
pub(crate) struct MessageEncoder {
    ids: CallIds,
    /// Blocks that the provider would refuse, with the reason.
    refused: BTreeMap<(usize, usize), &'static str>,
}

impl MessageEncoder {
    pub(crate) fn new(messages: &[Message]) -> Self {
        Self { ids: call_id::choose(messages, IDS), refused: blocks::refused(messages, true) }
    }

    /// Creates an encoder for a part of a conversation that does not end within a turn of the model. `is_end` states
    /// whether the conversation ends with it.
    pub(crate) fn of_part(messages: &[Message], ids: CallIds, is_end: bool) -> Self {
        Self { ids, refused: blocks::refused(messages, is_end) }
    }

    /// Returns the blocks of a message that is not the operator's, as a transcript stores them: the results first.
    pub(crate) fn blocks(
        &self,
        at: usize,
        message: &Message,
        writing: &mut Writing,
    ) -> Result<Vec<String>, WireError> {
        writing.own(cache::FIELD);
        let role = if message.role == Role::Assistant { "assistant" } else { "user" };
        let turn = self.turn(at, role, message, writing)?;
        Ok(turn.results.into_iter().chain(turn.blocks).map(|block| block.json).collect())
    }

    /// Encodes the parts of a message as a turn of this role.
    fn turn(
        &self,
        at: usize,
        role: &'static str,
        message: &Message,
        writing: &mut Writing,
    ) -> Result<Turn<WrittenBlock>, WireError> {
        let quoted = message.role == Role::System && role == "user";
        let mut turn = Turn::new(role);
        for (place, part) in message.parts.iter().enumerate() {
            writing.at(Some(at), place);
            match part {
                Part::Text { text, .. } if quoted => {
                    let text = inline(text)?;
                    if !text.trim().is_empty() {
                        let block = ObjectWriter::typed("text").text("text", &wrapped(text)).finish();
                        turn.blocks.push(WrittenBlock::new(block, true));
                    }
                }
                Part::ToolResult { call, content, failed, extra } if role == "user" => {
                    let id = self.ids.id(at, place, call.as_str());
                    let block = result(id, content, *failed, extra, writing)?;
                    turn.results.push(WrittenBlock::new(block, true));
                }
                Part::ToolCall { call, name, input, extra, .. } if role == "assistant" => {
                    let id = self.ids.id(at, place, call.as_str());
                    let block = tool_use(id, name, input, &writing.open(extra)?)?;
                    turn.blocks.push(WrittenBlock::new(block, true));
                }
                Part::Opaque { .. } if writing.refuse(self.refused.get(&(at, place)).copied()) => {}
                other => {
                    // A part without a neutral form may be thinking under another name, and thinking cannot carry a
                    // mark.
                    let bears = !matches!(other, Part::Thinking { .. } | Part::Opaque { .. });
                    turn.blocks
                        .extend(block(other, role, writing)?.map(|json| WrittenBlock::new(json, bears)));
                }
            }
        }
        Ok(turn)
    }
}

struct Turns {
    encoder: MessageEncoder,
    list: TurnList<WrittenBlock>,
    /// Whether to mark the end of the first message. Other messages may join the first message, so the last block of
    /// the first message itself carries the mark.
    preamble: bool,
}

impl Turns {
    /// Adds a message to the turn it belongs to.
    fn add(&mut self, at: usize, message: &Message, writing: &mut Writing) -> Result<(), WireError> {
        writing.at(Some(at), 0);
        let opened = writing.open(&message.extra)?;
        let role = match message.role {
            Role::Assistant => "assistant",
            // The API accepts a system message only after a user turn.
            Role::System if opened.is_marked_own() && !self.list.awaits_user() => "system",
            Role::System | Role::User | Role::Tool => "user",
        };
        let quoted = message.role == Role::System && role == "user";
        let mut turn = self.encoder.turn(at, role, message, writing)?;
        if turn.is_empty() {
            return Ok(());
        }
        if at == 0 && self.preamble && !cache::mark_last(&mut turn.blocks) {
            cache::mark_last(&mut turn.results);
        }
        if let ([Part::Text { text, extra: None }], false) = (message.parts.as_slice(), quoted)
            && !writing.owns(cache::FIELD)
            && opened.own_word(SHAPE).as_deref() == Some("string")
        {
            turn.plain = Some(quote(inline(text)?));
        }
        writing.at(Some(at), 0);
        writing.unite(&mut turn.fields, opened.fields());
        turn.thinking.extend(message.parts.iter().any(Part::is_thinking).then_some(at));
        self.list.join(turn, writing);
        Ok(())
    }

    fn finish(self, points: Option<&[CachePoint]>) -> Conversation {
        let mut turns = self.list.finish(|| {
            let block = WrittenBlock::new(ObjectWriter::typed("text").text("text", OPENING).finish(), true);
            let plain = points.is_none().then(|| quote(OPENING));
            Turn { results: vec![block], plain, ..Turn::new("user") }
        });
        let mut blocks: Vec<&mut WrittenBlock> =
            turns.iter_mut().flat_map(|turn| &mut turn.results).collect();
        cache::mark_numbered(points.unwrap_or_default(), &mut blocks);
        let blocks = blocks.len() as u64;
        let messages = Vec::with_capacity(turns.len());
        let mut conversation = Conversation { messages, blocks, open: 0, thinking: Vec::new() };
        for (turn, message) in turns.into_iter().enumerate() {
            let Turn { role, results: blocks, plain, fields, thinking, .. } = message;
            conversation.thinking.extend(thinking.into_iter().map(|said| (said, turn)));
            let object = ObjectWriter::default().text("role", role);
            let before = object.len() + r#","content":"#.len();
            let (content, end) = match plain {
                Some(text) => (text, before),
                None => {
                    let content = listed(&blocks);
                    let end = before + content.len() - "]".len();
                    (content, end)
                }
            };
            let message = object.raw("content", &content).unknown(fields.iter()).finish();
            conversation.open = message.len() - end;
            conversation.messages.push(message);
        }
        conversation
    }
}

/// Returns the text of an opaque part, or `None` if it belongs to another provider.
fn opaque(dialect: Dialect, raw: &Body, writing: &mut Writing) -> Result<Option<String>, WireError> {
    let raw = writing.opaque(dialect, raw)?;
    let unmarked = writing.owns(cache::FIELD);
    Ok(raw.map(|raw| if unmarked { cache::unmarked(raw) } else { Cow::Borrowed(raw) }.into_owned()))
}

/// Where a text appears. In a message, the API refuses a text that consists only of white space; in a tool result, it
/// accepts one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextContainer {
    Message,
    Result,
}

/// Writes a part that is neither a tool call nor a result.
fn block(part: &Part, role: &str, writing: &mut Writing) -> Result<Option<String>, WireError> {
    match part {
        Part::Text { text, extra } => {
            let opened = writing.open(extra)?;
            text_block(text, &opened, TextContainer::Message, writing)
        }
        Part::Thinking { text, signature, extra } if role == "assistant" => {
            let opened = writing.open(extra)?;
            let signature = signature.as_deref().filter(|signature| !signature.is_empty() && opened.is_own());
            let Some(signature) = signature else {
                writing.drop_part(Reason::Unsigned, "thinking without a signature of this provider");
                return Ok(None);
            };
            let object = match opened.own_word(KIND).as_deref() {
                Some("redacted") => ObjectWriter::typed("redacted_thinking").text("data", signature),
                _ => {
                    let object = ObjectWriter::typed("thinking").text("thinking", inline(text)?);
                    object.text("signature", signature)
                }
            };
            Ok(Some(object.unknown(opened.fields()).finish()))
        }
        Part::Media { .. } if role == "user" => media(part, writing),
        Part::Opaque { dialect, raw } => opaque(*dialect, raw, writing),
        other => {
            writing.drop_part(Reason::Dialect, format!("{} in a message of role {role}", name_of(other)));
            Ok(None)
        }
    }
}

fn text_block(
    text: &Body,
    opened: &OpenedExtra<'_>,
    place: TextContainer,
    writing: &mut Writing,
) -> Result<Option<String>, WireError> {
    let text = inline(text)?;
    if text.is_empty() || (place == TextContainer::Message && text.trim().is_empty()) {
        writing.drop_part(Reason::Empty, "a text with nothing in it");
        return Ok(None);
    }
    let object = if opened.own_word(KIND).as_deref() == Some("document") {
        let source = ObjectWriter::typed("text").text("data", text);
        ObjectWriter::typed("document").raw("source", &opened.finish_inner(source)?)
    } else {
        ObjectWriter::typed("text").text("text", text)
    };
    Ok(Some(object.unknown(opened.fields()).finish()))
}

fn tool_use(id: &str, name: &str, input: &Body, opened: &OpenedExtra<'_>) -> Result<String, WireError> {
    let input = inline(input)?;
    let object = ObjectWriter::typed("tool_use").text("id", id).text("name", &call_id::tool_name(OWN, name));
    // The API accepts only an object as input, so any other text is wrapped in an object.
    let object = match serde_json::from_str::<&RawValue>(input) {
        Ok(raw) if json::is_object(raw) => object.raw("input", raw.get()),
        _ if input.trim().is_empty() => object.raw("input", "{}"),
        _ => object.raw("input", &ObjectWriter::default().text("arguments", input).finish()),
    };
    Ok(object.unknown(opened.fields()).finish())
}

fn result(
    id: &str,
    content: &[Part],
    failed: bool,
    extra: &Extra,
    writing: &mut Writing,
) -> Result<String, WireError> {
    let opened = writing.open(extra)?;
    let form = opened.own_word(SHAPE);
    let object = ObjectWriter::typed("tool_result").text("tool_use_id", id);
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
            writing.nest(true);
            for part in parts {
                blocks.extend(match part {
                    Part::Opaque { dialect: OWN, raw } if writing.refuse(blocks::broken(inline(raw)?)) => {
                        None
                    }
                    Part::Text { text, extra } => {
                        let opened = writing.open(extra)?;
                        text_block(text, &opened, TextContainer::Result, writing)?
                    }
                    other => block(other, "user", writing)?,
                });
            }
            writing.nest(false);
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

fn media(part: &Part, writing: &mut Writing) -> Result<Option<String>, WireError> {
    let Some(Medium { kind, mime, form, body, opened }) =
        writing.medium(part, |opened, mime| opened.kind_or(block_for(mime)))?
    else {
        return Ok(None);
    };
    let known = match (kind.as_str(), form) {
        ("image", MediaForm::Base64) => IMAGES.contains(&mime),
        ("document", MediaForm::Base64) => mime == PDF,
        ("image" | "document", MediaForm::Url) => {
            !body.starts_with("data:") && (mime.is_empty() || mime == PDF || IMAGES.contains(&mime))
        }
        ("image" | "document", MediaForm::File) => opened.is_own(),
        _ => false,
    };
    // A medium that was read in this dialect is written back even if its type is not in the list.
    if !known && !opened.is_marked_own() {
        writing.drop_medium(&kind, mime, body);
        return Ok(None);
    }
    let source = match form {
        MediaForm::Base64 => ObjectWriter::typed("base64").text("media_type", mime).text("data", body),
        MediaForm::Url => ObjectWriter::typed("url").text("url", body),
        MediaForm::File => ObjectWriter::typed("file").text("file_id", body),
    };
    let object = ObjectWriter::typed(&kind).raw("source", &opened.finish_inner(source)?);
    Ok(Some(object.unknown(opened.fields()).finish()))
}
