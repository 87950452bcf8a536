//! Arguments that several commands take.

use super::compaction::PolicyArgs;
use clap::{Args as ClapArgs, ValueEnum};
use std::path::PathBuf;

/// A session: its id or a short one, perhaps with a position behind `#`, or the path of a transcript.
#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct SessionArg {
    /// A session's id, a short one, or a transcript's path (imported first)
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DialectArg {
    Neutral,
    Anthropic,
    OpenaiChat,
    OpenaiResponses,
    Gemini,
}

/// Who reads the request, and how much it can take.
#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct ReaderArgs {
    /// The model [default: the transcript's last one, else the catalog's default]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The context window in tokens; beats what provider and catalog say
    #[arg(long, value_name = "TOKENS")]
    pub(crate) window: Option<u64>,
    /// Tokens kept free for the answer
    #[arg(long, value_name = "TOKENS")]
    pub(crate) reserve: Option<u64>,
}

/// How a request is built.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "The request")]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    pub(crate) reader: ReaderArgs,
    /// Keep room for the system prompt and the tools that the agent itself adds, as its recorded usage tells
    #[arg(long)]
    pub(crate) harness: bool,
    /// Bring back older entries that answer this, where there is room
    #[arg(long, value_name = "TEXT")]
    pub(crate) query: Option<String>,
    /// Which consumer's view of the session [default: the latest for this model, window and policy, else a new one]
    #[arg(long, value_name = "NAME")]
    pub(crate) lane: Option<String>,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    #[command(flatten)]
    pub(crate) sources: SourceArgs,
}

/// What enters a request from outside the ledger. What is not given stays as the lane has it on record.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "What enters from outside (what is not given stays as it was)")]
pub(crate) struct SourceArgs {
    /// Where work happens: the instruction files and skills of there enter
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Look for instruction files in the whole project of --cwd
    #[arg(long)]
    pub(crate) scan: bool,
    /// Instructions of yours for this session; with --cwd
    #[arg(long, value_name = "FILE")]
    pub(crate) instructions: Vec<PathBuf>,
    /// Safety policy: nothing overrides it
    #[arg(long, value_name = "FILE")]
    pub(crate) safety: Vec<PathBuf>,
    /// System text, after the transcript's own
    #[arg(long, value_name = "FILE")]
    pub(crate) system: Vec<PathBuf>,
    /// Tools to declare: a JSON array in a provider's form or the neutral one
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// Directories of skills: DIR/NAME/SKILL.md
    #[arg(long, value_name = "DIR")]
    pub(crate) skills: Vec<PathBuf>,
    /// Memory that is always present
    #[arg(long, value_name = "FILE")]
    pub(crate) memory: Vec<PathBuf>,
    /// A JSON or TOML list of {uri, name, description, text, pinned}
    #[arg(long, value_name = "FILE")]
    pub(crate) resources: Option<PathBuf>,
    /// Where the work stands, JSON or TOML: plan, todo, results, failures, …
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Changed tools, skills, memory, resources hold now: costs the cache
    #[arg(long)]
    pub(crate) now: bool,
}
