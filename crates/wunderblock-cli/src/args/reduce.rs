//! What was typed to shorten a text, or the output of a command.

use clap::{Args as ClapArgs, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  cargo test 2>&1 | wunderblock reduce
  wunderblock reduce build.log --query \"undefined reference\"
  wunderblock reduce data.json --level lossless
  wunderblock reduce server.log --level budget --budget 2000 --json
  wunderblock reduce logs/*.log                             each after a line `==> FILE <==`

Each gap is marked in place, `⟨… wb:3f9c1a7b#L120-181: 62 lines, 3 WARN⟩`, and later ones without the
handle: `⟨… L204-260: 12 INFO⟩`. `wunderblock read wb:3f9c1a7b#L204-260` gives the exact bytes back.
They are kept before the text is shown. What would hardly get shorter stays as it is, and stderr says
why. Levels and kinds: docs/reduce.md.")]
pub(crate) struct ReduceArgs {
    /// The texts; `-`: stdin. Of several, each follows a line `==> FILE <==`
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) how: HowArgs,
    /// The command that wrote the text: a file that was read stays as it is, a selection (`rg`, `jq`) is never cut
    #[arg(long, value_name = "CMD")]
    pub(crate) command: Option<String>,
}

/// How far a text is shortened, and where it is kept.
#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct HowArgs {
    /// What the text is; auto: it is found out
    #[arg(long, value_name = "KIND", default_value = "auto", value_parser = kinds())]
    pub(crate) kind: String,
    /// lossless: it can be undone from the short text alone; fold: repeats become marks; budget: the best that fits
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = LevelArg::Fold)]
    pub(crate) level: LevelArg,
    /// Tokens the text may have, with --level budget
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u64>,
    /// What you look for: what is relevant to it stays
    #[arg(long, value_name = "TEXT")]
    pub(crate) query: Option<String>,
    /// The session that the text belongs to: the original is kept beside it, in SESSION-outputs
    #[arg(long, value_name = "SESSION", default_value = "outputs")]
    pub(crate) session: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelArg {
    Lossless,
    Fold,
    Budget,
}

fn kinds() -> clap::builder::PossibleValuesParser {
    let names = wunderblock_reduce::Kind::ALL.into_iter().map(wunderblock_reduce::Kind::name);
    clap::builder::PossibleValuesParser::new(std::iter::once("auto").chain(names))
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock run -- cargo test --workspace
  wunderblock run --query \"timeout\" -- ./deploy.sh staging
  wunderblock run -- sh -c 'grep -rn unsafe . | sort'
  wunderblock run --session 7d1 --heartbeat 30 -- make world

What goes into a pipe or a file is shortened; on a terminal all of it passes through. Either way it
is kept as it comes, in the session `outputs`, also where `run` is killed. The exit code is that of
the command, stdout and stderr stay apart (or together, where both go to one place), signals reach
the command, and a reader that closes ends it. A command of more than a second shows its first lines
at once. One line on stderr says what was saved: `12,431 → 812 tokens · wb:3f9c1a7b`; none with -q.")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) how: HowArgs,
    /// Say on stderr that the command still runs, once per this many seconds
    #[arg(long, value_name = "SECONDS")]
    pub(crate) heartbeat: Option<std::num::NonZeroU64>,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    pub(crate) command: Vec<std::ffi::OsString>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct OnTerminalArgs {
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    pub(crate) command: Vec<std::ffi::OsString>,
}
