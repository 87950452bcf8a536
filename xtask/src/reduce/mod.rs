//! What reduction saves on real outputs, beside what it keeps: one line per kind, and one per file.
//!
//! Everything is checked from outside. The facts one reads an output for are found by rules of their own
//! ([`oracle`]), not by the readers that chose; that nothing left unmarked is found by putting the text together again
//! from the source and the gaps ([`check`]).

mod check;
mod oracle;
mod scale;
mod table;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use wunderblock::tokens::Counted;
use wunderblock_reduce::{Kind, Level, Options, Reduced, reduce};

/// What was measured of one file.
pub(crate) struct Row {
    name: String,
    kind: Kind,
    bytes: usize,
    before: u64,
    fold: Side,
    lossless: Side,
    budget: Side,
    /// Of head and tail of the size of the folded text.
    head_tail: (usize, usize),
    /// The size gzip makes of it, in bytes.
    gzip: Option<usize>,
    /// Processor time of a fold, exact counts included and not.
    time: (Duration, Duration),
}

/// One level.
struct Side {
    after: u64,
    /// Facts visible, and facts there are.
    facts: (usize, usize),
    /// The facts that are not.
    missing: Vec<String>,
    /// Error facts visible, and there are.
    errors: (usize, usize),
    gaps: usize,
    /// Whether the source is there again, from the text and the gaps.
    whole: bool,
}

/// Reduces every file below the folders, and tells what came of it.
pub(crate) fn run(paths: &[String]) -> Result<String, Box<dyn Error>> {
    if let Some((first, rest)) = paths.split_first()
        && first == "--scale"
    {
        return scale::run(rest);
    }
    let is_asked = |flag: &str| paths.iter().any(|path| path == flag);
    let mut files = Vec::new();
    for path in paths.iter().filter(|path| !path.starts_with("--")) {
        find(Path::new(path), &mut files)?;
    }
    files.sort();
    let mut rows = Vec::new();
    for file in files {
        let bytes = std::fs::read(&file)?;
        if bytes.is_empty() {
            continue;
        }
        rows.push(measure(file.to_string_lossy().into_owned(), &bytes));
    }
    Ok(if is_asked("--json") {
        table::json(&rows)
    } else if is_asked("--missing") {
        table::missing(&rows)
    } else {
        table::text(&rows)
    })
}

fn find(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
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

fn exact(text: &str) -> u64 {
    u64::from(Counted::of(text).o200k)
}

/// A handle as the engine would give one: marks weigh what they weigh in use.
const HANDLE: &str = "wb:3f9c1a7be2d04c58";

fn measure(name: String, bytes: &[u8]) -> Row {
    let options = Options { handle: Some(HANDLE), count: &exact, ours: &|_| false, ..Options::default() };
    let begun = Instant::now();
    let fold = reduce(bytes, &options);
    let counted = begun.elapsed();
    let begun = Instant::now();
    let plain = Options { count: &|text| text.len().div_ceil(4) as u64, ..options };
    let _ = reduce(bytes, &plain);
    let bare = begun.elapsed();
    let lossless = reduce(bytes, &Options { level: Level::Lossless, ..options });
    let budget = reduce(bytes, &Options { level: Level::Budget(fold.tokens_before / 4), ..options });
    let source = String::from_utf8_lossy(bytes);
    let facts = oracle::facts(&source, fold.kind);
    let side = |short: &Reduced| {
        let shown = check::shown(&short.text);
        let seen = |error: bool| {
            let all: Vec<_> = facts.iter().filter(|fact| !error || fact.error).collect();
            (all.iter().filter(|fact| fact.is_in(&shown)).count(), all.len())
        };
        Side {
            after: short.tokens_after,
            facts: seen(false),
            errors: seen(true),
            missing: facts.iter().filter(|fact| !fact.is_in(&shown)).map(|fact| fact.text.clone()).collect(),
            gaps: short.gaps.len(),
            whole: check::is_whole(&source, short),
        }
    };
    let cut = check::head_and_tail(&source, fold.text.len());
    let head_tail = (facts.iter().filter(|fact| fact.is_in(&cut)).count(), facts.len());
    Row {
        name,
        kind: fold.kind,
        bytes: bytes.len(),
        before: fold.tokens_before,
        fold: side(&fold),
        lossless: side(&lossless),
        budget: side(&budget),
        head_tail,
        gzip: check::gzip(bytes),
        time: (counted, bare),
    }
}
