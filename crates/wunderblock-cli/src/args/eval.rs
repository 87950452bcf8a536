//! Options of `eval`.

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock eval sessions                 questions made from your own sessions: which message holds it?
  wunderblock eval sessions --without meaning   the same by words alone
  wunderblock eval locomo --data locomo/    a public set of long conversations, or one of the same shape
Asks questions whose evidence is known, and reports how much of the evidence is among the first hits and within a number
of tokens. Needs no model. The figures are explained in docs/eval.md.")]
pub(crate) struct EvalArgs {
    #[command(subcommand)]
    pub(crate) set: EvalSetArg,
    /// Leave out a part of search: `meaning` leaves words alone
    #[arg(long, global = true, value_name = "PART")]
    pub(crate) without: Option<LeftOutArg>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LeftOutArg {
    Meaning,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EvalSetArg {
    /// Questions about conversations in files of LoCoMo's shape
    Locomo(LocomoArgs),
    /// Questions made from the sessions of the ledger
    Sessions(OwnArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct LocomoArgs {
    /// A JSON file, or a folder of them
    #[arg(long, value_name = "DIR")]
    pub(crate) data: PathBuf,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct OwnArgs {
    /// Number of questions of each kind
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) each: u64,
    /// Seed of the choice of questions
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}
