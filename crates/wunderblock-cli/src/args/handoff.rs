//! Arguments of `agents context`.

use super::delegates::DefinitionArgs;
use super::shared::{DialectArg, ReaderArgs, SourceArgs};
use clap::{Args as ClapArgs, ValueEnum};
use std::path::PathBuf;
use wunderblock_core::delegate::context::ContextMode;

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock agents context explore --session 3f9c --goal \"Find where the parser drops comments.\"
  wunderblock agents context --session 3f9c --mode fork --goal \"Try the other design.\"  a copy of the parent
  wunderblock agents context plan --session 3f9c --mode slice --path src/parser.rs --at 120-131 --goal \"Plan the fix.\"
  wunderblock agents context explore --session 3f9c --mode summary --goal \"Review.\" --out request.json

Nothing is recorded and no agent is started. The report compares the cost with that of a fork and of a fresh start.")]
pub(crate) struct ContextDelegate {
    /// Type of the delegate [default: a copy of the parent]
    #[arg(value_name = "TYPE")]
    pub(crate) kind: Option<String>,
    /// Session of the parent
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: String,
    /// What the delegate is shown of its parent
    #[arg(long, value_enum, default_value = "fresh")]
    pub(crate) mode: ModeArg,
    #[command(flatten)]
    pub(crate) brief: BriefArgs,
    /// Position of the parent, or a range such as 12-80, for a slice; repeatable
    #[arg(long, value_name = "POSITION")]
    pub(crate) at: Vec<String>,
    /// File whose entries belong to a slice; repeatable. Files that the brief names count, too
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Vec<String>,
    /// Whether the newest entries belong to a slice [default: yes if none of the type's tools changes files]
    #[arg(long, value_name = "BOOL")]
    pub(crate) newest: Option<bool>,
    /// The parent is planning, and changes nothing
    #[arg(long)]
    pub(crate) plan: bool,
    /// Write the request to a file; - is stdout, with the report on stderr
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Format of the request [default: the model's]
    #[arg(long, value_name = "DIALECT")]
    pub(crate) to: Option<DialectArg>,
    #[command(flatten)]
    pub(crate) reader: ReaderArgs,
    #[command(flatten)]
    pub(crate) definitions: DefinitionArgs,
    #[command(flatten)]
    pub(crate) sources: SourceArgs,
}

/// The task of a delegate.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "The brief")]
pub(crate) struct BriefArgs {
    /// Result to reach
    #[arg(long, value_name = "TEXT")]
    pub(crate) goal: String,
    /// Rule that the work must follow; repeatable
    #[arg(long, value_name = "TEXT")]
    pub(crate) constraint: Vec<String>,
    /// Fact that need not be found out again; repeatable
    #[arg(long, value_name = "TEXT")]
    pub(crate) known: Vec<String>,
    /// Form of the result, in words
    #[arg(long, value_name = "TEXT")]
    pub(crate) expect: Option<String>,
    /// JSON Schema of the result
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Maximum number of tokens that the work may use
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u64>,
    /// Maximum number of further levels of delegation
    #[arg(long, value_name = "N")]
    pub(crate) levels: Option<u32>,
    /// Deadline, such as 2031-05-04T18:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
}

/// Way in which a delegate's context begins.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ModeArg {
    /// The system text of the type, the instructions, the brief
    Fresh,
    /// The parent's request, byte for byte, and the brief
    Fork,
    /// Fresh, with chosen entries of the parent
    Slice,
    /// Fresh, with a summary of the parent
    Summary,
}

impl ModeArg {
    pub(crate) const fn mode(self) -> ContextMode {
        match self {
            Self::Fresh => ContextMode::Fresh,
            Self::Fork => ContextMode::Fork,
            Self::Slice => ContextMode::Slice,
            Self::Summary => ContextMode::Summary,
        }
    }
}
