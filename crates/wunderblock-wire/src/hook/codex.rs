//! Hooks of Codex CLI, and its notification at the end of a turn.
//!
//! Source: `codex-rs/hooks/schema/generated` and `codex-rs/hooks/src` of Codex (2026), and the page `hooks` of its
//! documentation; seen in 0.171.0. The names of the events and of their fields are those of Claude Code; the schema of each event has
//! fewer of them: compactions have no summary, and results have neither a duration nor an error. `Interrupt` is an
//! event of Codex alone.
//!
//! Context can be added at five events. At all others, the agent rejects an answer with context. It applies a new
//! input only beside `permissionDecision: "allow"`, and asks for permission afterwards as it does for every call.
//! Codex runs a hook only after the user has trusted it (`/hooks`). It runs the program in `notify` without that, with
//! the JSON of `agent-turn-complete` as the last argument (`UserNotification` in `codex-rs/hooks/src`).

use crate::hook::call::{HookEvent, TurnStop};
use crate::hook::contract::Contract;
use crate::hook::{claude_code, delegates, fields};
use crate::json::RawFields;

pub(super) const CONTRACT: Contract = Contract {
    event,
    context: &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"],
    input: ("PreToolUse", "updatedInput"),
    needs_permission: true,
    delegates: delegates::CODEX,
};

fn event<'a>(name: &str, from: &RawFields<'a>) -> HookEvent<'a> {
    match name {
        "Interrupt" => HookEvent::TurnEnd(TurnStop::Interrupted, None),
        "agent-turn-complete" => {
            HookEvent::TurnEnd(TurnStop::Finished, fields::word(from, "last-assistant-message"))
        }
        _ => claude_code::event(name, from),
    }
}
