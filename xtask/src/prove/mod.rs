//! Proves by attack that the ledger loses nothing and that nothing erased comes back.

mod draw;
mod importers;
mod kill;
mod model;
mod record;
mod report;
mod scan;

use crate::program::Outcome;
use report::println;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What to prove, and how thoroughly.
struct Options {
    scale: f64,
    seed: u64,
    only: Option<String>,
    binary: Option<PathBuf>,
}

impl Options {
    fn parse(arguments: &[String]) -> Option<Self> {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let mut options = Self { scale: 1.0, seed: u64::from(now.subsec_nanos()), only: None, binary: None };
        let mut rest = arguments.iter();
        while let Some(flag) = rest.next() {
            match flag.as_str() {
                "--twentieth" => options.scale = 0.05,
                "--scale" => options.scale = rest.next()?.parse().ok().filter(|scale| *scale > 0.0)?,
                "--seed" => options.seed = rest.next()?.parse().ok()?,
                "--only" => options.only = Some(rest.next()?.clone()),
                "--binary" => options.binary = Some(PathBuf::from(rest.next()?)),
                _ => return None,
            }
        }
        Some(options)
    }

    /// A number of attempts, as many as the scale says.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts are small and positive"
    )]
    fn of(&self, count: f64) -> u64 {
        (count * self.scale).ceil() as u64
    }
}

/// Runs the attacks; an error if one of them succeeded.
pub(crate) fn run(arguments: &[String]) -> Outcome<String> {
    let options = Options::parse(arguments).ok_or("wrong arguments; `--help` lists them")?;
    let folder = tempfile::tempdir()?;
    // No power fails in the interleavings, so their ledgers need no disk where memory can have files.
    let memory = tempfile::tempdir_in("/dev/shm").ok();
    let mut failed = 0;
    println(&format!("seed {}", options.seed));
    for what in ["model", "importers", "kill", "calls"] {
        if options.only.as_deref().is_some_and(|only| only != what) {
            continue;
        }
        let report = match what {
            "model" => {
                model::run(options.of(10_000.0), options.seed, memory.as_ref().unwrap_or(&folder).path())?
            }
            "importers" => {
                importers::run(options.of(500.0), options.seed, &binary(&options)?, folder.path())?
            }
            "calls" if Command::new("strace").arg("-V").output().is_err() => {
                println("kills at system calls: left out, there is no strace");
                continue;
            }
            "calls" => {
                // Every write, or a part of them.
                let step = 1_000 / options.of(1_000.0).clamp(1, 1_000);
                kill::at_calls(step, options.seed, &binary(&options)?, folder.path())?
            }
            _ => kill::run(options.of(1_000.0), options.seed, &binary(&options)?, folder.path())?,
        };
        failed += report.failed();
        println(report.text().trim_end());
    }
    if failed > 0 {
        return Err(format!("{failed} attempts failed; `--seed {}` repeats them", options.seed).into());
    }
    Ok("nothing was lost, and nothing that was erased came back".to_owned())
}

/// The program under attack: the one given, or the one built from this state beside this very chore.
fn binary(options: &Options) -> Outcome<PathBuf> {
    if let Some(binary) = &options.binary {
        return Ok(binary.clone());
    }
    let own = std::env::current_exe()?;
    let folder = own.parent().ok_or("the program has no folder")?;
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // All of the workspace, since one package alone has other features and compiles SQLite again. Cargo says what it
    // does: it may take minutes.
    build.args(["build", "--workspace"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    if folder.file_name().is_some_and(|name| name == "release") {
        build.arg("--release");
    }
    if !build.status()?.success() {
        return Err("the program cannot be built".into());
    }
    Ok(Path::new(folder).join("wunderblock"))
}
