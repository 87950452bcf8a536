//! Detects the dialect of a log of requests from its beginning, which may end in the middle of a request.

use super::entry::{LEVELS, REQUESTS, is_item};
use crate::transcript::parsing::object::{Object, position, quoted};
use serde_json::value::RawValue;
use std::borrow::Cow;
use wunderblock_core::message::Dialect;

/// Maximum number of messages that are examined.
const MAX_MESSAGES: usize = 64;

/// Types of blocks that only Anthropic Messages has.
const ANTHROPIC_BLOCKS: [&str; 5] =
    ["tool_use", "tool_result", "redacted_thinking", "server_tool_use", "mcp_tool_use"];

/// Fields of a request that only OpenAI Responses has.
const RESPONSES_FIELDS: [&str; 8] = [
    "instructions",
    "previous_response_id",
    "include",
    "reasoning",
    "max_output_tokens",
    "store",
    "prompt_cache_key",
    "truncation",
];

/// Returns the dialect of an entry: a request, a reply, an object that contains one, or a message that only one
/// dialect allows. The text may end early.
pub(in crate::transcript) fn dialect_of_line(text: &str) -> Option<Dialect> {
    let head = Head::of(text);
    entry(&head, LEVELS).or_else(|| message(&head.object))
}

/// Returns the dialect of a list of entries, or of messages. The text may end early.
pub(in crate::transcript) fn dialect_of_list(text: &str) -> Option<Dialect> {
    let heads = heads(text);
    let first = heads.first().and_then(|first| entry(first, LEVELS));
    first.or_else(|| heads.iter().find_map(|head| message(&head.object)))
}

/// The beginning of an object.
struct Head<'t> {
    text: &'t str,
    object: Object<'t>,
    /// Key of the value in which the text ends.
    cut: Option<Cow<'t, str>>,
}

impl<'t> Head<'t> {
    fn of(text: &'t str) -> Self {
        let (object, cut) = Object::parse_head(text);
        Self { text, object, cut }
    }

    fn has(&self, key: &str) -> bool {
        self.object.has(key) || self.cut.as_deref() == Some(key)
    }

    /// Returns the text of a value, which may end early.
    fn value(&self, key: &str) -> Option<&'t str> {
        if let Some(value) = self.object.get(key) {
            return Some(value.get());
        }
        self.cut.as_deref().filter(|cut| *cut == key)?;
        let whole = self.object.iter().map(|(_, value)| position(value.get(), self.text) + value.get().len());
        let rest = self.text.get(whole.max().unwrap_or(0)..)?;
        let (_, value) = rest.split_once(&quoted(key))?;
        Some(value.trim_start().strip_prefix(':')?.trim_start())
    }

    fn list(&self, key: &str) -> Vec<Head<'t>> {
        self.value(key).map(heads).unwrap_or_default()
    }
}

/// Returns the beginnings of the elements of a list.
fn heads(text: &str) -> Vec<Head<'_>> {
    let mut heads = Vec::new();
    let mut rest = text.strip_prefix('[').unwrap_or_default().trim_start();
    while rest.starts_with('{') && heads.len() < MAX_MESSAGES {
        heads.push(Head::of(rest));
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        if !matches!(values.next(), Some(Ok(_))) {
            break;
        }
        let behind = rest.get(values.byte_offset()..).unwrap_or_default();
        rest = behind.trim_start().strip_prefix(',').unwrap_or_default().trim_start();
    }
    heads
}

fn entry(head: &Head<'_>, levels: usize) -> Option<Dialect> {
    if let Some(dialect) = body(head) {
        return Some(dialect);
    }
    let levels = levels.checked_sub(1)?;
    let inner = REQUESTS.iter().chain(&["response"]).filter_map(|key| head.value(key));
    inner.filter(|text| text.starts_with('{')).find_map(|text| entry(&Head::of(text), levels))
}

/// Returns the dialect of a request or a reply.
fn body(head: &Head<'_>) -> Option<Dialect> {
    let has_parts = |content: &Head<'_>| content.has("parts");
    if head.list("contents").first().is_some_and(has_parts)
        || head.list("candidates").first().is_some_and(|first| first.has("content"))
    {
        return Some(Dialect::Gemini);
    }
    if is_responses(head) {
        return Some(Dialect::OpenaiResponses);
    }
    is_anthropic(head).then_some(Dialect::Anthropic)
}

fn is_responses(head: &Head<'_>) -> bool {
    if head.object.text("object").as_deref() == Some("response") {
        return true;
    }
    let own = RESPONSES_FIELDS.iter().any(|key| head.has(key));
    match head.value("input") {
        Some(text) if text.starts_with('"') => own && head.has("model"),
        Some(_) => head.list("input").iter().any(|item| {
            let kind = item.object.text("type");
            kind.is_some_and(|kind| is_item(&kind) || (own && kind == "message")) || (own && item.has("role"))
        }),
        None => false,
    }
}

fn is_anthropic(head: &Head<'_>) -> bool {
    let word = |key| head.object.text(key);
    if word("type").as_deref() == Some("message") && head.has("stop_reason") && head.has("content") {
        return true;
    }
    let messages = head.list("messages");
    let Some(first) = messages.first().filter(|first| first.has("role") && first.has("content")) else {
        return false;
    };
    let first_role = first.object.text("role");
    let is_chat = |message: &Head<'_>| {
        let role = message.object.text("role").unwrap_or_default();
        matches!(role.as_ref(), "tool" | "developer" | "function")
            || message.object.some("tool_calls").is_some()
    };
    if first_role.as_deref() == Some("system") || messages.iter().any(is_chat) {
        return false;
    }
    head.has("system")
        || head.has("anthropic_version")
        || head.list("tools").first().is_some_and(|tool| tool.has("input_schema"))
        || word("model").is_some_and(|model| model.starts_with("claude") && head.has("max_tokens"))
        || messages.iter().any(|message| anthropic_message(&message.object))
}

/// Returns the dialect of a message that only one dialect allows.
fn message(object: &Object<'_>) -> Option<Dialect> {
    anthropic_message(object).then_some(Dialect::Anthropic)
}

fn anthropic_message(object: &Object<'_>) -> bool {
    let role = object.text("role").unwrap_or_default();
    let blocks = object.array("content").filter(|_| matches!(role.as_ref(), "user" | "assistant"));
    blocks.into_iter().flatten().filter_map(Object::of).any(|block| {
        let kind = block.text("type").unwrap_or_default();
        ANTHROPIC_BLOCKS.contains(&kind.as_ref()) || (kind == "thinking" && block.has("signature"))
    })
}
