//! Opaque blocks that are sent back unchanged, and those among them that the API would refuse.
//!
//! A call that the server runs is one half of a pair: the call (`server_tool_use`, `mcp_tool_use`) and its result are
//! in the same assistant message. The result is never a `tool_result`. The API refuses a call without its result and
//! a result without its call, except for a call at the very end, which the server continues (`pause_turn`). Sources:
//! the API's pages on server tools, tool search and compaction (platform.claude.com/docs/en/agents-and-tools,
//! build-with-claude/compaction).

use crate::json::RawFields;
use std::collections::{BTreeMap, HashSet};
use wunderblock_core::message::{Body, Dialect, Message, Part, Role};

/// Types of blocks that the encoder has forms for. An opaque block of a type for which the encoder has a form is
/// incomplete, because a complete block would have been decoded.
const OWN_FORMS: [&str; 7] =
    ["text", "image", "document", "thinking", "redacted_thinking", "tool_use", "tool_result"];

/// A block of a server-side call, with the id of the call.
enum ServerBlock {
    Call(String),
    Result(String),
}

/// Returns the opaque blocks that the API would refuse, by message and part, with the reason. `is_end` states whether the
/// conversation ends with these messages.
pub(super) fn refused(messages: &[Message], is_end: bool) -> BTreeMap<(usize, usize), &'static str> {
    let mut refused = BTreeMap::new();
    let mut turn = Vec::new();
    let sent = || messages.iter().enumerate().filter(|(_, message)| message.standing.is_sendable());
    let mut said = sent().peekable();
    while let Some((at, message)) = said.next() {
        for (place, part) in message.parts.iter().enumerate() {
            let Part::Opaque { dialect: Dialect::Anthropic, raw: Body::Inline(raw) } = part else { continue };
            if let Some(why) = broken(raw) {
                refused.insert((at, place), why);
            } else if let Some(block) = server_block(raw) {
                turn.push(((at, place), block));
            }
        }
        let next = said.peek().map(|(_, message)| message.role);
        // Consecutive assistant messages are one turn, so pairs may be split between them.
        if message.role != Role::Assistant || next != Some(Role::Assistant) {
            refused.extend(unpaired(std::mem::take(&mut turn), is_end && next.is_none()));
        }
    }
    refused
}

/// Returns the reason why the API would refuse a block in any position, or `None` if it would not.
pub(crate) fn broken(raw: &str) -> Option<&'static str> {
    let kind = RawFields::parse(raw).ok().and_then(|block| block.text("type"));
    match kind.as_deref() {
        None => Some("a block without a type"),
        Some("compaction") => Some("the provider's own compaction: what it stands for is in the ledger"),
        Some(kind) if OWN_FORMS.contains(&kind) => Some("a block that is not whole"),
        Some(_) => None,
    }
}

/// For an assistant turn, returns the blocks whose other half is missing. In the last turn, a call may lack its
/// result.
fn unpaired(
    turn: Vec<((usize, usize), ServerBlock)>,
    is_last: bool,
) -> impl Iterator<Item = ((usize, usize), &'static str)> {
    let (mut calls, mut results) = (HashSet::new(), HashSet::new());
    for (_, block) in &turn {
        match block {
            ServerBlock::Call(id) => calls.insert(id.clone()),
            ServerBlock::Result(id) => results.insert(id.clone()),
        };
    }
    turn.into_iter().filter_map(move |(at, block)| match block {
        ServerBlock::Call(id) if !is_last && !results.contains(&id) => {
            Some((at, "a call that the provider ran, without its result"))
        }
        ServerBlock::Result(id) if !calls.contains(&id) => {
            Some((at, "a result of the provider's, without its call"))
        }
        _ => None,
    })
}

fn server_block(raw: &str) -> Option<ServerBlock> {
    let block = RawFields::parse(raw).ok()?;
    let kind = block.text("type")?;
    match kind.as_str() {
        "server_tool_use" | "mcp_tool_use" => Some(ServerBlock::Call(block.text("id")?)),
        kind if kind.ends_with("_tool_result") => Some(ServerBlock::Result(block.text("tool_use_id")?)),
        _ => None,
    }
}
