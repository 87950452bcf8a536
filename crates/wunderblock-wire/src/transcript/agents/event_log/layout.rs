//! Layouts of the logs: which records a program writes, and what is read from each of them.
//!
//! Sources: sessions that the programs wrote (droid 0.81, Grok CLI, Kimi Code protocol 1.4, Qwen Code 0.21,
//! Antigravity CLI).

use crate::transcript::format::Format;

/// Fields and record types of a program's log.
#[derive(Debug)]
pub(in crate::transcript) struct Layout {
    pub(super) format: Format,
    /// Fields whose texts are the type of a record. The second one refines the first one, if it exists.
    pub(super) kind: [&'static str; 2],
    /// Fields with the id of the session.
    pub(super) session: &'static [&'static str],
    /// Field with the id of the record, and field with the id of the record before it. Empty if the format has no such
    /// field.
    pub(super) tree: [&'static str; 2],
    pub(super) rules: &'static [Rule],
}

/// Reading of the records of one type.
#[derive(Debug)]
pub(super) struct Rule {
    /// Type, or its beginning before `*`.
    pub(super) kind: &'static str,
    /// Fields that lead to the object with the content. The record itself if it lacks them.
    pub(super) path: &'static str,
    pub(super) reads: Reads,
    /// Description for the list of record types.
    pub(super) about: &'static str,
}

/// What is read from a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    /// Opening of the session.
    Opening,
    /// Message of the role that its field `role` names.
    Message,
    /// Message of a person.
    Prompt,
    /// System text.
    System,
    /// System text, if the record has one.
    Settings,
    /// Message of the model: reasoning, text and calls.
    Reply,
    /// One block of the model's message.
    Block,
    /// Call of a tool.
    Call,
    /// Result of a tool.
    Result,
    /// Text that the program wrote.
    Injected,
    /// Usage of a reply.
    Usage,
    /// Compaction.
    Compaction,
    /// Error that ended a turn.
    Failure,
    /// Reasoning of the model, as blocks of a summary.
    Thought,
    /// Nothing.
    Nothing,
}

const fn rule(kind: &'static str, path: &'static str, reads: Reads, about: &'static str) -> Rule {
    Rule { kind, path, reads, about }
}

const KEPT: &str = "kept in the source";

/// Layout of droid's sessions, and of its output with `--output-format stream-json`.
pub(super) const DROID: Layout = Layout {
    format: Format::Droid,
    kind: ["type", "subtype"],
    session: &["session_id", "sessionId"],
    tree: ["id", "parentId"],
    rules: &[
        rule("session_start", "", Reads::Opening, "opening of the session"),
        rule("system*", "", Reads::Opening, "opening of the session"),
        rule("message", "message", Reads::Message, "message; role tool if it holds only tool results"),
        rule("tool_call", "", Reads::Call, "tool call"),
        rule("tool_result", "", Reads::Result, "tool result"),
        rule("completion", "", Reads::Reply, "message, usage"),
        rule("error", "", Reads::Failure, "end of a turn"),
    ],
};

pub(super) const GROK: Layout = Layout {
    format: Format::Grok,
    kind: ["type", ""],
    session: &[],
    tree: ["", ""],
    rules: &[
        rule("system", "", Reads::System, "system message"),
        rule("user", "", Reads::Prompt, "message; injected if it has a `synthetic_reason`"),
        rule("reasoning", "", Reads::Thought, "message of the assistant: reasoning"),
        rule("assistant", "", Reads::Reply, "message with its tool calls"),
        rule("tool_result", "", Reads::Result, "tool result"),
        rule("backend_tool_call", "", Reads::Nothing, "kept in the source: a tool that the provider ran"),
    ],
};

pub(super) const QWEN: Layout = Layout {
    format: Format::Qwen,
    kind: ["type", "subtype"],
    session: &["sessionId"],
    tree: ["uuid", "parentUuid"],
    rules: &[
        rule(
            "user*",
            "message",
            Reads::Prompt,
            "message; what the program adds to it is an injected message",
        ),
        rule("assistant*", "message", Reads::Reply, "message, usage"),
        rule("tool_result*", "message", Reads::Result, "tool result"),
        rule("system*", "", Reads::Nothing, KEPT),
    ],
};

pub(super) const KIMI: Layout = Layout {
    format: Format::Kimi,
    kind: ["type", "event.type"],
    session: &[],
    tree: ["", ""],
    rules: &[
        rule("metadata", "", Reads::Opening, "opening of the session"),
        rule("config.update", "", Reads::Settings, "system message if it has a new system text"),
        rule("profile.bind", "", Reads::Settings, "system message if it has a new system text"),
        rule(
            "context.append_message",
            "message",
            Reads::Message,
            "message; injected unless its origin is a person",
        ),
        rule("context.append_loop_event:content.part", "event", Reads::Block, "text or reasoning of a reply"),
        rule("context.append_loop_event:tool.call", "event", Reads::Call, "tool call"),
        rule("context.append_loop_event:tool.result", "event", Reads::Result, "tool result"),
        rule("context.append_loop_event:step.begin", "event", Reads::Nothing, KEPT),
        rule("context.append_loop_event:step.end", "event", Reads::Usage, "usage"),
        rule("context.apply_compaction", "", Reads::Compaction, "compaction"),
        rule("full_compaction.*", "", Reads::Nothing, KEPT),
        rule("llm.*", "", Reads::Nothing, KEPT),
        rule("permission.*", "", Reads::Nothing, KEPT),
        rule("plan_mode.*", "", Reads::Nothing, KEPT),
        rule("plugin.*", "", Reads::Nothing, KEPT),
        rule("runtime.*", "", Reads::Nothing, KEPT),
        rule("token_counting.*", "", Reads::Nothing, KEPT),
        rule("tools.*", "", Reads::Nothing, KEPT),
        rule("turn.*", "", Reads::Nothing, "kept in the source: the prompt is also a message"),
        rule("usage.*", "", Reads::Nothing, "kept in the source: sums of the usage above"),
    ],
};

pub(super) const ANTIGRAVITY: Layout = Layout {
    format: Format::Antigravity,
    kind: ["type", ""],
    session: &[],
    tree: ["", ""],
    rules: &[
        rule("USER_INPUT", "", Reads::Prompt, "message; what the program adds to it is an injected message"),
        rule("PLANNER_RESPONSE", "", Reads::Reply, "message with its tool calls and reasoning"),
        rule("CONVERSATION_HISTORY", "", Reads::Nothing, KEPT),
        rule("CHECKPOINT", "", Reads::Compaction, "compaction"),
        rule("SYSTEM_MESSAGE", "", Reads::Injected, "injected message"),
        rule("ERROR_MESSAGE", "", Reads::Failure, "end of a turn"),
        rule("*", "", Reads::Result, "result of the oldest call without one"),
    ],
};

impl Layout {
    /// Returns the layout of a format, or `None` if another reader reads the format.
    pub(in crate::transcript) const fn of(format: Format) -> Option<&'static Self> {
        match format {
            Format::Droid => Some(&DROID),
            Format::Grok => Some(&GROK),
            Format::Qwen => Some(&QWEN),
            Format::Kimi => Some(&KIMI),
            Format::Antigravity => Some(&ANTIGRAVITY),
            _ => None,
        }
    }

    /// Returns every record type, and what is read from each of them.
    pub(in crate::transcript) fn record_types(&self) -> Vec<(&'static str, &'static str)> {
        self.rules.iter().map(|rule| (rule.kind, rule.about)).collect()
    }

    /// Returns the rule for a type.
    pub(super) fn rule(&self, kind: &str) -> Option<&'static Rule> {
        self.rules.iter().find(|rule| match rule.kind.strip_suffix('*') {
            Some(begin) => kind.starts_with(begin),
            None => rule.kind == kind,
        })
    }
}
