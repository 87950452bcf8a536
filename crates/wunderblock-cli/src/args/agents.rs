//! Arguments of the commands that connect agents to the ledger.

use clap::{Args as ClapArgs, ValueEnum};
use std::ffi::OsString;
use wunderblock::ReachChoice;

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock init                   connect the agents on this machine: show every change, ask, write
  wunderblock init codex --yes       only Codex, without asking
  wunderblock init --digest          new sessions begin with a digest of the agent's last ones in the project
  wunderblock init --digest=all      the same, of the last sessions of all agents
  wunderblock init --recall          prompts also get passages of the project's past sessions that bear on them
  wunderblock init --reach tenant    the agent's tools see the sessions of all projects, not only of its own
  wunderblock init --run-commands    long output of the agent's commands is shortened, and kept whole in the ledger
  wunderblock init --undo            remove the entries; files that nobody changed since get their bytes back

The agent then calls `wunderblock hook` at its events, which takes in what its transcript has gained, and offers the
tools of `wunderblock mcp` to its model. Nothing leaves the machine. Codex asks once, in /hooks, whether to trust them.")]
pub(crate) struct Init {
    /// Agents: claude-code, codex, gemini-cli, opencode [default: those with a folder of settings]
    #[arg(value_name = "AGENT")]
    pub(crate) agents: Vec<String>,
    #[command(flatten)]
    pub(crate) digest: DigestArgs,
    /// Answer a prompt with passages of the project's past sessions that bear on it, of at most 1,200 bytes; most prompts
    /// get none
    #[arg(long, conflicts_with = "undo")]
    pub(crate) recall: bool,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
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

/// Whether a new session begins with a digest.
#[derive(Clone, Copy, Debug, ClapArgs)]
pub(crate) struct DigestArgs {
    /// Answer the start of a new session with a digest of the project's last sessions: your words, names of changed files
    /// and results of checks; `all` also takes those of other agents
    #[arg(
        long,
        value_enum,
        value_name = "SESSIONS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "own",
        conflicts_with = "no_digest"
    )]
    digest: Option<DigestScope>,
    /// Answer the start of a new session with nothing, which is the default
    #[arg(long)]
    no_digest: bool,
}

/// How far an agent sees.
#[derive(Clone, Copy, Debug, Default, ClapArgs)]
pub(crate) struct ReachArgs {
    /// Sessions that the agent's tools, and passages and digests for it, come from [default: those of your user in the
    /// project]: of the whole project, or of all projects
    #[arg(long, value_enum)]
    reach: Option<ReachArg>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReachArg {
    // Comments here would make the help of every command longer.
    Project,
    Tenant,
}

impl ReachArgs {
    /// All choices.
    pub(crate) const ALL: [Self; 3] = [
        Self { reach: None },
        Self { reach: Some(ReachArg::Project) },
        Self { reach: Some(ReachArg::Tenant) },
    ];

    /// Returns the choice as data.
    pub(crate) const fn choice(self) -> ReachChoice {
        match self.reach {
            None => ReachChoice::Own,
            Some(ReachArg::Project) => ReachChoice::Project,
            Some(ReachArg::Tenant) => ReachChoice::Tenant,
        }
    }

    /// Returns the option for this choice, if it has one.
    pub(crate) const fn option(self) -> Option<&'static str> {
        match self.reach {
            None => None,
            Some(ReachArg::Project) => Some("--reach=project"),
            Some(ReachArg::Tenant) => Some("--reach=tenant"),
        }
    }

    /// Describes the choice to a person.
    pub(crate) const fn words(self) -> &'static str {
        match self.reach {
            None => "the agent sees past sessions of this user in its project; `--reach` widens that",
            Some(ReachArg::Project) => "the agent sees past sessions of all users in its project",
            Some(ReachArg::Tenant) => "the agent sees past sessions of all projects and users",
        }
    }
}

/// Sessions that a digest is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DigestScope {
    /// Sessions of the same agent
    Own,
    /// Sessions of all agents
    All,
}

impl DigestArgs {
    /// Returns the choice. `None` if no option states one, as in entries of older versions.
    pub(crate) const fn stated(self) -> Option<DigestArg> {
        match (self.digest, self.no_digest) {
            (Some(scope), _) => Some(DigestArg::Of(scope)),
            (None, true) => Some(DigestArg::Off),
            (None, false) => None,
        }
    }

    /// Returns the digest to write into settings.
    pub(crate) fn chosen(self) -> DigestArg {
        self.stated().unwrap_or(DigestArg::Off)
    }
}

/// A choice about digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DigestArg {
    /// No digest.
    Off,
    /// A digest of these sessions.
    Of(DigestScope),
}

impl DigestArg {
    /// All choices.
    pub(crate) const ALL: [Self; 3] = [Self::Off, Self::Of(DigestScope::Own), Self::Of(DigestScope::All)];

    /// Returns the option of `hook` for this choice.
    pub(crate) const fn option(self) -> &'static str {
        match self {
            Self::Off => "--no-digest",
            Self::Of(DigestScope::Own) => "--digest",
            Self::Of(DigestScope::All) => "--digest=all",
        }
    }

    /// Describes the choice to a person.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Off => {
                "new sessions begin without a digest of the project's last ones; `wunderblock init --digest` adds it"
            }
            Self::Of(DigestScope::Own) => {
                "new sessions begin with a digest of the agent's last ones in the project; `--digest=all` takes those of other agents, too"
            }
            Self::Of(DigestScope::All) => {
                "new sessions begin with a digest of the project's last ones, whichever agent they are of"
            }
        }
    }
}

#[derive(Clone, Debug, ClapArgs)]
#[command(
    after_help = "Agents call this command, with a JSON object on stdin; `wunderblock init` arranges it. It takes in
what the session's transcript has gained since the last call. When a compacted or resumed session starts, it answers with
the user's rules and latest words, the plan, the open items, the files last touched and the last checks. With --digest, the
start of a new one is answered with a digest of the project's last sessions. Secrets are left out. With --recall, a prompt is answered with passages of past sessions of
the project that share its rare words, if any are close enough. It always exits with 0: an agent must not fail because its memory
does. What went wrong is in hook.log, in the XDG state directory."
)]
pub(crate) struct Hook {
    /// Agent that calls: claude-code, codex, gemini-cli, opencode
    #[arg(value_name = "AGENT")]
    pub(crate) agent: String,
    #[command(flatten)]
    pub(crate) digest: DigestArgs,
    /// Answer a prompt with passages of past sessions that bear on it
    #[arg(long)]
    pub(crate) recall: bool,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
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
    #[command(flatten)]
    pub(crate) digest: DigestArgs,
    /// Answer a prompt with passages of the project's past sessions that bear on it
    #[arg(long)]
    pub(crate) recall: bool,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
    /// Run the agent's shell commands through `wunderblock run`
    #[arg(long)]
    pub(crate) run_commands: bool,
    /// Arguments of the agent
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<OsString>,
}
