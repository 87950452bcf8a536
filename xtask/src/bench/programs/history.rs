//! The first import of a whole history: 668 transcripts with 334,000 records and 4.6 GB, read by the program.

use crate::bench::figure::{Figure, FigureUnit};
use crate::bench::measure::{SEED, note, peak_memory, size};
use crate::program::{ChoreResult, Sandbox};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};
use wunderblock_testkit::generate;

/// Number of transcripts, and of records in each.
const FILES: usize = 668;
const RECORDS: usize = 500;
/// Average length of a record in bytes. Records of agents are longer than their messages, because results are repeated
/// in fields for display.
const LEN: usize = 13_770;

pub(in crate::bench) fn run(program: &Path, folder: &Path) -> ChoreResult<Vec<Figure>> {
    note("  a history of 4.6 GB");
    let sandbox = Sandbox::new(program, folder)?;
    let bytes = write(&sandbox)?;
    note("  its import");
    let (imported, import_peak) = timed(&sandbox, &["import", "history", "--quiet", "--no-index"])?;
    note("  counts and index");
    let (indexed, index_peak) = timed(&sandbox, &["import", "history", "--quiet"])?;
    let events = FILES * RECORDS;
    let seconds = |what: &str, time: Duration, most: f64| {
        Figure::millis(events, what, time.as_secs_f64() * 1e3).at_most(most * 1e3)
    };
    let megabytes =
        |what: &str, bytes: u64| Figure::new(events, what, bytes as f64 / 1e6, FigureUnit::Megabytes);
    Ok(vec![
        megabytes("a history of 668 transcripts", bytes),
        seconds("its import", imported, 90.0),
        megabytes("the same: peak memory", import_peak).at_most(200.0),
        seconds("its counts and index", indexed, 300.0),
        megabytes("the same: peak memory", index_peak).at_most(500.0),
        megabytes("the history's ledger", size(&sandbox.path("ledger.db"))),
    ])
}

/// Writes the transcripts. Returns their length in bytes.
fn write(sandbox: &Sandbox) -> ChoreResult<u64> {
    std::fs::create_dir_all(sandbox.path("history"))?;
    let mut lines = generate::claude_code_lines(usize::MAX, SEED ^ 9);
    let (mut written, mut wanted, mut shown) = (0, 0, String::new());
    for number in 0..FILES {
        let mut out = BufWriter::new(File::create(sandbox.path(&format!("history/{number}.jsonl")))?);
        for line in lines.by_ref().take(RECORDS) {
            let line = line.replace("\"sessionId\":\"", &format!("\"sessionId\":\"{number}-"));
            wanted += LEN;
            // Earlier records are repeated, as far as the average length allows.
            let repeated = wanted.saturating_sub(written + line.len()).min(shown.len());
            let start = shown.ceil_char_boundary(shown.len() - repeated);
            let mut record: Value = serde_json::from_str(&line)?;
            let fields = record.as_object_mut().ok_or("a record is not an object")?;
            fields.insert("toolUseResult".to_owned(), json!({ "stdout": shown.get(start..) }));
            let record = format!("{record}\n");
            out.write_all(record.as_bytes())?;
            written += record.len();
            shown.push_str(&line);
            let start = shown.ceil_char_boundary(shown.len().saturating_sub(4 * LEN));
            shown.drain(..start);
        }
        out.flush()?;
    }
    Ok(written as u64)
}

/// Runs the program. Returns its time and its peak memory in bytes, or an error if it fails.
fn timed(sandbox: &Sandbox, args: &[&str]) -> ChoreResult<(Duration, u64)> {
    let begun = Instant::now();
    let mut child = sandbox.command(args).spawn()?;
    let mut peak = 0;
    loop {
        peak = peak_memory(&child.id().to_string()).max(peak);
        if let Some(status) = child.try_wait()? {
            let time = begun.elapsed();
            return if status.success() {
                Ok((time, peak))
            } else {
                Err(format!("`{}`: {status}", args.join(" ")).into())
            };
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
