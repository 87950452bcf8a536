//! Hooks of Claude Code.
//!
//! Source: types `BaseHookInput` to `UserPromptSubmitHookSpecificOutput` in `sdk.d.ts` of
//! `@anthropic-ai/claude-agent-sdk` 0.3.332, and the page `hooks` of the documentation (August 2026).
//!
//! Context can also be added at `Stop` and `SubagentStop`, but then the agent continues instead of stopping, so an
//! answer adds none there. At `PreCompact`, `PostCompact`, `SessionEnd`, `PermissionRequest` and `PermissionDenied`,
//! no context can be added; after a compaction, `SessionStart` follows with the source `compact`. A new input
//! replaces the whole input. Without a decision beside it, the agent asks for permission as it does for every call, and
//! asks about the new input (seen in 2.1.332).

use crate::hook::call::HookEvent;
use crate::hook::contract::Contract;
use crate::hook::{delegates, fields};
use crate::json::RawFields;

pub(super) const CONTRACT: Contract = Contract {
    event,
    context: &[
        "SessionStart",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "SubagentStart",
    ],
    input: ("PreToolUse", "updatedInput"),
    needs_permission: false,
    delegates: delegates::CLAUDE_CODE,
};

pub(super) fn event<'a>(name: &str, from: &RawFields<'a>) -> HookEvent<'a> {
    match name {
        "SessionStart" => fields::session_start(from),
        "UserPromptSubmit" => fields::prompt(from),
        "PreToolUse" => HookEvent::ToolStart(fields::tool(from)),
        "PostToolUse" | "PostToolUseFailure" => fields::tool_end(from),
        "PermissionDenied" => HookEvent::PermissionDenied(fields::tool(from), fields::word(from, "reason")),
        "PreCompact" => {
            HookEvent::BeforeCompaction(fields::trigger(from), fields::word(from, "custom_instructions"))
        }
        "PostCompact" => {
            HookEvent::AfterCompaction(fields::trigger(from), fields::word(from, "compact_summary"))
        }
        "Stop" => fields::turn_end(from),
        "StopFailure" => fields::turn_failure(from),
        "SubagentStart" => HookEvent::SubagentStart(fields::delegation(from)),
        "SubagentStop" => HookEvent::SubagentEnd(fields::delegation(from)),
        "SessionEnd" => fields::session_end(from),
        _ => HookEvent::Other,
    }
}
