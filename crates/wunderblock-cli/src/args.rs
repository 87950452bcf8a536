//! The command line as it is parsed. Help, completions and the manual page are made from this one list.

mod agents;
mod compaction;
mod delegates;
mod documents;
mod erase;
mod eval;
mod finding;
mod graph;
mod handoff;
#[cfg(feature = "mcp")]
mod mcp;
mod memory;
mod reduce;
mod shared;
mod simulate;
mod visibility;

pub(crate) use agents::{DigestArg, DigestScope, Hook, Init, ReachArgs, Status, Wrap};
use clap::{Args as ClapArgs, Parser, Subcommand};
pub(crate) use compaction::{CompactArgs, EditArgs, PolicyArgs, UndoArgs};
pub(crate) use delegates::{
    Agents, AgentsCommand, ConditionArgs, DefinitionArgs, ListAgents, ListingArgs, ResolveAgent, ShowAgent,
    TreeArgs,
};
pub(crate) use documents::{InArg, Index, Unindex};
pub(crate) use erase::Erase;
pub(crate) use eval::{EvalArgs, EvalSetArg, LocomoArgs};
pub(crate) use finding::{Cost, CostBy, Gain, GainBy, Grep, Search, Sessions};
pub(crate) use graph::{Describe, Expand};
pub(crate) use handoff::{BriefArgs, ContextDelegate};
#[cfg(feature = "mcp")]
pub(crate) use mcp::McpArgs;
pub(crate) use memory::{
    KindArg, MemoryAdd, MemoryArgs, MemoryCommand, MemoryForget, MemoryLearn, MemoryList, MemoryRollback,
    MemoryScopeArgs, MemoryVerdictArgs,
};
#[cfg(target_os = "linux")]
pub(crate) use reduce::GuardedArgs;
pub(crate) use reduce::{HowArgs, LevelArg, OnTerminalArgs, ReduceArgs, RunArgs};
pub(crate) use shared::{
    BuildArgs, DialectArg, ExportTo, FormatArg, MessageFilterArgs, RoleArg, SearchedArgs, SessionArg,
    SessionFilterArgs,
};
pub(crate) use simulate::SimulateArgs;
use std::path::PathBuf;
pub(crate) use visibility::VisibilityArgs;
use wunderblock_settings::Overrides;

/// Context and memory for LLM agents: every session kept in a durable ledger, every model request built inside a budget,
/// every token accounted for.
#[derive(Debug, Parser)]
#[command(name = "wunderblock", version, max_term_width = 100, arg_required_else_help = true)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command. `help options` shows these options; the pages of the commands leave them out.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// The ledger [default: wunderblock/ledger.db in the XDG data directory]
    #[arg(
        long,
        global = true,
        hide = true,
        env = "WUNDERBLOCK_DB",
        hide_env_values = true,
        value_name = "PATH"
    )]
    pub(crate) db: Option<PathBuf>,
    /// Settings [default: wunderblock/config.toml in the XDG config directory, if it exists]
    #[arg(
        long,
        global = true,
        hide = true,
        env = "WUNDERBLOCK_CONFIG",
        hide_env_values = true,
        value_name = "FILE"
    )]
    pub(crate) config: Option<PathBuf>,
    /// Tenant: nothing of one tenant is visible to another [default: local]
    #[arg(long, global = true, hide = true, value_name = "NAME")]
    pub(crate) tenant: Option<String>,
    /// Write only JSON to stdout
    #[arg(long, global = true, hide = true)]
    pub(crate) json: bool,
    /// Say less: no progress, no warnings
    #[arg(short, long, global = true, hide = true)]
    pub(crate) quiet: bool,
    /// Say more: every entry, file and warning
    #[arg(short, long, global = true, hide = true)]
    pub(crate) verbose: bool,
}

impl Global {
    /// Returns the values that override those of the settings file.
    pub(crate) fn overrides(&self) -> Overrides {
        let (db, config, tenant) = (self.db.clone(), self.config.clone(), self.tenant.clone());
        Overrides { db, config, tenant, ..Overrides::default() }
    }
}

/// The commands, in the order of `--help`; `help.rs` groups them.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Import transcripts of agents: files, or folders of them
    Import(Import),
    /// Add documents that search finds: files, folders
    Index(Index),
    /// Remove documents, so that search no longer finds them
    Unindex(Unindex),
    /// List sessions, the latest first
    Sessions(Sessions),
    /// Connect agents: their sessions are taken in as they happen
    Init(Init),
    /// Run an agent once, captured, without changing its settings
    Wrap(Wrap),
    /// Take in what an agent's session has gained; agents call this
    Hook(Hook),
    /// Show what sessions cost: reported usage at the prices of its day
    Cost(Cost),
    /// Show the context, cost and open work of a session on one line
    Status(Status),
    /// Show what shortening saved: tokens that were sent, against the whole
    Gain(Gain),
    /// What outlives a session: claims with evidence, approved by you
    Memory(MemoryArgs),
    /// Show the delegates that are defined here, and the models they get
    Agents(Agents),
    /// Show the messages of a session
    Show(Show),
    /// Search what was said, best match first
    Search(Search),
    /// Find an exact text in the originals, latest first
    Grep(Grep),
    /// Read what a handle or a place names, byte for byte
    Read(Read),
    /// Read what a summary or a gap replaces, page by page
    Expand(Expand),
    /// List the summaries of a session, or describe one
    Describe(Describe),
    /// Build the next model request, account for it, record it
    Context(ContextArgs),
    /// Build the same, record nothing; say where a text went
    Explain(Explain),
    /// Rebuild a recorded request and prove it byte for byte
    Replay(Replay),
    /// Show where two recorded requests differ, and why
    Diff(Diff),
    /// Play a session under several policies, side by side
    Simulate(SimulateArgs),
    /// Measure what search finds, by questions with known evidence
    Eval(EvalArgs),
    /// Append messages or events from stdin, one JSON line each
    Append(Append),
    /// Compact a session now, or show what that would do
    Compact(CompactArgs),
    /// Restore the view from before a compaction
    Undo(UndoArgs),
    /// Keep a message in every request that shows it
    Pin(VisibilityArgs),
    /// Remove a pin
    Unpin(VisibilityArgs),
    /// Keep a message, and what belongs to it, out of every request; it stays in the ledger
    Hide(VisibilityArgs),
    /// Let requests show a hidden message again
    Unhide(VisibilityArgs),
    /// Shorten one text: every gap marked, the original kept
    Reduce(ReduceArgs),
    /// Run a command, shorten what it writes into a pipe, keep it
    Run(RunArgs),
    /// Serve the ledger to an agent, as an MCP server over stdio
    #[cfg(feature = "mcp")]
    Mcp(McpArgs),
    /// Become a command in a session on the terminal of our own stream: how `run` starts one on a terminal
    #[command(hide = true)]
    OnTerminal(OnTerminalArgs),
    /// Run a command that ends with the MCP server: how the server starts one
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    Guarded(GuardedArgs),
    /// Write a session out: events, imported file, or a request
    Export(Export),
    /// Check the ledger; repair or rebuild what is derived
    Doctor(Doctor),
    /// Copy the ledger, as of one moment, into a new file
    Backup(Backup),
    /// Replace the ledger by a backup
    Restore(Restore),
    /// Erase permanently: a session, positions of it, or a text
    Erase(Erase),
    /// Help on a command, on `words` or on `options`
    Help(Help),
    /// Write completions for a shell
    Completions(Completions),
    /// Write the manual page
    Man,
}

impl Command {
    /// Returns the user whom the command names.
    pub(crate) fn user(&self) -> Option<&str> {
        match self {
            Self::Import(wanted) => wanted.user.as_deref(),
            Self::Append(wanted) => wanted.user.as_deref(),
            Self::Index(wanted) => wanted.user.as_deref(),
            Self::Memory(wanted) => wanted.scope.user.as_deref(),
            #[cfg(feature = "mcp")]
            Self::Mcp(wanted) => wanted.user.as_deref(),
            _ => None,
        }
    }
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock help context     a command's options and examples
  wunderblock help words       what lane, handle, step, reduction mean
  wunderblock help options     --db, --json and the others that every command takes")]
pub(crate) struct Help {
    /// A command, `words`, or `options`
    #[arg(value_name = "TOPIC")]
    pub(crate) topic: Option<String>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock import                           find the histories of your agents, ask, import them
  wunderblock import --agent codex --watch     import what Codex wrote, and what it writes from now on
  wunderblock import chat.json --format openai-chat
  wunderblock import ~/.claude/projects -v     a line per file, and every warning

Importing again adds only what is new, also after an interruption. The original is kept byte for byte:
`export --original`.")]
pub(crate) struct Import {
    /// Files, or folders of transcripts [default: the histories of the agents on this machine]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Without a path: only the histories of this agent
    #[arg(long, value_name = "AGENT", conflicts_with = "paths")]
    pub(crate) agent: Vec<String>,
    /// Without a path: import without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Stay, and import what the agents write, until interrupted
    #[arg(long)]
    pub(crate) watch: bool,
    /// Format of the files
    #[arg(long, value_parser = FormatArg::parser(), value_name = "FORMAT", default_value = FormatArg::AUTO)]
    pub(crate) format: FormatArg,
    /// Compare even unchanged-looking files whole with what is stored
    #[arg(long)]
    pub(crate) verify: bool,
    /// Count and index later; until then search scans
    #[arg(long)]
    pub(crate) no_index: bool,
    /// User of the sessions that are new [default: `scope.user` in the settings]
    #[arg(long, value_name = "USER")]
    pub(crate) user: Option<String>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Each line is an event or a message:
  {\"id\":\"m1\",\"kind\":\"message.appended\",\"message\":{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":\"hi\"}]}}
  {\"id\":\"m2\",\"role\":\"assistant\",\"content\":\"hello\"}
`id` is the idempotency key: the same id with the same content is a no-op, with other content a conflict (exit 3). A line
without an id gets a new one, so sending it again adds it again. Once a line is durable, its answer is
{\"line\":1,\"id\":\"m1\",\"seq\":2,\"status\":\"appended\"}.")]
pub(crate) struct Append {
    /// Session's id; a new session is opened, for the project of the working directory unless a line says otherwise
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
    /// User of a session that is new [default: `scope.user` in the settings]
    #[arg(long, value_name = "USER")]
    pub(crate) user: Option<String>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock show 3f9c             the newest 40 messages
  wunderblock show 3f9c#120-140     all that stands at positions 120 to 140
  wunderblock show 3f9c#131 -v      one position, in full")]
pub(crate) struct Show {
    #[command(flatten)]
    pub(crate) session: SessionArg,
    /// Positions to show, such as 12 or 12-80; as SESSION#12-80 [default: the newest]
    #[arg(long, value_name = "A-B")]
    pub(crate) at: Option<String>,
    /// Maximum number of messages
    #[arg(short = 'n', long, value_name = "N", default_value_t = 40)]
    pub(crate) limit: u64,
    /// Show records, too: measurements, compactions, recorded requests
    #[arg(short, long)]
    pub(crate) all: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock export 3f9c | wunderblock append copy      events as JSON lines, with their texts
  wunderblock export 3f9c --original -o session.jsonl    the imported file, byte for byte
  wunderblock export 3f9c --to anthropic                 one request with the whole session
  wunderblock export 3f9c --to codex -o rollout.jsonl    a transcript that Codex can resume

The transcript of an agent (claude-code, codex, pi) can be resumed in that agent, whatever agent the session
came from. What the format cannot hold is listed on stderr, with the place where the agent looks for the file
and the command that resumes it. With -o and --json, this report is JSON on stdout.")]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) session: SessionArg,
    /// Write the imported file, byte for byte
    #[arg(long, conflicts_with = "to")]
    pub(crate) original: bool,
    /// File or earlier revision, by its number in `sessions -v`
    #[arg(long, value_name = "N", requires = "original")]
    pub(crate) source: Option<usize>,
    /// Write a transcript for an agent, or one request with the whole session, in this format
    #[arg(long, value_name = "FORMAT", value_parser = ExportTo::parser())]
    pub(crate) to: Option<ExportTo>,
    /// Output file [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock context session.jsonl --window 32000 --out request.json
  wunderblock context 3f9c --out request.md                 as text for people
  wunderblock context 3f9c --query \"why did the build fail\" --out - --json 2>report.txt
  wunderblock context 3f9c --cwd ~/project --state plan.toml --tools tools.json
  wunderblock context 3f9c --prompt \"now the tests\" --out request.json

An empty file (/dev/null) removes an input that was given before. Exit 3: the request cannot fit; the
parts that cannot be left out are listed.")]
pub(crate) struct ContextArgs {
    #[command(flatten)]
    pub(crate) session: SessionArg,
    /// Output file for the request; .md gives text for people; `-` is stdout (report on stderr)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Build it as of this position, and record nothing
    #[arg(long, value_name = "SEQ")]
    pub(crate) at: Option<u64>,
    /// The user's next turn: appended to the session, and the end of the request
    #[arg(long, value_name = "TEXT", conflicts_with = "at")]
    pub(crate) prompt: Option<String>,
    /// Format of the request [default: the model's own]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: Option<DialectArg>,
    #[command(flatten)]
    pub(crate) build: BuildArgs,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock explain 3f9c --window 32000                    what the next request would be
  wunderblock explain 3f9c --find \"cannot find module\"       where that text is, or why it is not there
  wunderblock explain 3f9c --find wb:3f9c1a7be2d04c58        the same for a handle
  wunderblock explain 3f9c#120                               what it would have been at position 120
  wunderblock explain 3f9c --html request.html               a page to click through
  wunderblock explain 3f9c --agent-view --find \"port 4711\"   whether the agent itself still saw it")]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) session: SessionArg,
    /// Find a text or a handle in the request, or the reason why it is not there
    #[arg(long, value_name = "TEXT|HANDLE")]
    pub(crate) find: Option<String>,
    /// Also write a page for a browser: sections, timeline, gaps; it loads and runs nothing
    #[arg(long, value_name = "FILE", conflicts_with = "agent_view")]
    pub(crate) html: Option<PathBuf>,
    /// Show what the recording agent had in view, by its own compactions
    #[arg(long)]
    pub(crate) agent_view: bool,
    /// Build it as of this position
    #[arg(long, value_name = "SEQ")]
    pub(crate) at: Option<u64>,
    /// The user's next turn, as with `context --prompt`
    #[arg(long, value_name = "TEXT", conflicts_with = "at")]
    pub(crate) prompt: Option<String>,
    /// Format of the request [default: the model's own]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: Option<DialectArg>,
    #[command(flatten)]
    pub(crate) build: BuildArgs,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock replay 3f9c                          the latest request, proved by its hash
  wunderblock replay 3f9c#120 -o request.json      an earlier one, written to a file")]
pub(crate) struct Replay {
    #[command(flatten)]
    pub(crate) session: SessionArg,
    /// Position: the latest request recorded at or before it
    #[arg(long, value_name = "SEQ")]
    pub(crate) at: Option<u64>,
    /// Output file for the request; `-` is stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:
  wunderblock diff 3f9c 120 131    the requests recorded at or before positions 120 and 131

Names the first different byte. A request that only adds to the previous one keeps the provider's prefix cache.")]
pub(crate) struct Diff {
    #[command(flatten)]
    pub(crate) session: SessionArg,
    /// Position: the latest request recorded at or before it
    #[arg(value_name = "SEQ")]
    pub(crate) first: u64,
    /// Position of the other request
    #[arg(value_name = "SEQ")]
    pub(crate) second: u64,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock read wb:3f9c1a7b                            the exact bytes
  wunderblock read wb:3f9c1a7b#L120-181                   lines, as a mark names them
  wunderblock read wb:3f9c1a7b '$.items[13..198]'         items 13 to 198 of an array, counted from 0
  wunderblock read wb:3f9c1a7b --grep timeout             lines that contain it, with their numbers
  wunderblock read wb:3f9c1a7b --page 2                   a page sized for a model
  wunderblock read 3f9c#12-80                             events 12 to 80 of a session, as JSON lines

A terminal shows control characters visibly; a pipe gets the exact bytes.")]
pub(crate) struct Read {
    /// `wb:` and 8 to 16 digits, as marks and reports have it, a place behind `#` perhaps; or SESSION#12-80
    #[arg(value_name = "HANDLE|PLACE")]
    pub(crate) handle: String,
    /// Place in the text, as in a mark: L120-181, B0-4096, `$.items[13..198]`
    #[arg(value_name = "PLACE", conflicts_with_all = ["lines", "bytes", "json_path", "grep", "page"])]
    pub(crate) place: Option<String>,
    /// Lines, counted from 1, such as 120-181
    #[arg(long, value_name = "A-B", conflicts_with_all = ["bytes", "json_path", "grep", "page"])]
    pub(crate) lines: Option<String>,
    /// Bytes, counted from 0, end excluded, such as 0-4096
    #[arg(long, value_name = "A-B", conflicts_with_all = ["json_path", "grep", "page"])]
    pub(crate) bytes: Option<String>,
    /// Value in a JSON text: `$.items[0].name`, /items/0/name, `$.items[13..198]`
    #[arg(long, value_name = "PATH", conflicts_with_all = ["grep", "page"])]
    pub(crate) json_path: Option<String>,
    /// Lines that contain this text, each after its number
    #[arg(long, value_name = "TEXT", conflicts_with = "page")]
    pub(crate) grep: Option<String>,
    /// Treat the text of --grep as a regular expression
    #[arg(long, requires = "grep")]
    pub(crate) regex: bool,
    /// Page sized for a model, counted from 1
    #[arg(long, value_name = "N")]
    pub(crate) page: Option<u64>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock doctor             checks everything, changes nothing
  wunderblock doctor --repair    repairs counts, index and file modes, finishes erasures

Checks every tenant, or that of --tenant. Exit 1 if something is wrong. Restore a backup if it cannot be repaired.")]
pub(crate) struct Doctor {
    /// Rebuild everything derived: counts, tallies, the text index
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Repair what is wrong and can be repaired
    #[arg(long, conflicts_with = "rebuild")]
    pub(crate) repair: bool,
    /// Check instead, agent by agent, whether what it writes is captured
    #[arg(long, conflicts_with_all = ["rebuild", "repair"])]
    pub(crate) agents: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:
  wunderblock backup ledger-2026-03-01.db

Safe while other processes write. `wunderblock restore` puts it back.")]
pub(crate) struct Backup {
    /// Path of the new file
    #[arg(value_name = "FILE")]
    pub(crate) to: PathBuf,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:
  wunderblock restore ledger-2026-03-01.db --replace

The backup is checked first. Content erased from the ledger since the backup is erased from the restored ledger, too. The
replaced ledger is kept beside it. Erasures do not reach other copies of the backup.")]
pub(crate) struct Restore {
    /// Path of the backup
    #[arg(value_name = "FILE")]
    pub(crate) from: PathBuf,
    /// Replace an existing ledger
    #[arg(long)]
    pub(crate) replace: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock completions bash > ~/.local/share/bash-completion/completions/wunderblock
  wunderblock completions zsh > ~/.zfunc/_wunderblock
  wunderblock completions fish > ~/.config/fish/completions/wunderblock.fish")]
pub(crate) struct Completions {
    /// Shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}
