//! Families of branches: an import and an erasure of twice as many branches must take twice as long.

use super::ingest;
use crate::bench::figure::{Figure, FigureUnit};
use crate::bench::measure::note;
use crate::program::ChoreResult;
use futures_executor::block_on;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Instant;
use wunderblock::Along;
use wunderblock_core::id::StreamId;

/// Number of branches in the smaller family.
const BRANCHES: usize = 1_000;

/// Shape of a family.
#[derive(Clone, Copy)]
enum Shape {
    /// Each branch forks from the branch before it.
    Comb,
    /// All branches fork from the first record.
    Star,
}

pub(in crate::bench) fn run(folder: &Path) -> ChoreResult<Vec<Figure>> {
    let mut figures = Vec::new();
    for (shape, what) in [(Shape::Comb, "one from the other"), (Shape::Star, "of one record")] {
        note(&format!("  branches, {what}"));
        let few = measure(shape, BRANCHES, folder)?;
        let many = measure(shape, 2 * BRANCHES, folder)?;
        for (work, few, many) in [("import", few.0, many.0), ("erasure", few.1, many.1)] {
            let count = 2 * BRANCHES;
            figures.push(Figure::millis(count, &format!("{work} of {count} branches, {what}"), many));
            let ratio = Figure::new(count, "the same, against half as many", many / few, FigureUnit::Times);
            figures.push(ratio.at_most(2.5));
        }
    }
    Ok(figures)
}

/// Returns the times of an import and an erasure in milliseconds.
fn measure(shape: Shape, branches: usize, folder: &Path) -> ChoreResult<(f64, f64)> {
    let (path, ledger) = (folder.join("family.jsonl"), folder.join("family.db"));
    let mut out = BufWriter::new(File::create(&path)?);
    let mut line = |id: &str, parent: Option<&str>, role: &str| {
        let parent = parent.map_or("null".to_owned(), |id| format!("\"{id}\""));
        writeln!(
            out,
            r#"{{"type":"{role}","uuid":"{id}","parentUuid":{parent},"sessionId":"family","message":{{"role":"{role}","content":"{id} speaks of src/{id}.rs"}}}}"#
        )
    };
    line("root", None, "user")?;
    let mut parent = "root".to_owned();
    for number in 0..branches {
        let answer = format!("answer-{number}");
        line(&answer, Some(&parent), "assistant")?;
        if let Shape::Comb = shape {
            line(&format!("question-{number}"), Some(&answer), "user")?;
            parent = answer;
        }
    }
    out.flush()?;
    drop(out);
    let engine = ingest::open(&ledger)?;
    let begun = Instant::now();
    block_on(engine.import(&path, None, &mut |_, _| {}))?;
    let imported = begun.elapsed();
    let session = engine.session_by_id(StreamId::new("family")?);
    let begun = Instant::now();
    block_on(session.erase_all(None, Along::default()))?;
    let erased = begun.elapsed();
    drop(engine);
    std::fs::remove_file(&path)?;
    std::fs::remove_file(&ledger)?;
    Ok((imported.as_secs_f64() * 1e3, erased.as_secs_f64() * 1e3))
}
