//! The differences between agents' hooks, as data.

use crate::hook::call::{Delegation, HookAgent, HookCall, HookEvent, UsedTool};
use crate::hook::delegates::DelegatingTools;
use crate::hook::fields::{flag, path, word};
use crate::json::RawFields;

/// How one agent calls hooks, and what it takes in from them.
pub(super) struct Contract {
    /// Reads an event of this name.
    pub(super) event: for<'a> fn(&str, &RawFields<'a>) -> HookEvent<'a>,
    /// Names of the events whose answer can add context without other effects.
    pub(super) context: &'static [&'static str],
    /// Name of the event whose answer can replace a tool's input, and the field of the new input.
    pub(super) input: (&'static str, &'static str),
    /// Whether the agent ignores a new input that comes without a decision.
    pub(super) needs_permission: bool,
    /// Tools that give work to a sub-agent.
    pub(super) delegates: DelegatingTools,
}

impl Contract {
    /// Reads a call from the fields that all agents share, and from those of its event.
    pub(super) fn call<'a>(&self, agent: HookAgent, fields: &RawFields<'a>) -> HookCall<'a> {
        let name =
            ["hook_event_name", "type"].iter().find_map(|field| word(fields, field)).unwrap_or_default();
        let event = (self.event)(&name, fields);
        // The sub-agent of these events is the one that begins or ends, and not the one in which they happen.
        let is_own = matches!(event, HookEvent::SubagentStart(_) | HookEvent::SubagentEnd(_));
        let inside = word(fields, "agent_id").filter(|_| !is_own);
        HookCall {
            agent,
            event,
            session: ["session_id", "thread-id"].iter().find_map(|field| word(fields, field)),
            transcript: path(fields, "transcript_path"),
            cwd: path(fields, "cwd"),
            model: word(fields, "model"),
            turn: ["turn_id", "prompt_id", "turn-id"].iter().find_map(|field| word(fields, field)),
            inside: inside.map(|id| Delegation {
                id: Some(id),
                kind: word(fields, "agent_type"),
                ..Delegation::default()
            }),
            begins: flag(fields, "begins"),
            time: word(fields, "timestamp"),
            name,
        }
    }

    /// Returns the work that a call of a tool gives to a sub-agent.
    pub(super) fn delegation(&self, tool: &UsedTool<'_>) -> Option<Delegation> {
        self.delegates.delegation(&tool.name, tool.input.unwrap_or_default())
    }

    pub(super) fn takes_context(&self, event: &str) -> bool {
        self.context.contains(&event)
    }

    pub(super) fn input_field(&self, event: &str) -> Option<&'static str> {
        (self.input.0 == event).then_some(self.input.1)
    }
}
