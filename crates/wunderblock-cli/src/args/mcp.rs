//! Arguments of `mcp`.

use super::agents::ReachArgs;
use super::shared::BuildArgs;
use clap::Args as ClapArgs;

/// The options of the requests that the tool `explain` reports on. `--cwd` also names the project whose latest session
/// is the current one.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples, as an agent starts it:
  wunderblock mcp --db ~/team.db      for the project in the working directory
  wunderblock mcp --cwd ~/project     for the project in that folder
  wunderblock mcp --reach tenant      the tools see the sessions of all projects
  {\"mcpServers\": {\"wunderblock\": {\"command\": \"wunderblock\", \"args\": [\"mcp\"]}}}

Tools: search, read, grep, explain, note, pin, run. The current session is the latest of the project in
the working directory, or in --cwd; a tool's argument `session` names another. The tools see the sessions
of your user in that project, unless --reach widens it. Stdout holds only the
protocol, and the end of stdin ends the server. docs/mcp.md shows a conversation.")]
pub(crate) struct McpArgs {
    #[command(flatten)]
    pub(crate) build: BuildArgs,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
    /// User whose sessions the tools see [default: `scope.user` in the settings]
    #[arg(long, value_name = "USER")]
    pub(crate) user: Option<String>,
}
