//! Arguments of the commands that connect agents to the ledger.

use clap::Args as ClapArgs;
use std::ffi::OsString;

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock init                   connect the agents on this machine: show every change, ask, write
  wunderblock init codex --yes       only Codex, without asking
  wunderblock init --no-digest       new sessions begin without a digest of the last ones
  wunderblock init --recall          prompts also get passages of the project's past sessions that bear on them
  wunderblock init --run-commands    long output of the agent's commands is shortened, and kept whole in the ledger
  wunderblock init --undo            remove the entries; files that nobody changed since get their bytes back

The agent then calls `wunderblock hook` at its events, which takes in what its transcript has gained, and offers the
tools of `wunderblock mcp` to its model. Nothing leaves the machine. Codex asks once, in /hooks, whether to trust them.")]
pub(crate) struct Init {
    /// Agents: claude-code, codex, gemini-cli, opencode [default: those with a folder of settings]
    #[arg(value_name = "AGENT")]
    pub(crate) agents: Vec<String>,
    /// Answer the start of a new session with nothing, instead of a digest of the project's last sessions
    #[arg(long, conflicts_with = "undo")]
    pub(crate) no_digest: bool,
    /// Answer a prompt with passages of the project's past sessions that bear on it, of at most 1,200 bytes; most prompts
    /// get none
    #[arg(long, conflicts_with = "undo")]
    pub(crate) recall: bool,
    /// Run the agent's shell commands through `wunderblock run`; the agent asks for permission for the new command, so
    /// rules that allow a command by its beginning do not apply to it
    #[arg(long, conflicts_with = "undo")]
    pub(crate) run_commands: bool,
    /// Remove the entries again
    #[arg(long)]
    pub(crate) undo: bool,
    /// Write without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Clone, Debug, ClapArgs)]
#[command(
    after_help = "Agents call this command, with a JSON object on stdin; `wunderblock init` arranges it. It takes in
what the session's transcript has gained since the last call. When a compacted or resumed session starts, it answers with
the user's rules and latest words, the plan, the open items, the files last touched and the last checks; when a new one
starts, with a digest of the project's last sessions. With --recall, a prompt is answered with passages of past sessions of
the project that share its rare words, if any are close enough. It always exits with 0: an agent must not fail because its memory
does. What went wrong is in hook.log, in the XDG state directory."
)]
pub(crate) struct Hook {
    /// Agent that calls: claude-code, codex, gemini-cli, opencode
    #[arg(value_name = "AGENT")]
    pub(crate) agent: String,
    /// Answer the start of a new session with nothing
    #[arg(long)]
    pub(crate) no_digest: bool,
    /// Answer a prompt with passages of past sessions that bear on it
    #[arg(long)]
    pub(crate) recall: bool,
    /// Answer a shell command with the same command through `wunderblock run`
    #[arg(long)]
    pub(crate) run_commands: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock status          the latest session of this folder's project
  wunderblock status 3f9c     this session

In Claude Code, settings.json: {\"statusLine\": {\"type\": \"command\", \"command\": \"wunderblock status\"}}. It passes its session
on stdin. The line has the tokens of the latest request with its reply and the model's window, the share of all input that
was read from the cache, the cost at list prices, and the open items of the agent's list.")]
pub(crate) struct Status {
    /// Session [default: the one on stdin, or the latest of the current folder's project]
    #[arg(value_name = "SESSION")]
    pub(crate) session: Option<String>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock wrap claude-code                    start claude with our hooks and tools for this run
  wunderblock wrap codex -- exec \"run the tests\"   what follows `--` is for the agent

Claude Code gets hooks and tools as options, Gemini CLI and OpenCode in files, Codex only the tools, because it
runs hooks only after you trust them. What the agent wrote is imported when it ends, so that nothing is lost either way.
The exit code is the agent's.")]
pub(crate) struct Wrap {
    /// Agent: claude-code, codex, gemini-cli, opencode
    #[arg(value_name = "AGENT")]
    pub(crate) agent: String,
    /// Answer the start of a new session with nothing, instead of a digest of the project's last sessions
    #[arg(long)]
    pub(crate) no_digest: bool,
    /// Answer a prompt with passages of the project's past sessions that bear on it
    #[arg(long)]
    pub(crate) recall: bool,
    /// Run the agent's shell commands through `wunderblock run`
    #[arg(long)]
    pub(crate) run_commands: bool,
    /// Arguments of the agent
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<OsString>,
}
