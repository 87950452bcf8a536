//! Options of `simulate`.

use clap::Args as ClapArgs;
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock simulate session.jsonl --window 64000                    all presets, side by side
  wunderblock simulate SESSION --policy balanced,./mine.toml,off       these alone
  wunderblock simulate SESSION --window 64000 --svg sizes.svg          how the context grows and shrinks
  wunderblock simulate transcripts/ a.jsonl --window 32000 --jitter 5  many sessions, each in five windows
Plays each session turn by turn, as if it were live, once under each policy, and adds the results up. A session is played
by itself; conversations are played as one, one after the other, only where a program keeps one history in many, as aider
does, or with --joined. Nothing but imports is recorded. What the figures mean: docs/simulate.md.")]
pub(crate) struct SimulateArgs {
    /// Sessions' ids, transcripts' paths (imported first), folders of transcripts
    #[arg(value_name = "SESSION", required = true)]
    pub(crate) sessions: Vec<String>,
    /// Play all conversations of a file as one, one after the other
    #[arg(long)]
    pub(crate) joined: bool,
    /// Presets or policy files [default: all presets, and off]
    #[arg(long, alias = "policies", value_name = "A,B,C", value_delimiter = ',')]
    pub(crate) policy: Vec<String>,
    /// The preset or policy file that the others are compared with; it is played, too
    #[arg(long, value_name = "POLICY", default_value = wunderblock::policy::DEFAULT)]
    pub(crate) against: String,
    #[command(flatten)]
    pub(crate) reader: super::shared::ReaderArgs,
    /// Number of windows each session is played in, spread evenly from 12 % below the window to 12 % above
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub(crate) jitter: u64,
    /// Give every summary of every policy this size
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(100..))]
    pub(crate) summary_tokens: Option<u64>,
    /// Draw the size of each request, a panel for each policy
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Tell the size of each request: as bars, in JSON as `series`; and in JSON what each reply named, as `replies`
    #[arg(long)]
    pub(crate) per_turn: bool,
}
