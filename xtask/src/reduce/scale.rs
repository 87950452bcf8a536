//! How reduction grows with its input: time, memory, and what a typical output costs.
//!
//! Inputs are made here, of every kind and of any size ([`text`]), and the same in every run. Each is reduced in a process of
//! its own, so that its peak of memory is its own, at three sizes: a case that is not linear shows as a ratio.

mod text;

use super::measure::{HANDLE, exact};
use crate::bench::measure::{cpu, peak_memory};
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use wunderblock_reduce::{Level, Options, reduce};

/// The smallest size; the others are twice and four times that.
const BYTES: usize = 8_000_000;
/// What a tool writes that somebody reads.
const TYPICAL_BYTES: usize = 20_000;
const TURNS: usize = 200;
/// Above this a case is not linear: time per byte at four times the size against that at the size.
const QUADRATIC: f64 = 1.5;

const LEVELS: [&str; 3] = ["fold", "budget", "lossless"];

/// `reduce --scale [--bytes N] [INPUT...]`.
pub(super) fn run(arguments: &[String]) -> Result<String, Box<dyn Error>> {
    let mut bytes = BYTES;
    let mut names: Vec<&str> = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--child" => return child(rest.as_slice()),
            "--bytes" => bytes = rest.next().ok_or("--bytes wants a number")?.parse()?,
            name if text::NAMES.contains(&name) => names.push(name),
            other => return Err(format!("no input `{other}`; there are {}", text::NAMES.join(", ")).into()),
        }
    }
    if names.is_empty() {
        names.extend(text::NAMES);
    }
    let mut out = String::from(
        "| input | kind | level | MB | MB per CPU second | at twice | at four times | time per byte, four times against once | memory / input | left |\n\
         |---|---|---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for name in &names {
        for level in LEVELS {
            let told = [1, 2, 4].map(|times| spawn(name, bytes * times, level));
            let [one, two, four] = told;
            line(&mut out, (name, level), &[one?, two?, four?]);
        }
    }
    out.push_str(
        "\n| input | 20 KB at fold with exact counts, median of 200 | without counts |\n|---|--:|--:|\n",
    );
    for name in names {
        let input = text::of(name, TYPICAL_BYTES);
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

fn line(out: &mut String, (name, level): (&str, &str), told: &[Told; 3]) {
    let [one, two, four] = told;
    let ratio = (four.seconds / four.bytes) / (one.seconds / one.bytes);
    let memory = four.peak / four.bytes;
    let most = if matches!(four.kind.as_str(), "json" | "html" | "markdown" | "code") { 8.0 } else { 3.0 };
    let speed = |told: &Told| told.bytes / 1e6 / told.seconds;
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

/// What a child tells.
struct Told {
    bytes: f64,
    kind: String,
    /// Processor time.
    seconds: f64,
    /// Bytes, the input's own among them.
    peak: f64,
    after: f64,
}

fn spawn(name: &str, bytes: usize, level: &str) -> Result<Told, Box<dyn Error>> {
    let output = Command::new(std::env::current_exe()?)
        .args(["reduce", "--scale", "--child", name, &bytes.to_string(), level])
        .stderr(Stdio::inherit())
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let mut words = text.split_whitespace();
    let mut number = || words.next().and_then(|word| word.parse().ok());
    if let (Some(bytes), Some(seconds), Some(peak), Some(after)) = (number(), number(), number(), number()) {
        return Ok(Told { bytes, seconds, peak, after, kind: words.next().unwrap_or("?").to_owned() });
    }
    Err(format!("the process that was to reduce `{name}` ended with {}: {text}", output.status).into())
}

/// The child's side.
fn child(arguments: &[String]) -> Result<String, Box<dyn Error>> {
    let [name, bytes, level] = arguments else {
        return Err("a child wants a name, a size and a level".into());
    };
    let base = peak_memory();
    let input = text::of(name, bytes.parse()?);
    let level = match level.as_str() {
        "fold" => Level::Fold,
        "budget" => Level::Budget(about(&input) / 4),
        _ => Level::Lossless,
    };
    let options = Options { level, handle: Some(HANDLE), ours: &|_| false, ..Options::default() };
    let begun = cpu();
    let short = reduce(input.as_bytes(), &options);
    let seconds = (cpu() - begun).max(Duration::from_millis(5)).as_secs_f64();
    let told = format!(
        "{} {seconds} {} {} {}",
        input.len(),
        peak_memory() - base,
        short.text.len(),
        short.kind.name()
    );
    writeln!(std::io::stdout(), "{told}")?;
    Ok(String::new())
}

fn about(text: &str) -> u64 {
    text.len().div_ceil(4) as u64
}

/// The median time of a reduction that has been done before.
fn warm(input: &str, count: &(dyn Fn(&str) -> u64 + Sync)) -> Duration {
    let options = Options { handle: Some(HANDLE), count, ours: &|_| false, ..Options::default() };
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
