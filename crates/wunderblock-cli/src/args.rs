//! What was typed. Help, completions and the man page are made from this one list.

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// A context and memory engine for LLM agents: it keeps every session in a durable ledger, builds each model request from
/// it inside a budget, and accounts for every token.
#[derive(Debug, Parser)]
#[command(name = "wunderblock", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Start with: wunderblock context TRANSCRIPT --window 32000 --out request.json
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused on purpose (over budget, conflict).")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct Global {
    /// The ledger [default: ledger.db in the XDG data directory of wunderblock]
    #[arg(long, global = true, env = "WUNDERBLOCK_DB", value_name = "PATH")]
    pub(crate) db: Option<PathBuf>,
    /// A settings file [default: config.toml in the XDG config directory of wunderblock, if it is there]
    #[arg(long, global = true, env = "WUNDERBLOCK_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Whose ledger [default: local]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) tenant: Option<String>,
    /// Write only JSON to stdout
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Say less: no progress, no warnings
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Say more: every entry, not only the newest
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

/// The commands, in the order in which one meets them.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Import transcripts of agents: files, or folders of them
    Import(Import),
    /// Append events to a session: JSON lines on stdin, an acknowledgement per line once it is durable
    Append(Append),
    /// List sessions, the newest first
    Sessions(Sessions),
    /// Show what was said in a session
    Show(Show),
    /// Write a session out: as JSON lines, as the original file, or as one request
    Export(Export),
    /// Build the next model request and record it; the report goes to stdout, the request to --out
    Context(ContextArgs),
    /// Build the same request and record nothing; say where a text or a handle is
    Explain(Explain),
    /// Rebuild a recorded request and prove it byte for byte
    Replay(Replay),
    /// Say where two recorded requests part, and why
    Diff(Diff),
    /// Read back what a handle names, exactly
    Read(Read),
    /// Look for a text in the originals, the newest first
    Grep(Grep),
    /// Search what was said, best first
    Search(Search),
    /// Check every invariant of the ledger; repair what is derived
    Doctor(Doctor),
    /// Copy the ledger, as of one moment, into a new file
    Backup(Backup),
    /// Put a backup in the ledger's place
    Restore(Restore),
    /// Erase content for good: a session, or positions of it
    Erase(Erase),
    /// Write completions for a shell
    Completions(Completions),
    /// Write the manual page
    Man,
}

/// A session: its id, a unique beginning of it, or the path of a transcript, which is imported first.
#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct SessionArg {
    /// A session's id, a unique beginning of it, or a transcript's path (imported first)
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock import ~/.claude/projects        every session of Claude Code
  wunderblock import chat.json --format openai-chat
Importing again adds only what is new. The original stays byte for byte: export --original.")]
pub(crate) struct Import {
    /// Files, or folders that are searched for transcripts
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// The format; recognised by itself if not given
    #[arg(long, value_enum, default_value_t = FormatArg::Auto)]
    pub(crate) format: FormatArg,
    /// Count and index later: search scans what is not indexed yet
    #[arg(long)]
    pub(crate) no_index: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    Auto,
    ClaudeCode,
    Codex,
    Pi,
    Openclaw,
    OpenaiChat,
    Aider,
    JsonLines,
    Json,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Each line is an event or a message:
  {\"id\":\"m1\",\"kind\":\"message.appended\",\"message\":{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":\"hi\"}]}}
  {\"id\":\"m2\",\"role\":\"assistant\",\"content\":\"hello\"}
`id` is the idempotency key: the same id with the same content is a no-op, with other content a conflict (exit 3).
Without an id one is made, and sending the line again adds it again: equal texts are not guessed to be one event.
Each line is answered by {\"line\":1,\"id\":\"m1\",\"seq\":2,\"status\":\"appended\"} once it is durable.")]
pub(crate) struct Append {
    /// The session's id; it is opened if it is new
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Sessions {
    /// Only ids that begin so
    #[arg(default_value = "", hide_default_value = true)]
    pub(crate) prefix: String,
    /// At most so many
    #[arg(short = 'n', long, default_value_t = 50)]
    pub(crate) limit: u64,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Show {
    #[command(flatten)]
    pub(crate) session: SessionArg,
    /// Positions to show, such as 12 or 12-80 [default: the newest]
    #[arg(long, value_name = "A-B")]
    pub(crate) at: Option<String>,
    /// How many of the newest events to show
    #[arg(short = 'n', long, default_value_t = 40)]
    pub(crate) limit: u64,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Without a flag the session's events are written as JSON lines, texts in full: what `append` takes."
)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) session: SessionArg,
    /// The imported file, byte for byte
    #[arg(long, conflicts_with = "to")]
    pub(crate) original: bool,
    /// One request with the whole session, in this format
    #[arg(long, value_enum)]
    pub(crate) to: Option<DialectArg>,
    /// Write to a file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DialectArg {
    Neutral,
    Anthropic,
    OpenaiChat,
    OpenaiResponses,
    Gemini,
}

/// How a request is built.
#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct BuildArgs {
    /// The model [default: the transcript's last one, else the catalog's default]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The context window in tokens; beats what provider and catalog say
    #[arg(long, value_name = "TOKENS")]
    pub(crate) window: Option<u64>,
    /// Tokens kept free for the answer
    #[arg(long, value_name = "TOKENS")]
    pub(crate) reserve: Option<u64>,
    /// Bring back older entries that answer this, where there is room
    #[arg(long, value_name = "TEXT")]
    pub(crate) query: Option<String>,
    /// The format of the request [default: the model's own]
    #[arg(long, value_enum)]
    pub(crate) to: Option<DialectArg>,
    /// Tools to declare: a file with a JSON array in the format of --to or in the neutral one
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// Which consumer's view of the session
    #[arg(long, default_value = "main")]
    pub(crate) lane: String,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock context session.jsonl --window 32000 --out request.json
  wunderblock context 3f9c --query \"why did the build fail\" --out - --json 2>report.txt
Exit 3: even what cannot be left out does not fit; the parts are listed.")]
pub(crate) struct ContextArgs {
    #[command(flatten)]
    pub(crate) session: SessionArg,
    #[command(flatten)]
    pub(crate) build: BuildArgs,
    /// Write the request to a file; `-`: to stdout, and the report to stderr
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// As of a position; nothing is recorded then
    #[arg(long, value_name = "SEQ")]
    pub(crate) at: Option<u64>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) session: SessionArg,
    #[command(flatten)]
    pub(crate) build: BuildArgs,
    /// As of a position
    #[arg(long, value_name = "SEQ")]
    pub(crate) at: Option<u64>,
    /// Say where a text or a handle is in the request, or why it is not there
    #[arg(long, value_name = "TEXT|HANDLE")]
    pub(crate) find: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Replay {
    #[command(flatten)]
    pub(crate) session: SessionArg,
    /// The newest request recorded at or before this position
    #[arg(long, value_name = "SEQ")]
    pub(crate) at: Option<u64>,
    /// Write the request to a file; `-`: to stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Diff {
    #[command(flatten)]
    pub(crate) session: SessionArg,
    /// A position: the newest request recorded at or before it
    #[arg(value_name = "SEQ")]
    pub(crate) first: u64,
    /// Another one
    #[arg(value_name = "SEQ")]
    pub(crate) second: u64,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Without a part, the exact bytes. On a terminal control characters are made visible.
  wunderblock read wb:3f9c1a7be2d04c58 --lines 120-181
  wunderblock read wb:3f9c1a7be2d04c58#12-80       events 12 to 80 of a session")]
pub(crate) struct Read {
    /// What `⟨… · wb:…⟩` marks and reports name
    #[arg(value_name = "HANDLE")]
    pub(crate) handle: String,
    /// Lines, counted from 1: 120-181
    #[arg(long, value_name = "A-B", conflicts_with_all = ["bytes", "json_path", "page"])]
    pub(crate) lines: Option<String>,
    /// Bytes, counted from 0, the end excluded: 0-4096
    #[arg(long, value_name = "A-B", conflicts_with_all = ["json_path", "page"])]
    pub(crate) bytes: Option<String>,
    /// A value in a JSON text: items[0].name or /items/0/name
    #[arg(long, value_name = "PATH", conflicts_with = "page")]
    pub(crate) json_path: Option<String>,
    /// A page sized for a model, counted from 1
    #[arg(long, value_name = "N")]
    pub(crate) page: Option<u64>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Exit 1 when nothing matches, as grep does.")]
pub(crate) struct Grep {
    /// The text, taken literally
    #[arg(value_name = "PATTERN")]
    pub(crate) pattern: String,
    /// Only this session
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Take the pattern as a regular expression
    #[arg(long)]
    pub(crate) regex: bool,
    /// Ignore case
    #[arg(short, long)]
    pub(crate) ignore_case: bool,
    /// Stop after so many lines
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<u64>,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Words are ranked; +word must be there, -word must not, \"words in a row\" stand next to each other.
The index holds redacted text: secrets are not found here; grep looks in the originals."
)]
pub(crate) struct Search {
    /// What to look for
    #[arg(required = true, value_name = "QUERY", allow_hyphen_values = true, num_args = 1..)]
    pub(crate) query: Vec<String>,
    /// Only this session
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// The newest first instead of the best; all words are required then
    #[arg(long)]
    pub(crate) newest: bool,
    /// At most so many hits
    #[arg(short = 'n', long, default_value_t = 10)]
    pub(crate) limit: usize,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Doctor {
    /// Make everything derived anew: counts, tallies, the text index
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Make derived data anew only where something is wrong with it
    #[arg(long, conflicts_with = "rebuild")]
    pub(crate) repair: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Backup {
    /// The new file
    #[arg(value_name = "FILE")]
    pub(crate) to: PathBuf,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "The backup is checked before it is used. What was erased from the ledger after the backup was made is
erased from the restored one, too. The ledger that was there before is kept beside it."
)]
pub(crate) struct Restore {
    /// The backup
    #[arg(value_name = "FILE")]
    pub(crate) from: PathBuf,
    /// Take the place of a ledger that is there
    #[arg(long)]
    pub(crate) replace: bool,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Erases bodies, raw records, recalled copies, foreign summaries and index entries. A receipt stays.
There is no way back, and --yes says that you know."
)]
pub(crate) struct Erase {
    #[command(flatten)]
    pub(crate) session: SessionArg,
    /// Positions: 12 or 12-80 [default: the whole session]
    #[arg(long, value_name = "A-B")]
    pub(crate) at: Option<String>,
    /// Why; kept in the receipt
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Do it
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}
