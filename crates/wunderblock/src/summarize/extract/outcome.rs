//! How a call ended: what its result says of it.

use super::plain::head;
use super::shell;
use aho_corasick::AhoCorasick;
use serde::Deserialize;
use std::sync::{LazyLock, OnceLock};
use wunderblock_core::literal::{LiteralKind, literals};

/// How a call ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Outcome {
    /// Whether it failed.
    pub(in super::super) failed: bool,
    /// Whether it is a search without a match.
    pub(super) found_nothing: bool,
    /// The code its program ended with, where the result says so.
    pub(in super::super) exit: Option<String>,
    /// The line that says most about it.
    pub(in super::super) telling: Option<String>,
}

/// The words by which results are read; what each list is for, `outcome.toml` says.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutcomeWords {
    errors: Vec<String>,
    refusals: Vec<String>,
    exits: Vec<String>,
    sums: Vec<String>,
    noise: Vec<String>,
}

// That the embedded words can be read is what tests are for.
static WORDS: LazyLock<OutcomeWords> =
    LazyLock::new(|| toml::from_str(include_str!("outcome.toml")).unwrap_or_default());

/// Lines that only pass on that something else failed.
const PASSED_ON: [&str; 3] = ["npm ERR!", "npm error", "error: could not compile"];
/// So many lines that report an error are looked at for the one that says most.
const REPORTS: usize = 40;
/// So many of the last lines may sum up.
const LAST_LINES: usize = 24;
/// So much of a line is kept, in bytes.
const LINE_MAX: usize = 220;
/// So much of the end of a result is looked at for its exit code and its sum, in bytes.
const TAIL: usize = 8 << 10;

fn errors() -> Option<&'static AhoCorasick> {
    static FOUND: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    FOUND.get_or_init(|| AhoCorasick::new(&WORDS.errors).ok()).as_ref()
}

/// The line that reports an error: the first with a code; else the first that does not only pass one on. Looks at all of
/// the text.
pub(super) fn error_line(text: &str) -> Option<&str> {
    let mut best: Option<(u8, &str)> = None;
    let mut from = 0;
    for _ in 0..REPORTS {
        let Some((line, end)) = report(text, from) else { break };
        from = end;
        let has_code = literals(line).take(12).any(|literal| literal.kind == LiteralKind::Code);
        let rank =
            if has_code { 2 } else { u8::from(!PASSED_ON.iter().any(|begin| line.starts_with(begin))) };
        if best.is_none_or(|(before, _)| rank > before) {
            best = Some((rank, line));
        }
        if rank == 2 {
            break;
        }
    }
    best.map(|(_, line)| line)
}

/// The first line from `from` on that reports an error, and where it ends.
fn report(text: &str, from: usize) -> Option<(&str, usize)> {
    let mut from = from;
    while let Some(hit) = errors()?.find(text.get(from..)?) {
        let at = from + hit.start();
        let start = memchr::memrchr(b'\n', text.as_bytes().get(..at)?).map_or(0, |at| at + 1);
        let end = memchr::memchr(b'\n', text.as_bytes().get(at..)?).map_or(text.len(), |more| at + more);
        let line = text.get(start..end)?.trim();
        // A traceback says what is wrong in its last line.
        if line.starts_with("Traceback") {
            let after = text.get(end..).unwrap_or_default().lines().skip(1).take(60);
            let last = after
                .take_while(|line| !line.trim().is_empty())
                .filter(|line| !line.starts_with(' '))
                .find(|line| line.contains(':'));
            return Some((last.unwrap_or(line), end));
        }
        // `0 errors`, `no error`: nothing is wrong. A line of data is no message.
        let is_fine = ["0 error", "no error", "errors: 0", "0 failed"].iter().any(|fine| line.contains(fine));
        // Code that handles errors, a warning, and a commit that corrected one, report none.
        let is_code = ["except ", "except:", "catch", "raise ", "throw ", "Commit ", "Warning:", "+", "- "]
            .iter()
            .any(|begin| without_number(line).starts_with(begin));
        if !is_fine && !is_code && line.len() <= 1_000 {
            return Some((line, end));
        }
        from = end;
    }
    None
}

/// A line of code without the number a program shows before it: `1480: except ValueError as error:`.
fn without_number(line: &str) -> &str {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.strip_prefix(':').filter(|_| rest.len() < line.len()).map_or(line, str::trim_start)
}

/// Whether the result of a service says that nothing was done. A member `error` without a value says nothing.
pub(super) fn is_refusal(text: &str) -> bool {
    let text = text.trim_start();
    let begun = WORDS.refusals.iter().find_map(|word| text.strip_prefix(word.as_str()));
    begun.is_some_and(|rest| {
        !["null", "false", "\"\"", "0"].iter().any(|nothing| rest.trim_start().starts_with(nothing))
    })
}

/// The line by which `git commit` says what it did, or a log behind it names the commit; its other lines are of others.
pub(super) fn commit_line<'t>(text: &'t str, command: &str) -> Option<&'t str> {
    let is_hash = |word: &str| word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let names_it = |line: &str| {
        line.split_once(' ').is_some_and(|(hash, subject)| {
            is_hash(hash) && subject.contains(' ') && command.contains(subject.trim())
        })
    };
    text.lines().find(|line| line.starts_with('[') && line.contains("] ") || names_it(line))
}

/// Whether a search found nothing: its program then ends with 1 and says nothing, which is no failure.
pub(super) fn found_nothing(what: &str, text: &str, outcome: &Outcome) -> bool {
    SEARCHES.contains(&shell::read(what).last.as_str())
        && outcome.failed
        && outcome.exit.as_deref().is_none_or(|code| code == "1")
        && error_line(text).is_none()
}

/// Programs that search.
const SEARCHES: [&str; 5] = ["grep", "egrep", "rg", "ag", "ack"];

/// A longer answer of a service is not told, in bytes.
const ANSWER: usize = 100;

/// What a service answers, where that is short; of a search, how much it found.
pub(super) fn short_answer(text: &str) -> Option<&str> {
    let (first, more) = text.trim().split_once('\n').unwrap_or((text.trim(), ""));
    let is_whole = more.is_empty() || first.starts_with("Found ");
    Some(first.trim_end_matches(':')).filter(|first| is_whole && (1..=ANSWER).contains(&first.len()))
}

/// Reads a result. `shows`: its text is content, and says nothing about how it ended unless it failed.
pub(super) fn read(text: &str, failed: bool, shows: bool) -> Outcome {
    let tail = tail(text);
    let exit = if shows && !failed {
        None
    } else {
        exit_code(tail).or_else(|| exit_code(text.get(..super::plain::cut(text, 400)).unwrap_or_default()))
    };
    let bad_exit = exit.as_deref().is_some_and(|code| code != "0");
    let report = if failed || bad_exit || !shows { error_line(text) } else { None };
    // A program that says how it ended is believed.
    let failed = failed || bad_exit || (exit.is_none() && report.is_some());
    let telling = if failed {
        report.or_else(|| last_line(tail))
    } else if shows {
        None
    } else {
        sum(tail).or_else(|| last_line(tail))
    };
    let telling = telling.map(|line| format!("{}{}", head(line.trim(), LINE_MAX), place(text, line)));
    Outcome { failed, found_nothing: false, exit, telling }
}

/// Where a compiler says, on the line below its message, that an error is: ` --> src/a.rs:3:7`.
fn place(text: &str, line: &str) -> String {
    let below = text.split_once(line).and_then(|(_, rest)| rest.lines().nth(1)).map(str::trim);
    below
        .filter(|below| below.starts_with("--> ") && below.len() <= LINE_MAX)
        .map(|below| format!(" {below}"))
        .unwrap_or_default()
}

fn tail(text: &str) -> &str {
    if text.len() <= TAIL {
        return text;
    }
    text.get(super::plain::cut_after(text, text.len() - TAIL)..).unwrap_or_default()
}

fn exit_code(text: &str) -> Option<String> {
    let at = WORDS.exits.iter().filter_map(|mark| text.rfind(mark).map(|at| at + mark.len())).max()?;
    let rest = text.get(at..)?.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest.get(..digits).filter(|code| (1..=3).contains(&code.len())).map(str::to_owned)
}

fn is_telling(line: &str) -> bool {
    let line = line.trim();
    let letters = line.chars().filter(|c| c.is_alphabetic()).count();
    let is_exit = WORDS.exits.iter().any(|mark| line.contains(mark)) && line.len() < 60;
    let is_noise = WORDS.noise.iter().any(|noise| line.starts_with(noise));
    // Borders, brackets and lines of data say nothing.
    letters >= 2 && !is_exit && !is_noise && line.len() <= 1_000 && (line.contains(' ') || line.len() <= 60)
}

fn last_line(text: &str) -> Option<&str> {
    text.lines().rev().take(LAST_LINES).find(|line| is_telling(line))
}

fn sum(text: &str) -> Option<&str> {
    text.lines()
        .rev()
        .take(LAST_LINES)
        .find(|line| is_telling(line) && WORDS.sums.iter().any(|mark| line.contains(mark)))
}
