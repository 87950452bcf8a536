//! `xtask bench`: the numbers of DESIGN §7 on generated sessions, as one table.
//!
//! ```text
//! seed ─ generate ─► events ─ append ─► ledger ─ catch up ─► context, search, grep, read, live appends ─► figures
//!                └─► lines  ─ import (a child process, so that its peak of memory is its own) ──────────────┘
//! ```
//! Inputs follow from [`SEED`](measure::SEED). Nothing here fails for being slow: a figure that misses its target is marked, and the
//! reader judges. What needs a fresh process runs in a child of this program ([`child`]).

mod child;
mod compaction;
mod context;
mod figure;
mod finding;
mod growth;
mod ingest;
mod live;
pub(crate) mod measure;
mod project;
mod simulate;
mod task;

use crate::program::ChoreResult;
pub(crate) use child::ChildTask;
use clap::Args;
use figure::{Figure, FigureUnit};
use measure::note;
use std::path::Path;

/// What to measure.
#[derive(Args)]
pub(crate) struct BenchArgs {
    /// Lengths of sessions
    #[arg(long, value_delimiter = ',', default_value = "1000,10000,100000")]
    events: Vec<usize>,
    /// Only requests in a project of 50,000 files
    #[arg(long, conflicts_with = "growth")]
    project: bool,
    /// Only imports of what was imported before: a file of 1 GB, a folder of 10,000 files
    #[arg(long)]
    growth: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Measures; the answer is a table, or JSON.
pub(crate) fn run(args: BenchArgs) -> ChoreResult<String> {
    let sizes = if args.project || args.growth { Vec::new() } else { args.events };
    let mut figures = Vec::new();
    for events in &sizes {
        note(&format!("{events} events"));
        figures.extend(one_size(*events, folder()?.path())?);
    }
    figures.extend(flatness(&figures, &sizes));
    if args.growth {
        figures.extend(growth::run(folder()?.path())?);
    } else {
        figures.extend(project::run(folder()?.path())?);
    }
    Ok(if args.json { figure::json(&figures) } else { figure::table(&figures) })
}

/// A folder beside the program, not in the system's folder for temporary files: that one may be memory.
fn folder() -> ChoreResult<tempfile::TempDir> {
    Ok(tempfile::tempdir_in(std::env::current_exe()?.parent().unwrap_or(Path::new(".")))?)
}

fn one_size(events: usize, folder: &Path) -> ChoreResult<Vec<Figure>> {
    let session = ingest::GeneratedSession::new(events);
    let mut figures = ingest::import(&session, folder)?;
    let ledger = folder.join("ledger.db");
    figures.extend(ingest::append(&session, &ledger)?);
    // Before anything is appended: what is looked for is in the index then.
    note("  search, grep, read");
    figures.extend(finding::run(&session, &ledger)?);
    note("  context");
    figures.extend(context::run(events, &ledger)?);
    note("  compaction");
    figures.extend(compaction::run(events, &ledger)?);
    note("  simulate");
    figures.extend(simulate::run(events, &ledger)?);
    note("  live appends");
    figures.extend(live::run(events, &ledger)?);
    note("  search over what is not indexed yet");
    figures.extend(finding::behind(events, &ledger)?);
    Ok(figures)
}

/// What must not depend on how long a session is: the largest session against the one a tenth of it, or the smallest.
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
        (ingest::APPEND, true),
        (ingest::CAUGHT_UP, true),
        (compaction::SWEEP_PER_EVENT, false),
        (context::WARM, false),
        (finding::RARE, false),
        (finding::READ, false),
        (live::SINGLE, false),
    ] {
        if let Some((small, large)) = find(what, smaller).zip(find(what, largest)) {
            let ratio = if slower { small / large } else { large / small };
            let what = format!("flat: {what}, {largest} against {smaller} events");
            flat.push(Figure::new(largest, &what, ratio, FigureUnit::Times).at_most(1.25));
        }
    }
    flat
}
