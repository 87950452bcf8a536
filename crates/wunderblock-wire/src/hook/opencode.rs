//! Events that our plugin for OpenCode passes on.
//!
//! OpenCode has no hooks that start a program; a plugin in its own process gets its events. Our plugin sends each of
//! them as one JSON object with the names that other agents use for fields (`session_id`, `tool_name`), and with
//! OpenCode's own name as `hook_event_name`. The names are those of `Hooks` in `@opencode-ai/plugin` 1.18.33 and of
//! `Event` in `@opencode-ai/sdk` 1.18.33.
//!
//! | event | source |
//! |---|---|
//! | `session.created`, `session.deleted`, `session.idle`, `session.error`, `session.compacted`, `permission.replied` | `event` |
//! | `chat.message`, `tool.execute.before`, `tool.execute.after`, `experimental.session.compacting` | hooks of the same name |
//!
//! When a session begins that has a parent, the plugin sends the parent as `session_id` and the new session as
//! `agent_id`. Other events of that session have its id in both fields. No event names a file: the session is found by
//! its id. A session begins or continues without an event that takes in context, so the plugin sets `begins` in the
//! first prompt of a session that it sees. The plugin adds context at the events that let it change a message, an
//! output or the instructions of a compaction. It writes the fields of a new input over those of the tool's own.

use crate::hook::call::{HookEvent, SessionSource};
use crate::hook::contract::Contract;
use crate::hook::{delegates, fields};
use crate::json::RawFields;

pub(super) const CONTRACT: Contract = Contract {
    event,
    context: &["chat.message", "tool.execute.after", "experimental.session.compacting"],
    input: ("tool.execute.before", "updatedInput"),
    needs_permission: false,
    delegates: delegates::OPENCODE,
};

fn event<'a>(name: &str, from: &RawFields<'a>) -> HookEvent<'a> {
    match name {
        "session.created" if fields::word(from, "agent_id").is_some() => {
            HookEvent::SubagentStart(fields::delegation(from))
        }
        "session.created" => HookEvent::SessionStart(SessionSource::Startup),
        "chat.message" => fields::prompt(from),
        "tool.execute.before" => HookEvent::ToolStart(fields::tool(from)),
        "tool.execute.after" => fields::tool_end(from),
        "permission.replied" if fields::word(from, "response").as_deref() == Some("reject") => {
            HookEvent::PermissionDenied(fields::tool(from), fields::word(from, "reason"))
        }
        "experimental.session.compacting" => HookEvent::BeforeCompaction(fields::trigger(from), None),
        "session.compacted" => HookEvent::AfterCompaction(fields::trigger(from), None),
        "session.idle" => fields::turn_end(from),
        "session.error" => fields::turn_failure(from),
        "session.deleted" => fields::session_end(from),
        _ => HookEvent::Other,
    }
}
