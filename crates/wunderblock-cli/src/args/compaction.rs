//! Options of compaction: the policy, who writes summaries, what to look at.

use super::shared::BuildArgs;
use clap::Args as ClapArgs;
use std::path::PathBuf;
use wunderblock_core::units::Seq;

/// Which policy, and who writes for it.
#[derive(Clone, Debug, Default, ClapArgs)]
#[command(next_help_heading = "Compaction")]
pub(crate) struct PolicyArgs {
    /// When and how the lane is compacted: a preset's name, a file, or `off` [default: balanced]
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: Option<String>,
    /// Who writes summaries: `extractive` needs no model; a model's name; `command:PROG` [default: extractive]
    #[arg(long, value_name = "WHO")]
    pub(crate) summarizer: Option<String>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock compact SESSION                                  the default policy, no model needed
  wunderblock compact SESSION --dry-run --policy claude-code   what it would do, step by step
  wunderblock compact SESSION --focus 'the database schema'    what summaries should look at most
  wunderblock compact SESSION --summarizer claude-haiku-4-5    a model writes (key in ANTHROPIC_API_KEY)
  wunderblock compact SESSION --summarizer 'command:./mine'    a program: JSON on stdin, the summary on stdout
  wunderblock compact SESSION --rewrite 412 --focus auth       the summary recorded at 412, written again
  wunderblock compact SESSION --dissolve 412                   what it was made from is shown again, if it fits
  wunderblock compact SESSION --from 120 --to 340              one summary of these positions, and no more
`describe SESSION` lists the summaries with their positions, `show SESSION` the messages.
Nothing is lost: `describe` shows the summaries, `expand` gives back what they stand for, `undo` brings back the view
from before. Policies: docs/policies.md. Exit code 3: nothing was changed, and why is said.")]
pub(crate) struct CompactArgs {
    #[command(flatten)]
    pub(crate) session: super::shared::SessionArg,
    #[command(flatten)]
    pub(crate) build: BuildArgs,
    /// What the summaries should look at most; recorded with them, never a message
    #[arg(long, value_name = "TEXT")]
    pub(crate) focus: Option<String>,
    #[command(flatten)]
    pub(crate) edit: EditArgs,
    /// Say what would be done, and record nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Only if the policy says that the lane is due
    #[arg(long, conflicts_with_all = ["rewrite", "dissolve", "from"])]
    pub(crate) if_due: bool,
    /// Write the summaries to a file, too
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// One summary or one range only, in the place of what the policy would do.
#[derive(Clone, Copy, Debug, ClapArgs)]
#[command(next_help_heading = "One summary")]
pub(crate) struct EditArgs {
    /// Write the summary recorded at this position again
    #[arg(long, value_name = "POSITION", value_parser = position, conflicts_with_all = ["dissolve", "from"])]
    pub(crate) rewrite: Option<Seq>,
    /// Take the summary recorded at this position away: what it was made from is shown again
    #[arg(long, value_name = "POSITION", value_parser = position, conflicts_with = "from")]
    pub(crate) dissolve: Option<Seq>,
    /// Make one summary of a range: its first position
    #[arg(long, value_name = "POSITION", value_parser = position, requires = "to")]
    pub(crate) from: Option<Seq>,
    /// … and its last
    #[arg(long, value_name = "POSITION", value_parser = position, requires = "from")]
    pub(crate) to: Option<Seq>,
}

/// `412`, `#412`, or an address that ends so.
fn position(text: &str) -> Result<Seq, String> {
    let number = text.rsplit_once('#').map_or(text, |(_, number)| number);
    number
        .parse()
        .map(Seq)
        .map_err(|_| "a position is a number, as `describe` and `show` print it: 412".to_owned())
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Undoes the newest compaction that is not undone yet; say it again to go further back.
What was summarised since stays readable: describe SESSION."
)]
pub(crate) struct UndoArgs {
    #[command(flatten)]
    pub(crate) session: super::shared::SessionArg,
    /// Which consumer's view [default: the one built last]
    #[arg(long, value_name = "NAME")]
    pub(crate) lane: Option<String>,
}
