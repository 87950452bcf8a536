//! Options of compaction: the policy, the writer of summaries, the topic.

use super::shared::BuildArgs;
use clap::Args as ClapArgs;
use std::path::PathBuf;
use wunderblock_core::units::Seq;
use wunderblock_settings::CompactionChoice;

/// The policy, and the writer of its summaries.
#[derive(Clone, Debug, Default, ClapArgs)]
#[command(next_help_heading = "Compaction")]
pub(crate) struct PolicyArgs {
    /// When and how to compact: a preset, a policy file, or `off` [default: balanced]
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: Option<String>,
    /// Writer of summaries: `extractive` (no model), a model, `command:PROG` [default: extractive]
    #[arg(long, value_name = "WHO")]
    pub(crate) summarizer: Option<String>,
}

impl PolicyArgs {
    /// Returns the choice as data.
    pub(crate) fn choice(&self) -> CompactionChoice {
        CompactionChoice { policy: self.policy.clone(), summarizer: self.summarizer.clone() }
    }
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock compact 3f9c                                  the default policy, no model needed
  wunderblock compact 3f9c --dry-run --policy claude-code   what it would do, step by step
  wunderblock compact 3f9c --focus 'the database schema'    a topic for the summaries
  wunderblock compact 3f9c --summarizer claude-haiku-4-5    by a model (key: ANTHROPIC_API_KEY)
  wunderblock compact 3f9c --summarizer 'command:./mine'    by a program: JSON on stdin, text out
  wunderblock compact 3f9c --rewrite 412 --focus auth       rewrite the summary recorded at 412
  wunderblock compact 3f9c --dissolve 412                   show again what that summary replaced
  wunderblock compact 3f9c --from 120 --to 340              one summary of these positions only

Nothing is lost: `describe` lists the summaries with their positions, `expand` shows what they
replaced, `undo` restores the view. Policies: docs/policies.md. Exit code 3: nothing was changed,
and stderr says why.")]
pub(crate) struct CompactArgs {
    #[command(flatten)]
    pub(crate) session: super::shared::SessionArg,
    /// Topic that the summaries should cover best; recorded with them, never a message
    #[arg(long, value_name = "TEXT")]
    pub(crate) focus: Option<String>,
    /// Show what would be done, and record nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do nothing unless the policy says that the lane is due
    #[arg(long, conflicts_with_all = ["rewrite", "dissolve", "from"])]
    pub(crate) if_due: bool,
    /// Also write the summaries to a file
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) edit: EditArgs,
    #[command(flatten)]
    pub(crate) build: BuildArgs,
}

/// Options that change one summary or one range instead of following the policy.
#[derive(Clone, Copy, Debug, ClapArgs)]
#[command(next_help_heading = "One summary")]
pub(crate) struct EditArgs {
    /// Rewrite the summary recorded at this position
    #[arg(long, value_name = "POSITION", value_parser = position, conflicts_with_all = ["dissolve", "from"])]
    pub(crate) rewrite: Option<Seq>,
    /// Remove the summary recorded at this position, and show again what it replaced
    #[arg(long, value_name = "POSITION", value_parser = position, conflicts_with = "from")]
    pub(crate) dissolve: Option<Seq>,
    /// Summarise only a range: its first position
    #[arg(long, value_name = "POSITION", value_parser = position, requires = "to")]
    pub(crate) from: Option<Seq>,
    /// Last position of the range
    #[arg(long, value_name = "POSITION", value_parser = position, requires = "from")]
    pub(crate) to: Option<Seq>,
}

/// Parses `412`, `#412`, or an address that ends in `#412`.
fn position(text: &str) -> Result<Seq, String> {
    let number = text.rsplit_once('#').map_or(text, |(_, number)| number);
    number
        .parse()
        .map(Seq)
        .map_err(|_| "expected a position as `describe` and `show` print it, such as 412".to_owned())
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:
  wunderblock undo 3f9c

Undoes the latest compaction of the lane; run it again to go further back. The summaries stay
readable: `wunderblock describe SESSION`.")]
pub(crate) struct UndoArgs {
    #[command(flatten)]
    pub(crate) session: super::shared::SessionArg,
    /// Lane [default: the one built last]
    #[arg(long, value_name = "NAME")]
    pub(crate) lane: Option<String>,
}
