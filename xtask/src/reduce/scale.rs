//! How reduction grows with its input: time, memory, and what a typical output costs.
//!
//! Inputs are made here, of every kind and of any size ([`text`]), and the same in every run. Each is reduced in a process of
//! its own, so that its peak of memory is its own, at three sizes: a case that is not linear shows as a ratio.

mod text;

use super::measure::{HANDLE, exact};
use crate::bench::measure::{cpu, peak_memory};
use crate::program::{ChoreResult, own_child};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use text::InputTemplates;
use wunderblock_reduce::{Level, Options, reduce};

/// The smallest size; the others are twice and four times that.
pub(super) const BYTES: usize = 8_000_000;
/// What a tool writes that somebody reads.
const TYPICAL_BYTES: usize = 20_000;
const TURNS: usize = 200;
/// Above this a case is not linear: time per byte at four times the size against that at the size.
const QUADRATIC: f64 = 1.5;

const LEVELS: [&str; 3] = ["fold", "budget", "lossless"];

/// Measures these inputs, or all of them.
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
            line(&mut out, (name, level), &[run(1)?, run(2)?, run(4)?]);
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

fn line(out: &mut String, (name, level): (&str, &str), runs: &[ScaleRun; 3]) {
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

/// What misses its target is marked; the reader judges.
const fn mark(missed: bool) -> &'static str {
    if missed { " ✗" } else { "" }
}

/// What a child measured.
#[derive(Deserialize, Serialize)]
struct ScaleRun {
    bytes: f64,
    kind: String,
    /// Processor time.
    seconds: f64,
    /// Bytes, the input's own among them.
    peak: f64,
    after: f64,
}

/// The child's side.
pub(crate) fn child(name: &str, bytes: usize, level: &str) -> ChoreResult<String> {
    let templates = InputTemplates::read()?;
    let base = peak_memory();
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
        seconds: (cpu() - begun).max(Duration::from_millis(5)).as_secs_f64(),
        peak: (peak_memory() - base) as f64,
        after: short.text.len() as f64,
    };
    Ok(serde_json::to_string(&run)?)
}

fn about(text: &str) -> u64 {
    text.len().div_ceil(4) as u64
}

/// The median time of a reduction that has been done before.
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
