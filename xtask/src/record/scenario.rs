//! The session as data, read from the files of `xtask/record`: prompts, replies and tool calls, but no tool results.

use crate::program::ChoreResult;
use serde::{Deserialize, Serialize};

/// Parts of the session, in the order in which they are played.
const PARTS: [(&str, &str); 7] = [
    ("orientation", include_str!("../../record/orientation.toml")),
    ("since", include_str!("../../record/since.toml")),
    ("tail_bug", include_str!("../../record/tail_bug.toml")),
    ("pairing", include_str!("../../record/pairing.toml")),
    ("library", include_str!("../../record/library.toml")),
    ("grouping", include_str!("../../record/grouping.toml")),
    ("wire", include_str!("../../record/wire.toml")),
];

/// A part of the session.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scenario {
    #[serde(skip)]
    pub(super) name: &'static str,
    #[serde(rename = "step")]
    pub(super) steps: Vec<ScenarioStep>,
}

/// One step of the session.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum ScenarioStep {
    /// The user writes a prompt.
    User(String),
    /// The assistant replies.
    Reply(ScriptedReply),
    /// Not part of the session: gives the current place a name.
    Mark(String),
    /// The user returns to a named place and writes another prompt; later messages become a dead branch.
    Back(String),
    /// The user compacts the conversation into this summary.
    Compact(String),
    /// Not part of the session: another person's commit enters the repository. The commit replaces `old` with `new`
    /// in a file.
    Pulled { path: String, old: String, new: String, message: String },
}

/// A reply of the assistant: its words, and the tools it calls. A reply without calls ends its turn.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptedReply {
    pub(super) thinking: Option<String>,
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) tools: Vec<ToolUse>,
    /// Not part of the session: the tool results must contain this text, or the recording fails.
    pub(super) expect: Option<String>,
}

/// A call of a tool. Paths are relative to the repository.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum ToolUse {
    /// Runs a command that must succeed.
    Bash(String),
    /// Runs a command that must fail.
    Fails(String),
    /// Reads a whole file, or at most `limit` lines from a given line on.
    Read { path: String, offset: Option<usize>, limit: Option<usize> },
    /// Reads a file that does not exist.
    Missing(String),
    /// Searches a path for a pattern. The result is the matching lines.
    Grep { pattern: String, path: String },
    /// Searches a path for a pattern. The result is the names of matching files.
    Files { pattern: String, path: String },
    /// Lists files whose path matches a pattern.
    Glob(String),
    /// Replaces a text that occurs exactly once in a file.
    Edit { path: String, old: String, new: String },
    /// Tries to replace a text that does not occur in the file.
    Misses { path: String, old: String, new: String },
    /// Writes a file with new content.
    Write { path: String, content: String },
    /// Replaces the to-do list.
    Todo(Vec<(TodoStatus, String)>),
    /// Runs a sub-agent. The sub-agent's last words are the result of the call.
    Task { description: String, prompt: String, steps: Vec<ScenarioStep> },
}

/// State of a to-do item, in the agent's words.
#[derive(Clone, Copy, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TodoStatus {
    Pending,
    InProgress,
    Completed,
}

/// Returns all parts of the session.
pub(super) fn all() -> ChoreResult<Vec<Scenario>> {
    let read = |(name, text): (&'static str, &str)| -> ChoreResult<Scenario> {
        let scenario: Scenario =
            toml::from_str(text).map_err(|error| format!("xtask/record/{name}.toml: {error}"))?;
        Ok(Scenario { name, ..scenario })
    };
    PARTS.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_part_of_the_session_can_be_read() {
        let steps: usize = super::all().unwrap().iter().map(|part| part.steps.len()).sum();
        assert!(steps > 300, "{steps} steps");
    }
}
