//! What reduction saves on real outputs, beside what it keeps: one line per kind, and one per file.
//!
//! Everything is checked from outside. The facts one reads an output for are found by rules of their own
//! ([`facts`]), not by the readers that chose; that nothing left unmarked is found by putting the text together again
//! from the source and the gaps ([`check`]).

mod check;
mod facts;
mod measure;
pub(crate) mod scale;
mod table;

use crate::program::ChoreResult;
use clap::Args;
use measure::measure;
use std::path::{Path, PathBuf};

/// What to reduce, and what to say of it.
#[derive(Args)]
pub(crate) struct MeasureArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print what does not stay visible
    #[arg(long, conflicts_with = "json")]
    missing: bool,
    /// Reduce generated inputs at once, twice and four times the size; print time per byte, memory, and what 20 KB cost
    #[arg(long, conflicts_with_all = ["json", "missing"])]
    scale: bool,
    /// The smallest size of generated inputs
    #[arg(long, default_value_t = scale::BYTES, requires = "scale")]
    bytes: usize,
    /// Files and folders; with --scale names of inputs [default: all of them]
    #[arg(required_unless_present = "scale")]
    paths: Vec<String>,
}

/// Reduces every file below the folders, and says what came of it.
pub(crate) fn run(args: &MeasureArgs) -> ChoreResult<String> {
    if args.scale {
        return scale::run(args.bytes, &args.paths);
    }
    let mut files = Vec::new();
    for path in &args.paths {
        find(Path::new(path), &mut files)?;
    }
    files.sort();
    let rules = facts::FactRules::read()?;
    let mut rows = Vec::new();
    for file in files {
        let bytes = std::fs::read(&file)?;
        if !bytes.is_empty() {
            rows.push(measure(file.to_string_lossy().into_owned(), &bytes, &rules));
        }
    }
    Ok(match args {
        MeasureArgs { json: true, .. } => table::json(&rows)?,
        MeasureArgs { missing: true, .. } => table::missing(&rows),
        _ => table::text(&rows),
    })
}

fn find(path: &Path, files: &mut Vec<PathBuf>) -> ChoreResult<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path)? {
        let path = entry?.path();
        // What a folder says about itself is no output.
        if path.file_name().is_none_or(|name| name != "SOURCE.md") {
            find(&path, files)?;
        }
    }
    Ok(())
}
