//! The entries of each agent, from `settings.toml`.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::Value;
use std::sync::LazyLock;
use wunderblock_wire::hook::HookAgent;

/// Files of an agent in which this program has entries.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentFiles {
    pub(super) name: Box<str>,
    /// Name of the agent's program, if a run of it can have our entries without a change of its files.
    pub(super) program: Option<Box<str>>,
    pub(super) file: Vec<FileRow>,
}

/// One file, or several of which one is used.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileRow {
    /// Folders in order of preference: `$VARIABLE/…`, or `~/…`.
    pub(super) base: Vec<Box<str>>,
    /// Names in order of preference. The first that exists is used, or else the last.
    pub(super) names: Vec<Box<str>>,
    /// Whether the agent accepts comments and trailing commas in its JSON.
    #[serde(default)]
    pub(super) comments: bool,
    /// Handlers of events.
    pub(super) hooks: Option<HookRows>,
    /// The entry of the MCP server.
    pub(super) server: Option<ServerRow>,
    /// The whole file is a plugin.
    pub(super) plugin: Option<PluginRow>,
    /// How one run of the agent gets the entries without the file.
    pub(super) pass: Option<Pass>,
}

/// How an agent takes in settings for one run.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Pass {
    /// As the value of this option.
    Option(Box<str>),
    /// As a file whose path is in this environment variable.
    Variable(Box<str>),
    /// As a file of the row's name in the folder that this environment variable names.
    Folder(Box<str>),
    /// Each field of the server's entry as `KEY=VALUE` after this option.
    Field(Box<str>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HookRows {
    /// Handler of every event.
    #[serde(deserialize_with = "json")]
    pub(super) handler: Value,
    pub(super) on: Vec<HookRow>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HookRow {
    pub(super) events: Vec<Box<str>>,
    /// Pattern of the tools for which the event is handled. `None` handles all of them.
    pub(super) matcher: Option<Box<str>>,
    /// Pattern when commands run through this program, if it is another one.
    pub(super) matcher_running: Option<Box<str>>,
    /// Whether the event is handled only when commands run through this program.
    #[serde(default)]
    pub(super) only_running: bool,
    /// Timeout of the handler, if it is another one, in the agent's unit.
    pub(super) timeout: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServerRow {
    pub(super) keys: Vec<Box<str>>,
    #[serde(deserialize_with = "json")]
    pub(super) entry: Value,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PluginRow {
    /// First words of the file, by which it is recognised.
    pub(super) mark: Box<str>,
}

/// Reads a text that contains JSON.
fn json<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    let text = String::deserialize(deserializer)?;
    serde_json::from_str(&text).map_err(D::Error::custom)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingsTable {
    agent: Vec<AgentFiles>,
}

static TABLE: LazyLock<Vec<AgentFiles>> = LazyLock::new(|| {
    let table: Result<SettingsTable, _> = ::toml::from_str(include_str!("settings.toml"));
    table.map(|table| table.agent).unwrap_or_default()
});

/// Returns the files of an agent.
pub(super) fn files(agent: HookAgent) -> &'static [FileRow] {
    let found = TABLE.iter().find(|row| &*row.name == agent.name());
    found.map_or(&[], |row| row.file.as_slice())
}

/// Returns the name of an agent's program, if a run of it can have our entries without a change of its files.
pub(super) fn program(agent: HookAgent) -> Option<&'static str> {
    TABLE.iter().find(|row| &*row.name == agent.name())?.program.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_has_hooks_or_a_plugin_and_a_server() {
        assert!(::toml::from_str::<SettingsTable>(include_str!("settings.toml")).is_ok());
        for agent in HookAgent::ALL {
            let rows = files(agent);
            assert!(rows.iter().any(|row| row.server.is_some()), "{}", agent.name());
            assert!(rows.iter().any(|row| row.hooks.is_some() != row.plugin.is_some()), "{}", agent.name());
            assert!(rows.iter().all(|row| !row.base.is_empty() && !row.names.is_empty()));
        }
    }
}
