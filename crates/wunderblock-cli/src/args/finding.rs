//! Arguments of the commands that find sessions and messages, and price them.

use super::shared::{SearchedArgs, SessionFilterArgs};
use clap::{Args as ClapArgs, ValueEnum};

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock sessions             the latest 50
  wunderblock sessions 3f9c        ids that begin with 3f9c
  wunderblock sessions -v          whole ids, and the files they were read from
  wunderblock sessions --project . those of this folder's repository, wherever it is checked out
  wunderblock sessions --json      one JSON object per line

ID~2 is a branch of ID: the session was rewound and went on from there.")]
pub(crate) struct Sessions {
    /// Beginning of the ids
    #[arg(default_value = "", hide_default_value = true)]
    pub(crate) prefix: String,
    /// Only this session, with its branches, its sub-agents and their outputs
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) filter: SessionFilterArgs,
    /// Maximum number of sessions
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: u64,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock cost --since 4w                 per day, over all agents
  wunderblock cost --by model --project .     per model, in this project
  wunderblock cost 3f9c                       one session, and its tools

Amounts come from the usage that providers reported to the agents, at the list prices of that day; a subscription costs
otherwise. `wasted` is what reading from the cache would have saved where a request repeated the one before it. Replies
without a known price are counted, never guessed. For one session, `cost` also says where requests stopped repeating the
one before, if both are known, and which tools ran.")]
pub(crate) struct Cost {
    /// Only this session
    #[arg(value_name = "SESSION", conflicts_with_all = ["project", "user", "agent", "run", "tag"])]
    pub(crate) session: Option<String>,
    /// Grouping of the rows
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = CostBy::Day)]
    pub(crate) by: CostBy,
    #[command(flatten)]
    pub(crate) filter: SessionFilterArgs,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock gain                         per day
  wunderblock gain --by command            per program whose output was shown
  wunderblock gain --since 2w --project .  the last two weeks, in this project

Counts outputs that `run` and `reduce` shortened, and requests that `context` built: `verbatim` is what would have stood
there within the window, `sent` what did, `extra` what reading originals after all and writing summaries took. An output
counts once, although later requests repeat it. Texts whose figures were not recorded are unknown, never guessed.")]
pub(crate) struct Gain {
    /// Grouping of the rows
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = GainBy::Day)]
    pub(crate) by: GainBy,
    #[command(flatten)]
    pub(crate) filter: SessionFilterArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GainBy {
    Day,
    Session,
    Command,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CostBy {
    Day,
    Project,
    Model,
    Agent,
    Session,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock search why did the build fail
  wunderblock search 'timeout -retry \"connection refused\"'
  wunderblock search 数据库 --newest
  wunderblock search migration --project . --since 2w --role user
  wunderblock search rollback --in documents --path docs/deploy.md

+word is required, -word excluded, \"several words\" must stand in a row; quote them for the shell. The index holds
redacted text: secrets are not found here; grep looks in the originals. Exit 1 when nothing is found.")]
pub(crate) struct Search {
    /// A question, or words to search for
    #[arg(required = true, value_name = "QUERY", num_args = 1..)]
    pub(crate) query: Vec<String>,
    #[command(flatten)]
    pub(crate) searched: SearchedArgs,
    /// Latest first, and all words required, instead of best first
    #[arg(long)]
    pub(crate) newest: bool,
    /// Maximum number of hits [default: 10, with --tokens 200]
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Maximum number of tokens of all texts together: the best hits that fit
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) tokens: Option<u64>,
    /// Show this many messages before and after each hit, a line each
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) context: u64,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock grep \"error[E0308]\"                    literally, in sessions and documents
  wunderblock grep -i --regex \"panicked at .*rs\" -n 20
  wunderblock grep unwrap --session 3f9c -C 3           with three lines before and after
  wunderblock grep panicked --tool Bash --project .     in the results of one tool, in this project
  wunderblock grep \"make rollback\" --in documents       in documents that were indexed

A match is named by its place, SESSION#950:15: position 950, line 15; in a document, PATH:15. Exit 1 when nothing matches, as grep does.")]
pub(crate) struct Grep {
    /// Text, taken literally
    #[arg(value_name = "PATTERN")]
    pub(crate) pattern: String,
    #[command(flatten)]
    pub(crate) searched: SearchedArgs,
    /// Treat the pattern as a regular expression
    #[arg(long)]
    pub(crate) regex: bool,
    /// Ignore case
    #[arg(short, long)]
    pub(crate) ignore_case: bool,
    /// Maximum number of matching lines
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Show this many lines before and after each match
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) context: usize,
    /// Give up after this many seconds, and say where
    #[arg(long, value_name = "SECONDS", default_value_t = wunderblock::SEARCH_TIME.as_secs())]
    pub(crate) timeout: u64,
}
