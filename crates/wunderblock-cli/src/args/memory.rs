//! Options of `memory`.

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use wunderblock_core::memory::MemoryKind;

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock memory add \"The tests run with `make check`\" --kind procedure
  wunderblock memory list                        what is believed in this project
  wunderblock memory review                      decide about what was proposed
  wunderblock memory add \"Ada lives in Lisbon\" --supersedes 5f5b3f-12
  wunderblock memory forget 5f5b3f-12            no longer shown, nor learned again
  wunderblock memory history 5f5b3f-12           every version, with who decided

What you add is believed at once. What an agent or a model proposes waits until you approve it. Memories belong to
you in this project; --everywhere makes them yours in all projects, --shared everybody's in this one. Nothing is
lost: `restore` and `rollback` take every change back, and only `erase` removes bytes.")]
pub(crate) struct MemoryArgs {
    #[command(subcommand)]
    pub(crate) command: MemoryCommand,
    #[command(flatten)]
    pub(crate) scope: MemoryScopeArgs,
}

/// Whose memories are meant.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(crate) struct MemoryScopeArgs {
    /// User [default: `scope.user` in the settings]
    #[arg(long, value_name = "USER", global = true)]
    pub(crate) user: Option<String>,
    /// Memories of all projects, not of this one
    #[arg(long, global = true)]
    pub(crate) everywhere: bool,
    /// Memories of all users, not of one
    #[arg(long, global = true)]
    pub(crate) shared: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// Add a memory, or change one; in an agent's shell, propose it
    Add(MemoryAdd),
    /// Propose a memory, for somebody to decide about
    Propose(MemoryAdd),
    /// List what is believed, the latest change first
    List(MemoryList),
    /// Show a memory, or a proposal
    Show(MemoryNameArg),
    /// Propose what you stated in past sessions, found without a model
    Learn(MemoryLearn),
    /// Decide about proposals, one by one
    Review,
    /// Approve a proposal
    Apply(MemoryVerdictArgs),
    /// Reject a proposal; the same is not learned again
    Discard(MemoryVerdictArgs),
    /// Show every version of a memory, and who decided
    History(MemoryNameArg),
    /// Make a memory what it was after one of its versions
    Rollback(MemoryRollback),
    /// Forget memories: they are kept, no longer shown, and not learned again
    Forget(MemoryForget),
    /// Restore a forgotten memory
    Restore(MemoryNameArg),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct MemoryAdd {
    /// The claim in words; `-` reads it from stdin
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
    /// Kind of the memory
    #[arg(long, value_enum, default_value = "fact")]
    pub(crate) kind: KindArg,
    /// Tag; may be given several times
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// How much it matters, from 0 to 100
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    pub(crate) importance: u8,
    /// Keep it in every request of its scope
    #[arg(long)]
    pub(crate) pin: bool,
    /// Memory whose place it takes
    #[arg(long, value_name = "NAME", conflicts_with = "revises")]
    pub(crate) supersedes: Option<String>,
    /// Memory that says the same in other words
    #[arg(long, value_name = "NAME")]
    pub(crate) revises: Option<String>,
    /// Message that it rests on, with its words: `SESSION#POSITION=WORDS`; may be given several times
    #[arg(long, value_name = "PLACE=WORDS")]
    pub(crate) evidence: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindArg {
    Fact,
    Preference,
    Procedure,
    Episode,
}

impl KindArg {
    pub(crate) const fn kind(self) -> MemoryKind {
        match self {
            Self::Fact => MemoryKind::Fact,
            Self::Preference => MemoryKind::Preference,
            Self::Procedure => MemoryKind::Procedure,
            Self::Episode => MemoryKind::Episode,
        }
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct MemoryList {
    /// Only memories of this kind
    #[arg(long, value_enum)]
    pub(crate) kind: Option<KindArg>,
    /// Only memories with this tag; may be given several times
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// Also memories that are not shown: superseded, retracted, forgotten, expired
    #[arg(short, long)]
    pub(crate) all: bool,
    /// What was believed at a time, such as 2026-11-02 or 3d
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct MemoryNameArg {
    /// Name, as `list` and `review` print it
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct MemoryVerdictArgs {
    /// Names of proposals, as `review` prints them
    #[arg(value_name = "PROPOSAL", required = true)]
    pub(crate) names: Vec<String>,
    /// Reason, kept with the verdict
    #[arg(long, value_name = "TEXT")]
    pub(crate) cause: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct MemoryRollback {
    #[command(flatten)]
    pub(crate) name: MemoryNameArg,
    /// Version, as `history` numbers them; 0 withdraws the memory
    #[arg(long, value_name = "VERSION")]
    pub(crate) to: u64,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct MemoryForget {
    /// Names of memories
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
    /// Show what would be forgotten, and forget nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct MemoryLearn {
    /// Session [default: all sessions of the project]
    #[arg(value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Only sessions in which something was said since a date, or an age such as `2w`
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
}
