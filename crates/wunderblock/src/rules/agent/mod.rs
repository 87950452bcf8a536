//! The agents, as the data file lists them.

use serde::Deserialize;
use std::sync::LazyLock;

/// An agent, and the places in which it keeps its sessions.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Agent {
    /// Name on the command line, for example `claude-code`.
    pub name: Box<str>,
    /// Name for people, for example `Claude Code`.
    pub title: Box<str>,
    /// Names of the transcript formats that only this agent writes.
    pub formats: Vec<Box<str>>,
    /// Command line that continues a session, with `{session}` in place of the agent's id of the session.
    pub resume: Option<Box<str>>,
    #[serde(default)]
    pub(crate) history: Vec<HistoryPlace>,
}

/// Folder with an agent's sessions.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HistoryPlace {
    /// Folders in order of preference: `$VARIABLE/…`, `~/…`, or `.` for each project.
    pub(crate) base: Vec<Box<str>>,
    /// Patterns of files, relative to the folder.
    pub(crate) files: Vec<Box<str>>,
}

#[derive(Deserialize)]
struct AgentTable {
    agent: Vec<Agent>,
}

static AGENTS: LazyLock<Vec<Agent>> = LazyLock::new(|| {
    let table: Result<AgentTable, _> = toml::from_str(include_str!("agents.toml"));
    table.map(|table| table.agent).unwrap_or_default()
});

/// Returns all known agents, in the order in which they are shown.
#[must_use]
pub fn agents() -> &'static [Agent] {
    &AGENTS
}

impl Agent {
    /// Returns the agent with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<&'static Self> {
        agents().iter().find(|agent| *agent.name == *name)
    }

    /// Returns the agent that writes transcripts of this format, if only one agent writes them.
    #[must_use]
    pub fn of_format(format: &str) -> Option<&'static Self> {
        agents().iter().find(|agent| agent.formats.iter().any(|own| **own == *format))
    }

    /// Returns the command line that continues a session, or `None` if the agent has no such command.
    #[must_use]
    pub fn resume_line(&self, session: &str) -> Option<String> {
        Some(self.resume.as_ref()?.replace("{session}", session))
    }
}
