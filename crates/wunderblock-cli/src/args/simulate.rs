//! Options of `simulate`.

use clap::Args as ClapArgs;
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock simulate session.jsonl --window 64000                    all presets, side by side
  wunderblock simulate 3f9c --policy balanced,./mine.toml,off          only these
  wunderblock simulate 3f9c --window 64000 --svg sizes.svg             a picture of context sizes
  wunderblock simulate transcripts/ a.jsonl --window 32000 --jitter 5  many sessions, each in five windows
Plays each session turn by turn, as if it were live, once under each policy, and adds the results up. Each session is
played by itself; the conversations of one file are played as one history if the program keeps them as one, as aider
does, or with --joined. Nothing is recorded except imports. The figures are explained in docs/simulate.md.")]
pub(crate) struct SimulateArgs {
    /// Sessions, transcripts (imported first), or folders of transcripts
    #[arg(value_name = "SESSION", required = true)]
    pub(crate) sessions: Vec<String>,
    /// Play all conversations of a file as one history
    #[arg(long)]
    pub(crate) joined: bool,
    /// Presets or policy files [default: all presets, and off]
    #[arg(long, alias = "policies", value_name = "A,B,C", value_delimiter = ',')]
    pub(crate) policy: Vec<String>,
    /// Baseline: the policy that the others are compared with; it is played, too
    #[arg(long, value_name = "POLICY", default_value = wunderblock::policy::DEFAULT)]
    pub(crate) against: String,
    #[command(flatten)]
    pub(crate) reader: super::shared::ReaderArgs,
    /// Number of windows per session, spread from 12 % below the window to 12 % above
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub(crate) jitter: u64,
    /// Play each policy also with recall on a new turn and after a step, as NAME+recall
    #[arg(long)]
    pub(crate) recall: bool,
    /// Size of every summary, whatever the policy says
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(100..))]
    pub(crate) summary_tokens: Option<u64>,
    /// Draw the size of each request, one panel per policy
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Show the size of each request: as bars, in JSON as `series`, with the named references as `replies`
    #[arg(long)]
    pub(crate) per_turn: bool,
}
