//! The session as data: what is said and which tools are called, read from the files of `xtask/record`. What the tools
//! answer is not in them.

use crate::program::ChoreResult;
use serde::{Deserialize, Serialize};

/// The parts of the session, in the order in which they are played.
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
    /// The user writes.
    User(String),
    /// The assistant answers.
    Reply(ScriptedReply),
    /// Not part of the session: the place before the next prompt gets a name.
    Mark(String),
    /// The user goes back to a place of that name and writes another prompt; what followed it is a dead branch.
    Back(String),
    /// The user compacts the conversation; this is the summary.
    Compact(String),
    /// Not part of the session: someone else's commit comes into the tree. It replaces `old` by `new` in a file.
    Pulled { path: String, old: String, new: String, message: String },
}

/// What the assistant says, and the tools it calls, all of them in one reply. A reply without calls ends its turn.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptedReply {
    pub(super) thinking: Option<String>,
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) tools: Vec<ToolUse>,
    /// Not part of the session: the answers must hold this text, or the recording fails.
    pub(super) expect: Option<String>,
}

/// A call of a tool. Paths are relative to the repository.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum ToolUse {
    /// A command that succeeds.
    Bash(String),
    /// A command that fails.
    Fails(String),
    /// A file: all of it, or from a line on as many as `limit`.
    Read { path: String, offset: Option<usize>, limit: Option<usize> },
    /// A file that is not there.
    Missing(String),
    /// A pattern and where it is searched for, answered with lines.
    Grep { pattern: String, path: String },
    /// A pattern and where it is searched for, answered with the names of files.
    Files { pattern: String, path: String },
    /// Files whose path matches.
    Glob(String),
    /// A text that is in the file once, and what replaces it.
    Edit { path: String, old: String, new: String },
    /// The same of a text that is not in the file.
    Misses { path: String, old: String, new: String },
    /// A file and its new content.
    Write { path: String, content: String },
    /// The list of what is to be done.
    Todo(Vec<(TodoStatus, String)>),
    /// A sub-agent: what it is about, what it is told, what it does. Its last words are the answer.
    Task { description: String, prompt: String, steps: Vec<ScenarioStep> },
}

/// How far a thing to be done is, in the agent's words.
#[derive(Clone, Copy, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TodoStatus {
    Pending,
    InProgress,
    Completed,
}

/// The whole session.
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
