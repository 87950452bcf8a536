//! Arguments of `reduce` and `run`.

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
handle: `⟨… L204-260: 12 INFO⟩`. `wunderblock read wb:3f9c1a7b#L204-260` writes the exact bytes. The
original is stored before the short text is shown. A text that would hardly get shorter stays as it
is, and stderr says why. Levels and kinds: docs/reduce.md.")]
pub(crate) struct ReduceArgs {
    /// Files; `-` for stdin. With several, each follows a line `==> FILE <==`
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) how: HowArgs,
    /// Command that wrote the text: output of `cat` stays whole, selections (`rg`, `jq`) are never cut
    #[arg(long, value_name = "CMD")]
    pub(crate) command: Option<String>,
}

/// Options that determine how far a text is shortened and where it is kept.
#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct HowArgs {
    /// Kind of the text; auto detects it
    #[arg(long, value_name = "KIND", default_value = "auto", value_parser = kinds())]
    pub(crate) kind: String,
    /// lossless: reversible from the short text; fold: repeats become marks; budget: the best that fits
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = LevelArg::Fold)]
    pub(crate) level: LevelArg,
    /// Maximum tokens, with --level budget
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u64>,
    /// Keep what is relevant to this
    #[arg(long, value_name = "TEXT")]
    pub(crate) query: Option<String>,
    /// Session that the text belongs to: the original is kept in SESSION-outputs
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

Output into a pipe or a file is shortened; output on a terminal passes through whole. Either way the
project's session `outputs-…` keeps all of it, even if `run` is killed. The exit code is that of the command;
stdout and stderr stay apart unless both go to one place; signals reach the command, and a closed
reader ends it. A command that runs longer than a second shows its first lines immediately. One line
on stderr reports the saving, `12,431 → 812 tokens · wb:3f9c1a7b`, except with -q.")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) how: HowArgs,
    /// Report on stderr that the command still runs, every this many seconds
    #[arg(long, value_name = "SECONDS")]
    pub(crate) heartbeat: Option<std::num::NonZeroU64>,
    /// Command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    pub(crate) command: Vec<std::ffi::OsString>,
}

#[cfg(target_os = "linux")]
#[derive(Debug, ClapArgs)]
pub(crate) struct GuardedArgs {
    /// Process id of the server
    #[arg(long)]
    pub(crate) server: i32,
    /// Session beside which the output of a killed server is kept
    #[arg(long)]
    pub(crate) session: String,
    /// Id of the call under which the server keeps the output
    #[arg(long)]
    pub(crate) call: String,
    /// Command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    pub(crate) command: Vec<std::ffi::OsString>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct OnTerminalArgs {
    /// Command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    pub(crate) command: Vec<std::ffi::OsString>,
}
