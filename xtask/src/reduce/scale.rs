//! Measures how reduction scales with its input: time, memory, and the cost of a typical output.
//!
//! Inputs of every kind and of any size are generated ([`text`]), and are the same in every run. Each reduction runs
//! in a separate process, so that its memory peak is its own. Three sizes of input show whether a case is linear.

mod text;

use super::measure::{HANDLE, exact};
use crate::bench::measure::{cpu, peak_memory};
use crate::program::{ChoreResult, own_child};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use text::InputTemplates;
use wunderblock_reduce::{Level, Options, reduce};

/// The smallest input size in bytes; the others are twice and four times as large.
pub(super) const BYTES: usize = 8_000_000;
/// Size in bytes of a typical output of a tool.
const TYPICAL_BYTES: usize = 20_000;
const TURNS: usize = 200;
/// Maximum ratio, for a linear case, of the time per byte at four times the size to the time per byte at the original
/// size.
const QUADRATIC: f64 = 1.5;

const LEVELS: [&str; 3] = ["fold", "budget", "lossless"];

/// Measures the named inputs, or all inputs if no names are given.
pub(super) fn run(bytes: usize, names: &[String]) -> ChoreResult<String> {
    let templates = InputTemplates::read()?;
    let known = templates.names();
    if let Some(other) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(format!("unknown input `{other}`; inputs are {}", known.join(", ")).into());
    }
    let names = if names.is_empty() { known } else { names.iter().map(String::as_str).collect() };
    let mut out = String::from(
        "| input | kind | level | MB | MB per CPU second | at twice | at four times | time per byte, four times against once | memory / input | left |\n\
         |---|---|---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for name in &names {
        for level in LEVELS {
            let run = |times: usize| -> ChoreResult<ScaleRun> {
                own_child(&["reduce-child", name, &(bytes * times).to_string(), level], &[])
            };
            line(&mut out, name, level, &[run(1)?, run(2)?, run(4)?]);
        }
    }
    out.push_str(
        "\n| input | 20 KB at fold with exact counts, median of 200 | without counts |\n|---|--:|--:|\n",
    );
    for name in names {
        let input = templates.text(name, TYPICAL_BYTES)?;
        let (exact, plain) = (warm(&input, &exact), warm(&input, &about));
        let _ = writeln!(
            out,
            "| {name} | {:.2} ms{} | {:.2} ms |",
            millis(exact),
            mark(millis(exact) > 2.0),
            millis(plain)
        );
    }
    Ok(out)
}

fn line(out: &mut String, name: &str, level: &str, runs: &[ScaleRun; 3]) {
    let [one, two, four] = runs;
    let ratio = (four.seconds / four.bytes) / (one.seconds / one.bytes);
    let memory = four.peak / four.bytes;
    let most = if matches!(four.kind.as_str(), "json" | "html" | "markdown" | "code") { 8.0 } else { 3.0 };
    let speed = |run: &ScaleRun| run.bytes / 1e6 / run.seconds;
    let _ = writeln!(
        out,
        "| {name} | {} | {level} | {:.0} | {:.0} | {:.0} | {:.0} | {ratio:.2}{} | {memory:.1}{} | {:.1} % |",
        four.kind,
        one.bytes / 1e6,
        speed(one),
        speed(two),
        speed(four),
        mark(ratio > QUADRATIC),
        mark(memory > most),
        four.after * 100.0 / four.bytes,
    );
}

/// Mark for a figure that misses its target. The reader judges it.
const fn mark(missed: bool) -> &'static str {
    if missed { " ✗" } else { "" }
}

/// Result of a child process.
#[derive(Deserialize, Serialize)]
struct ScaleRun {
    bytes: f64,
    kind: String,
    /// Processor time in seconds.
    seconds: f64,
    /// Peak memory in bytes, including the input.
    peak: f64,
    after: f64,
}

/// Runs one measurement in the child process and returns it as JSON.
pub(crate) fn child(name: &str, bytes: usize, level: &str) -> ChoreResult<String> {
    let templates = InputTemplates::read()?;
    let base = peak_memory("self");
    let input = templates.text(name, bytes)?;
    let level = match level {
        "fold" => Level::Fold,
        "budget" => Level::Budget(about(&input) / 4),
        _ => Level::Lossless,
    };
    let options = Options { level, handle: Some(HANDLE), ..Options::default() };
    let begun = cpu();
    let short = reduce(input.as_bytes(), &options);
    let run = ScaleRun {
        bytes: input.len() as f64,
        kind: short.kind.name().to_owned(),
        // Processor time is known in steps of 10 ms, so a short run is counted as at least 5 ms.
        seconds: (cpu() - begun).max(Duration::from_millis(5)).as_secs_f64(),
        peak: (peak_memory("self") - base) as f64,
        after: short.text.len() as f64,
    };
    Ok(serde_json::to_string(&run)?)
}

fn about(text: &str) -> u64 {
    text.len().div_ceil(4) as u64
}

/// Returns the median time of a reduction that is repeated in one process.
fn warm(input: &str, count: &(dyn Fn(&str) -> u64 + Sync)) -> Duration {
    let options = Options { handle: Some(HANDLE), count, ..Options::default() };
    let mut times: Vec<Duration> = (0..TURNS)
        .map(|_| {
            let begun = Instant::now();
            std::hint::black_box(reduce(input.as_bytes(), &options));
            begun.elapsed()
        })
        .collect();
    times.sort_unstable();
    times.get(TURNS / 2).copied().unwrap_or_default()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
