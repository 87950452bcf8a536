//! Attacks the ledger to prove that it loses nothing and that nothing erased comes back.

mod erasures;
mod hooks;
mod importers;
mod kill;
mod model;
mod random;
mod record;
mod report;
mod scan;

use crate::program::ChoreResult;
use clap::{Args, ValueEnum};
use report::println;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Arguments of `prove`.
#[derive(Args)]
pub(crate) struct ProveArgs {
    /// How many times as many attempts
    #[arg(long, default_value_t = 1.0, value_parser = positive)]
    scale: f64,
    /// A twentieth of the attempts
    #[arg(long, conflicts_with = "scale")]
    twentieth: bool,
    /// The number from which all attempts follow [default: another one each time]
    #[arg(long)]
    seed: Option<u64>,
    /// One attack instead of all
    #[arg(long)]
    only: Option<Attack>,
    /// The program under attack [default: built from this state]
    #[arg(long)]
    binary: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Attack {
    /// Interleavings of everything that changes a ledger
    Model,
    /// Several importers of one file
    Importers,
    /// Erasures beside everything that makes something from the erased content
    Erasures,
    /// Live sessions of an agent whose hooks are killed
    Hooks,
    /// Kills at random moments
    Kill,
    /// Kills at system calls that change a file
    Calls,
}

fn positive(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|scale| *scale > 0.0).ok_or_else(|| "must be a number above 0".to_owned())
}

impl ProveArgs {
    /// Returns a number of attempts, multiplied by the scale.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts are small and positive"
    )]
    fn of(&self, count: f64) -> u64 {
        let scale = if self.twentieth { 0.05 } else { self.scale };
        (count * scale).ceil() as u64
    }
}

/// Runs the attacks. Returns an error if any attempt failed.
pub(crate) fn run(args: &ProveArgs) -> ChoreResult<String> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let seed = args.seed.unwrap_or_else(|| u64::from(now.subsec_nanos()));
    let folder = tempfile::tempdir()?;
    // The interleavings include no power failures, so their ledgers can be in memory if the system supports it.
    let memory = tempfile::tempdir_in("/dev/shm").ok();
    let mut failed = 0;
    println(&format!("seed {seed}"));
    for attack in Attack::value_variants() {
        if args.only.is_some_and(|only| only != *attack) {
            continue;
        }
        let report = match attack {
            Attack::Model => model::run(args.of(10_000.0), seed, memory.as_ref().unwrap_or(&folder).path())?,
            Attack::Importers => importers::run(args.of(500.0), seed, &binary(args)?, folder.path())?,
            Attack::Erasures => erasures::run(args.of(1_000.0), seed, &binary(args)?, folder.path())?,
            Attack::Hooks => hooks::run(args.of(1_000.0), seed, &binary(args)?, folder.path())?,
            Attack::Kill => kill::run(args.of(1_000.0), seed, &binary(args)?, folder.path())?,
            Attack::Calls if Command::new("strace").arg("-V").output().is_err() => {
                println("kills at system calls: left out, there is no strace");
                continue;
            }
            Attack::Calls => {
                // At full scale the step is 1 and covers every call; smaller scales sample the calls.
                let step = 1_000 / args.of(1_000.0).clamp(1, 1_000);
                kill::at_calls(step, seed, &binary(args)?, folder.path())?
            }
        };
        failed += report.failed();
        println(report.text().trim_end());
    }
    if failed > 0 {
        return Err(format!("{failed} attempts failed; `--seed {seed}` repeats them").into());
    }
    Ok("nothing was lost, and nothing that was erased came back".to_owned())
}

/// Returns the program under attack: the given one, or one built from the current sources into the folder of this
/// program.
fn binary(args: &ProveArgs) -> ChoreResult<PathBuf> {
    if let Some(binary) = &args.binary {
        return Ok(binary.clone());
    }
    let own = std::env::current_exe()?;
    let folder = own.parent().ok_or("the program has no folder")?;
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Builds the whole workspace, because a single package has other features and would compile SQLite again. Cargo's
    // output stays visible, because the build may take minutes.
    build.args(["build", "--workspace"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    if folder.file_name().is_some_and(|name| name == "release") {
        build.arg("--release");
    }
    if !build.status()?.success() {
        return Err("the program cannot be built".into());
    }
    Ok(Path::new(folder).join("wunderblock"))
}
