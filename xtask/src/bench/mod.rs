//! `xtask bench`: the numbers of DESIGN §7 on generated sessions, as one table.
//!
//! ```text
//! seed ─ generate ─► events ─ append ─► ledger ─ catch up ─► context, search, grep, read, live appends ─► figures
//!                └─► lines  ─ import (a child process, so that its peak of memory is its own) ──────────────┘
//! ```
//! Inputs follow from [`SEED`](outcome::SEED). Nothing here fails for being slow: a figure that misses its target is marked, and the
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
mod outcome;
mod project;
mod simulate;
mod task;

use figure::{Figure, Target, Unit};
use outcome::{Outcome, note};
use std::io::Write as _;
use std::path::Path;

/// Runs the command with what was typed after its name.
pub(crate) fn run(arguments: &[String]) -> Outcome<()> {
    if arguments.first().is_some_and(|first| first == "--child") {
        return child::run(arguments.get(1..).unwrap_or_default());
    }
    let settings = Settings::parse(arguments)?;
    let mut figures = Vec::new();
    for events in &settings.sizes {
        note(&format!("{events} events"));
        // Beside the program, not in the system's folder for temporary files: that one may be memory.
        let folder = tempfile::tempdir_in(std::env::current_exe()?.parent().unwrap_or(Path::new(".")))?;
        figures.extend(one_size(*events, folder.path())?);
    }
    figures.extend(flatness(&figures, &settings.sizes));
    let folder = tempfile::tempdir_in(std::env::current_exe()?.parent().unwrap_or(Path::new(".")))?;
    if settings.project {
        figures.extend(project::run(folder.path())?);
    }
    if settings.growth {
        figures.extend(growth::run(folder.path())?);
    }
    let mut out = std::io::stdout().lock();
    if settings.json {
        writeln!(out, "{}", figure::json(&figures))?;
    } else {
        write!(out, "{}", figure::table(&figures))?;
    }
    Ok(())
}

struct Settings {
    sizes: Vec<usize>,
    project: bool,
    growth: bool,
    json: bool,
}

impl Settings {
    fn parse(arguments: &[String]) -> Outcome<Self> {
        let mut settings =
            Self { sizes: vec![1_000, 10_000, 100_000], project: true, growth: false, json: false };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--json" => settings.json = true,
                "--events" => {
                    let list = rest.next().ok_or("--events wants numbers, as in --events 1000,10000")?;
                    let sizes = list.split(',').map(str::parse).collect::<Result<Vec<usize>, _>>();
                    settings.sizes = sizes.map_err(|error| format!("--events {list}: {error}"))?;
                }
                "--project" => settings.sizes.clear(),
                "--growth" => {
                    settings.sizes.clear();
                    (settings.project, settings.growth) = (false, true);
                }
                other => return Err(format!("bench does not know `{other}`").into()),
            }
        }
        Ok(settings)
    }
}

fn one_size(events: usize, folder: &Path) -> Outcome<Vec<Figure>> {
    let session = ingest::Generated::new(events);
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
            flat.push(Figure::new(largest, &what, ratio, Unit::Times).target(Target::AtMost(1.25)));
        }
    }
    flat
}
