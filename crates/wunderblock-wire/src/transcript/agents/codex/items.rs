//! Items of the Responses API as Codex records them.

use crate::transcript::logs::generic;
use crate::transcript::parsing::blocks::{Blocks, first_word};
use crate::transcript::parsing::object::{Object, quoted, string};
use serde_json::value::RawValue;
use wunderblock_core::message::{Dialect, Message, MessageOrigin, Part, Role};

/// Types of items that are kept verbatim: the provider's own tools and encrypted state.
const VERBATIM: [&str; 7] = [
    "web_search_call",
    "tool_search_call",
    "tool_search_output",
    "image_generation_call",
    "compaction",
    "compaction_summary",
    "context_compaction",
];

/// Prefixes of texts that the harness writes in the user's place, each with a name for its text.
const INJECTED: [(&str, &str); 8] = [
    ("<environment_context>", "environment_context"),
    ("<user_instructions>", "user_instructions"),
    ("# AGENTS.md instructions", "agents_md"),
    ("<turn_aborted>", "turn_aborted"),
    ("<subagent_notification>", "subagent_notification"),
    ("<user_shell_command>", "user_shell_command"),
    ("<skill>", "skill"),
    ("<permissions instructions>", "permissions"),
];

/// Roles of a model's message in its turn, in the spelling that the API accepts when the message is sent back.
const PHASES: [&str; 2] = ["commentary", "final_answer"];

/// Returns whether a type is that of an item, so that a line without an envelope is recognised.
pub(super) fn is_item(kind: &str) -> bool {
    matches!(
        kind,
        "message"
            | "reasoning"
            | "function_call"
            | "function_call_output"
            | "custom_tool_call"
            | "custom_tool_call_output"
            | "local_shell_call"
            | "local_shell_call_output"
            | "ghost_snapshot"
    ) || VERBATIM.contains(&kind)
}

/// Returns whether a text was said by the user or written by the harness in the user's place.
pub(super) fn standing(text: &str) -> MessageOrigin {
    let text = text.trim_start();
    let known = INJECTED.iter().find(|(mark, _)| text.starts_with(mark));
    known.map_or(MessageOrigin::Said, |(_, name)| MessageOrigin::Injected((*name).into()))
}

/// Returns the message that an item represents. `None` for an unknown item.
pub(super) fn message(kind: &str, item: &Object<'_>, blocks: &mut Blocks<'_>) -> Option<Message> {
    match kind {
        "message" => spoken_message(item, blocks),
        "reasoning" => Some(Message::new(Role::Assistant, reasoning(item))),
        "function_call" | "tool_call" => called(item, blocks),
        "custom_tool_call" => Some(custom_call(item, blocks)),
        "local_shell_call" => Some(shell_call(item, blocks)),
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
            Some(Message::new(Role::Tool, vec![output(item, blocks)]))
        }
        "tool_result" => Some(Message::new(Role::Tool, vec![blocks.tool_result(item)])),
        "agent_message" => {
            let standing = MessageOrigin::Injected("agent_message".into());
            Some(Message::new(Role::User, blocks.content(item.get("content"))).standing(standing))
        }
        kind if VERBATIM.contains(&kind) => Some(Message::new(Role::Assistant, vec![verbatim(item)])),
        _ => None,
    }
}

fn spoken_message(item: &Object<'_>, blocks: &mut Blocks<'_>) -> Option<Message> {
    let role = match item.text("role")?.as_ref() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" | "developer" => Role::System,
        _ => return None,
    };
    // An image whose data was not recorded is an empty block.
    let mut parts = blocks.content(item.get("content"));
    parts.retain(
        |part| !matches!(part, Part::Opaque { raw, .. } if is_empty_image(raw.inline().unwrap_or(""))),
    );
    if let (Role::Assistant, Some(Part::Text { extra, .. })) = (role, parts.first_mut())
        && let Some(phase) = item.text("phase").filter(|phase| PHASES.contains(&phase.as_ref()))
    {
        *extra = crate::openai_responses::phased(extra, &phase);
    }
    let standing = match parts.first() {
        Some(Part::Text { text, .. }) if role == Role::User => standing(text.inline().unwrap_or("")),
        _ => MessageOrigin::Said,
    };
    Some(Message::new(role, parts).standing(standing))
}

fn is_empty_image(raw: &str) -> bool {
    let Ok(block) = Object::parse(raw) else { return false };
    block.text("type").as_deref() == Some("input_image") && block.some("image_url").is_none()
}

fn reasoning(item: &Object<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut text = String::new();
    for key in ["content", "summary"] {
        if let (true, Some(value)) = (text.is_empty(), item.some(key)) {
            generic::gather(value, &["text"], &mut text);
        }
    }
    if !text.is_empty() {
        parts.push(Part::Thinking { text: text.into(), signature: None, extra: None });
    }
    if parts.is_empty() || item.some("encrypted_content").is_some() {
        parts.push(verbatim(item));
    }
    parts
}

fn verbatim(item: &Object<'_>) -> Part {
    let raw = item.extra(&[]).map_or_else(|| "{}".to_owned(), String::from);
    Part::Opaque { dialect: Dialect::OpenaiResponses, raw: raw.into() }
}

fn called(item: &Object<'_>, blocks: &mut Blocks<'_>) -> Option<Message> {
    // An item has its own id and the id of its call. Only the id of the call connects the call with its result.
    let mut part = blocks.tool_call_as(item.word("call_id"), item)?;
    if let (Part::ToolCall { name, .. }, Some(namespace)) = (&mut part, item.word("namespace"))
        && !name.starts_with(namespace.as_ref())
    {
        *name = format!("{namespace}.{name}").into();
    }
    Some(Message::new(Role::Assistant, vec![part]))
}

/// Reads a call whose input is text. The text becomes the only field of an object.
fn custom_call(item: &Object<'_>, blocks: &mut Blocks<'_>) -> Message {
    let input = item.text("input").unwrap_or_default();
    let input = format!("{{\"input\":{}}}", quoted(&input));
    let name = item.word("name");
    let name = name.as_deref().unwrap_or("custom");
    Message::tool_call(blocks.call_id(item.word("call_id")), name, input)
}

fn shell_call(item: &Object<'_>, blocks: &mut Blocks<'_>) -> Message {
    let call = blocks.call_id(first_word(item, &["call_id", "id"]));
    Message::tool_call(call, "local_shell", item.get("action").map_or("{}", RawValue::get))
}

fn output(item: &Object<'_>, blocks: &mut Blocks<'_>) -> Part {
    let output = item.get("output");
    let failed = output.is_some_and(|output| match string(output) {
        // Older versions gave the model `{"output": …, "metadata": {"exit_code": …}}` as text.
        Some(text) if text.starts_with('{') => Object::parse(&text).is_ok_and(|legacy| {
            let metadata = legacy.object("metadata").unwrap_or_default();
            metadata.get("exit_code").is_some_and(|code| code.get() != "0")
        }),
        Some(_) => false,
        None => Object::of(output)
            .is_some_and(|object| object.get("success").is_some_and(|success| success.get() == "false")),
    });
    Part::ToolResult {
        call: blocks.result_id(item.word("call_id")),
        content: output.map(|output| blocks.answer(output)).unwrap_or_default(),
        failed,
        extra: None,
    }
}
