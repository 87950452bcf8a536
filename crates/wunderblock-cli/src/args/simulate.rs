//! Options of `simulate`.

use clap::Args as ClapArgs;
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock simulate session.jsonl --window 64000                    all presets, side by side
  wunderblock simulate SESSION --policies balanced,./mine.toml,off     these alone
  wunderblock simulate SESSION --window 64000 --svg sizes.svg          how the context grows and shrinks
Plays the session turn by turn, as if it were live, once under each policy. Nothing is recorded. What the figures mean:
docs/simulate.md.")]
pub(crate) struct SimulateArgs {
    #[command(flatten)]
    pub(crate) session: super::shared::SessionArg,
    /// Presets or policy files [default: all presets, and off]
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    pub(crate) policies: Vec<String>,
    #[command(flatten)]
    pub(crate) reader: super::shared::ReaderArgs,
    /// Draw the size of each request, a panel for each policy
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Tell the size of each request: as bars, in JSON as `series`
    #[arg(long)]
    pub(crate) per_turn: bool,
}
