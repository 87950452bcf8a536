//! Repeated imports: with nothing new, with one more line, and with one changed file among many.

use super::ingest;
use crate::bench::figure::Figure;
use crate::bench::measure::{Durations, SEED, cpu, note};
use crate::program::ChoreResult;
use futures_executor::block_on;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use wunderblock::{Engine, transcripts};
use wunderblock_testkit::generate;

/// Size of the large file in bytes.
const LARGE: u64 = 1_000_000_000;
/// Number of files in the folder.
const FILES: usize = 10_000;
/// Number of lines in each file of the folder.
const LINES: usize = 3;
/// Number of timed imports of the large file.
const ROUNDS: usize = 40;

pub(in crate::bench) fn run(folder: &Path) -> ChoreResult<Vec<Figure>> {
    let mut figures = large(folder)?;
    figures.extend(many(folder)?);
    Ok(figures)
}

fn lines(path: &Path, lines: impl Iterator<Item = String>) -> ChoreResult<usize> {
    let mut out = BufWriter::new(File::options().create(true).append(true).open(path)?);
    let mut count = 0;
    for line in lines {
        writeln!(out, "{line}")?;
        count += 1;
    }
    out.flush()?;
    Ok(count)
}

fn import(engine: &Engine, path: &Path) -> ChoreResult<bool> {
    Ok(block_on(engine.import(path, None, &mut |_, _| {}))?.unchanged)
}

fn large(folder: &Path) -> ChoreResult<Vec<Figure>> {
    note("  a transcript of 1 GB");
    let path = folder.join("large.jsonl");
    let mut written = 0;
    let all = generate::claude_code_lines(usize::MAX, SEED).take_while(|line| {
        written += line.len() as u64 + 1;
        written < LARGE
    });
    let events = lines(&path, all)?;
    let engine = ingest::open(&folder.join("large.db"))?;
    import(&engine, &path)?;
    let mut unchanged = Durations::default();
    for _ in 0..ROUNDS {
        if !unchanged.take(|| import(&engine, &path))? {
            return Err("an unchanged file was reported as changed".into());
        }
    }
    note("  and one line more, and one more");
    let mut grown = Durations::default();
    let mut spent = std::time::Duration::ZERO;
    for line in generate::claude_code_lines(usize::MAX, SEED).skip(events).take(ROUNDS) {
        lines(&path, std::iter::once(line))?;
        let before = cpu();
        grown.take(|| import(&engine, &path))?;
        spent += cpu().saturating_sub(before);
    }
    drop(engine);
    fs::remove_file(&path)?;
    fs::remove_file(folder.join("large.db"))?;
    let figure = |what: &str, value: f64, most: f64| {
        let what = format!("import of a file of 1 GB {what}");
        Figure::millis(events, &what, value).at_most(most)
    };
    let each = spent.as_secs_f64() * 1e3 / ROUNDS as f64;
    Ok(vec![
        figure("that has not changed, p50", unchanged.percentile(50), 2.0),
        figure("with one more line: processor time", each, 5.0),
        Figure::millis(events, "the same, p50", grown.percentile(50)),
    ])
}

fn many(folder: &Path) -> ChoreResult<Vec<Figure>> {
    note("  a folder of 10,000 files");
    let root = folder.join("many");
    fs::create_dir_all(&root)?;
    // Each file gets its own session id; otherwise all files would be imported into one session.
    let mut all = generate::claude_code_lines(usize::MAX, SEED ^ 5);
    for number in 0..FILES {
        let own = all
            .by_ref()
            .take(LINES)
            .map(|line| line.replace("\"sessionId\":\"", &format!("\"sessionId\":\"{number}-")));
        lines(&root.join(format!("{number}.jsonl")), own)?;
    }
    let engine = ingest::open(&folder.join("many.db"))?;
    let folder_of = |engine: &Engine| -> ChoreResult<usize> {
        let found = transcripts(&root)?;
        let known = block_on(found.unchanged(engine))?;
        let mut unchanged = 0;
        for (file, known) in found.files.iter().zip(known) {
            unchanged += usize::from(known.is_some() || import(engine, &file.path)?);
        }
        Ok(unchanged)
    };
    let mut first = Durations::default();
    first.take(|| folder_of(&engine))?;
    let mut again = Durations::default();
    for round in 0..5 {
        let line = format!(
            "{{\"type\":\"user\",\"uuid\":\"more-{round}\",\"sessionId\":\"7-bench\",\"message\":{{\"role\":\"user\",\"content\":\"go on\"}}}}"
        );
        lines(&root.join("7.jsonl"), std::iter::once(line))?;
        let unchanged = again.take(|| folder_of(&engine))?;
        if unchanged != FILES - 1 {
            return Err(format!(
                "{unchanged} of {FILES} files are reported as unchanged; expected all except one"
            )
            .into());
        }
    }
    Ok(vec![
        Figure::millis(
            FILES,
            "import of a folder of 10,000 files of which one grew, p50",
            again.percentile(50),
        )
        .at_most(300.0),
        Figure::millis(FILES, "the folder's first import", first.percentile(50)),
    ])
}
