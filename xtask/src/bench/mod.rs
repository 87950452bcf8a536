//! `xtask bench`: the numbers of docs/benchmarks.md, measured on generated sessions, as one table.
//!
//! ```text
//! seed ─ generate ─► events ─ append ─► ledger ─ catch up ─► context, search, grep, read, live appends ─► figures
//!                └─► lines  ─ import (a child process, so that its peak of memory is its own) ──────────────┘
//! ```
//! Inputs follow from [`SEED`](measure::SEED). The benchmark never fails because something is slow: a figure that
//! misses its target is marked, and the reader judges. Work that needs a new process runs in a child of this program
//! ([`child`]).

mod child;
mod figure;
mod library;
pub(crate) mod measure;
mod programs;
mod task;

use crate::program::ChoreResult;
pub(crate) use child::ChildTask;
use clap::Args;
use figure::{Figure, FigureUnit};
use measure::note;
use std::path::{Path, PathBuf};

/// Selection of benchmarks.
#[derive(Args)]
pub(crate) struct BenchArgs {
    /// Lengths of sessions
    #[arg(long, value_delimiter = ',', default_value = "1000,10000,100000")]
    events: Vec<usize>,
    /// Only requests in a project of 50,000 files
    #[arg(long, conflicts_with = "growth")]
    project: bool,
    /// Only imports of what was imported before (a file of 1 GB, a folder of 10,000 files), and families of branches
    #[arg(long)]
    growth: bool,
    /// Only hooks, called as this program
    #[arg(long, conflicts_with_all = ["project", "growth"])]
    hook: Option<PathBuf>,
    /// Only the first import of a history of 4.6 GB, by this program
    #[arg(long, conflicts_with_all = ["project", "growth", "hook"])]
    history: Option<PathBuf>,
    /// Only the definitions of delegates, read by this program
    #[arg(long, conflicts_with_all = ["project", "growth", "hook", "history"])]
    delegates: Option<PathBuf>,
    /// Only vectors of texts, and scans of a million of them
    #[arg(long, conflicts_with_all = ["project", "growth", "hook", "history", "delegates"])]
    vectors: bool,
    /// Leave out imports, compaction and simulation, which take most of the time of a long session
    #[arg(long)]
    large: bool,
    /// Keep the ledgers of sessions in this folder, and use those that are there
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the benchmarks and returns the figures as a table or as JSON.
pub(crate) fn run(args: BenchArgs) -> ChoreResult<String> {
    let program = args.hook.as_ref().or(args.history.as_ref()).or(args.delegates.as_ref());
    let sizes = if args.project || args.growth || args.vectors || program.is_some() {
        Vec::new()
    } else {
        args.events
    };
    let mut figures = Vec::new();
    for events in &sizes {
        note(&format!("{events} events"));
        let kept = args.keep.as_ref().map(|folder| folder.join(events.to_string()));
        figures.extend(match kept {
            Some(kept) => one_size(*events, &kept, args.large)?,
            None => one_size(*events, folder()?.path(), args.large)?,
        });
    }
    figures.extend(flatness(&figures, &sizes));
    if args.vectors {
        figures.extend(library::vectors::run()?);
    } else if let Some(program) = &args.hook {
        figures.extend(programs::hook::run(program, folder()?.path())?);
    } else if let Some(program) = &args.history {
        figures.extend(programs::history::run(program, folder()?.path())?);
    } else if let Some(program) = &args.delegates {
        figures.extend(programs::delegates::run(program, folder()?.path())?);
    } else if args.growth {
        figures.extend(library::families::run(folder()?.path())?);
        figures.extend(library::growth::run(folder()?.path())?);
        figures.extend(library::scope::run(folder()?.path())?);
    } else if !args.large {
        figures.extend(library::project::run(folder()?.path())?);
    }
    Ok(if args.json { figure::json(&figures) } else { figure::table(&figures) })
}

/// Creates a folder beside the program. The system's temporary folder may be in memory, where syncing costs nothing.
fn folder() -> ChoreResult<tempfile::TempDir> {
    Ok(tempfile::tempdir_in(std::env::current_exe()?.parent().unwrap_or(Path::new(".")))?)
}

/// Measures a session of this length. A ledger that an earlier run has kept is used as it is.
fn one_size(events: usize, folder: &Path, large: bool) -> ChoreResult<Vec<Figure>> {
    let session = library::ingest::GeneratedSession::new(events);
    let ledger = folder.join("ledger.db");
    let mut figures = Vec::new();
    if !ledger.exists() {
        std::fs::create_dir_all(folder)?;
        if !large {
            figures.extend(library::ingest::import(&session, folder)?);
        }
        figures.extend(library::ingest::append(&session, &ledger)?);
    }
    // Runs before any further append, so that the searched words are in the index.
    note("  search, grep, read");
    figures.extend(library::finding::run(&session, &ledger)?);
    drop(session);
    note("  context");
    figures.extend(library::context::run(events, &ledger)?);
    if !large {
        note("  compaction");
        figures.extend(library::compaction::run(events, &ledger)?);
        note("  simulate");
        figures.extend(library::simulate::run(events, &ledger)?);
    }
    note("  live appends");
    figures.extend(library::live::run(events, &ledger)?);
    note("  search over what is not indexed yet");
    figures.extend(library::behind::run(events, &ledger)?);
    Ok(figures)
}

/// Figures that must not depend on the session's length: the largest session compared with one at most a tenth as
/// long.
fn flatness(figures: &[Figure], sizes: &[usize]) -> Vec<Figure> {
    let Some(largest) = sizes.iter().max().copied() else { return Vec::new() };
    let Some(smaller) = sizes.iter().copied().filter(|size| *size * 10 <= largest).max() else {
        return Vec::new();
    };
    let find = |what: &str, events: usize| {
        figures
            .iter()
            .find(|figure| figure.what == what && figure.events == events)
            .map(|figure| figure.value)
    };
    let mut flat = Vec::new();
    for (what, slower) in [
        (library::ingest::APPEND, true),
        (library::ingest::CAUGHT_UP, true),
        (library::compaction::SWEEP_PER_EVENT, false),
        (library::context::WARM, false),
        (library::finding::RARE, false),
        (library::finding::READ, false),
        (library::live::SINGLE, false),
    ] {
        if let Some((small, large)) = find(what, smaller).zip(find(what, largest)) {
            let ratio = if slower { small / large } else { large / small };
            let what = format!("flat: {what}, {largest} against {smaller} events");
            flat.push(Figure::new(largest, &what, ratio, FigureUnit::Times).at_most(1.25));
        }
    }
    flat
}
