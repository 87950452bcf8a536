//! Arguments of the commands that connect agents to the ledger.

use clap::Args as ClapArgs;

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock init                   connect the agents on this machine: show every change, ask, write
  wunderblock init codex --yes       only Codex, without asking
  wunderblock init --undo            remove the entries; files that nobody changed since get their bytes back

The agent then calls `wunderblock hook` at its events, which takes in what its transcript has gained, and offers the
tools of `wunderblock mcp` to its model. Nothing leaves the machine. Codex asks once, in /hooks, whether to trust them.")]
pub(crate) struct Init {
    /// Agents: claude-code, codex, gemini-cli [default: those with a folder of settings]
    #[arg(value_name = "AGENT")]
    pub(crate) agents: Vec<String>,
    /// Remove the entries again
    #[arg(long)]
    pub(crate) undo: bool,
    /// Write without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Agents call this command, with a JSON object on stdin; `wunderblock init` arranges it. It takes in
what the session's transcript has gained since the last call, and always exits with 0: an agent must not fail because its
memory does. What went wrong is in hook.log, in the XDG state directory."
)]
pub(crate) struct Hook {
    /// Agent that calls: claude-code, codex, gemini-cli
    #[arg(value_name = "AGENT")]
    pub(crate) agent: String,
}
