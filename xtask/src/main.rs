//! Runs chores of the repository: `cargo run -p xtask -- COMMAND`.

mod bench;
mod dist;
mod fixture;
mod formats;
mod lines;
mod meaning;
mod picture;
mod program;
mod prove;
mod real;
mod recall;
mod record;
mod reduce;
mod tune;
mod usage;

use clap::{Parser, Subcommand};
use program::ChoreResult;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Chores of the repository that are programs
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Print the numbers of the design as a table (build with --release)
    Bench(bench::BenchArgs),
    /// One measurement of the benchmark, in a process of its own
    #[command(hide = true)]
    BenchChild(bench::ChildTask),
    /// Build the program that is published, static where the target for that is installed, and pack it with
    /// completions, man page and checksums into target/dist
    Dist,
    /// Play the example session on a throw-away copy of a revision, and write its transcript
    Record(record::RecordArgs),
    /// Have a program write the ledger that later versions must open, with everything it gives for it
    RecordLedger { binary: PathBuf, folder: PathBuf },
    /// Attack the ledger: 10,000 interleavings against a model, 500 runs of importers at once, 1,000 kills, kills at
    /// system calls where there is strace (build with --release)
    Prove(prove::ProveArgs),
    /// Write the guide to transcript formats to stdout
    Formats,
    /// Measure the engine on real sessions: use of the limit, uncovered tokens, recall (build with --release)
    Real(real::RealArgs),
    /// Compare our counts with the usage that transcripts report
    Usage {
        #[arg(required = true)]
        files: Vec<String>,
    },
    /// Reduce every file; print what is saved, per kind and per file, beside what stays visible (build with --release)
    Reduce(reduce::MeasureArgs),
    /// One measurement of `reduce --scale`, in a process of its own
    #[command(hide = true)]
    ReduceChild { input: String, bytes: usize, level: String },
    /// Compare policies with a baseline over many sessions, and with each fold of them left out (build with --release)
    Tune(tune::TuneArgs),
    /// Measure recall, and fit the weights of its arms (build with --release)
    #[command(subcommand)]
    Recall(recall::RecallChore),
    /// Measure the table of word pieces alone on a file in SQuAD's format (build with --release)
    Meaning {
        #[arg(default_value = "../shared/data/qa/xquad/xquad.en.json")]
        file: PathBuf,
    },
    /// Count the lines of code of each package of the repository there
    Lines {
        #[arg(default_value = ".")]
        folder: PathBuf,
    },
    /// Draw the report on stdin as an SVG picture on stdout
    Picture,
}

fn main() -> ExitCode {
    let outcome = run(Arguments::parse().chore);
    match outcome {
        Ok(said) => {
            let _ = writeln!(std::io::stdout(), "{}", said.trim_end());
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(chore: Chore) -> ChoreResult<String> {
    match chore {
        Chore::Bench(args) => bench::run(args),
        Chore::BenchChild(task) => task.run(),
        Chore::Dist => dist::run(),
        Chore::Record(args) => record::run(&args),
        Chore::RecordLedger { binary, folder } => fixture::run(&binary, &folder),
        Chore::Prove(args) => prove::run(&args),
        Chore::Formats => Ok(formats::guide()),
        Chore::Real(args) => real::run(&args),
        Chore::Usage { files } => usage::table(&files),
        Chore::Reduce(args) => reduce::run(&args),
        Chore::ReduceChild { input, bytes, level } => reduce::scale::child(&input, bytes, &level),
        Chore::Tune(args) => tune::table(&args),
        Chore::Recall(chore) => recall::run(&chore),
        Chore::Meaning { file } => meaning::line(&file),
        Chore::Lines { folder } => lines::table(&folder),
        Chore::Picture => Ok(picture::draw(&std::io::read_to_string(std::io::stdin())?)),
    }
}
