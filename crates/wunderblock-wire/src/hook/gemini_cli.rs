//! Hooks of Gemini CLI.
//!
//! Source: `docs/hooks/reference.md` of `@google/gemini-cli` 0.61.0, and `packages/core/src/hooks/types.ts`.
//!
//! `PreCompress` precedes every request, whether or not a compaction follows (seen in 0.61.0). No event follows a
//! compaction, and `SessionStart` has no source for it. The prompt of `BeforeAgent` may begin with the context that an
//! answer to `SessionStart` added, in `<hook_context>`. `AfterAgent` can only reject the agent's
//! answer, so no context can be added there. A new input is merged with the tool's own: a field that it lacks keeps
//! its value. Events of the model's requests (`BeforeModel`, `AfterModel`, `BeforeToolSelection`) and
//! `Notification` have no meaning here.

use crate::hook::call::{HookEvent, TurnStop};
use crate::hook::contract::Contract;
use crate::hook::{delegates, fields};
use crate::json::RawFields;

pub(super) const CONTRACT: Contract = Contract {
    event,
    context: &["SessionStart", "BeforeAgent", "AfterTool"],
    input: ("BeforeTool", "tool_input"),
    needs_permission: false,
    delegates: delegates::GEMINI_CLI,
};

fn event<'a>(name: &str, from: &RawFields<'a>) -> HookEvent<'a> {
    match name {
        "SessionStart" => fields::session_start(from),
        "BeforeAgent" => fields::prompt(from),
        "BeforeTool" => HookEvent::ToolStart(fields::tool(from)),
        "AfterTool" => tool_end(from),
        "PreCompress" => HookEvent::BeforeCompaction(fields::trigger(from), None),
        "AfterAgent" => HookEvent::TurnEnd(TurnStop::Finished, fields::word(from, "prompt_response")),
        "SessionEnd" => fields::session_end(from),
        _ => HookEvent::Other,
    }
}

/// Reads a result. Its error is in the output.
fn tool_end<'a>(from: &RawFields<'a>) -> HookEvent<'a> {
    let mut event = fields::tool_end(from);
    if let HookEvent::ToolEnd(_, outcome) = &mut event {
        outcome.error = from.object("tool_response").and_then(|output| fields::error(&output));
    }
    event
}
