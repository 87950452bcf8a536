//! Determines from the result of a call how the call ended.

use super::plain::head;
use super::shell;
use aho_corasick::AhoCorasick;
use serde::Deserialize;
use std::sync::{LazyLock, OnceLock};
use wunderblock_core::literal::{LiteralKind, literals};

/// Outcome of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Outcome {
    /// Whether the call failed.
    pub(in super::super) failed: bool,
    /// Whether the call is a search without a match.
    pub(super) found_nothing: bool,
    /// Exit code of the program, if the result states it.
    pub(in super::super) exit: Option<String>,
    /// The line that says most about the outcome.
    pub(in super::super) telling: Option<String>,
}

/// Words that classify results; `outcome.toml` explains each list.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutcomeWords {
    errors: Vec<String>,
    refusals: Vec<String>,
    exits: Vec<String>,
    sums: Vec<String>,
    noise: Vec<String>,
}

// Tests check that the embedded words parse.
static WORDS: LazyLock<OutcomeWords> =
    LazyLock::new(|| toml::from_str(include_str!("outcome.toml")).unwrap_or_default());

/// Beginnings of lines that only pass on the failure of something else.
const PASSED_ON: [&str; 3] = ["npm ERR!", "npm error", "error: could not compile"];
/// Maximum number of error lines that are compared to find the most informative one.
const REPORTS: usize = 40;
/// Maximum number of lines at the end of a result that are searched for a line that sums the result up.
const LAST_LINES: usize = 24;
/// Maximum number of bytes kept of a line.
const LINE_MAX: usize = 220;
/// Maximum number of bytes at the end of a result that are searched for its exit code and for a line that sums it up.
const TAIL: usize = 8 << 10;

fn errors() -> Option<&'static AhoCorasick> {
    static FOUND: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    FOUND.get_or_init(|| AhoCorasick::new(&WORDS.errors).ok()).as_ref()
}

/// Returns the line that reports an error: the first line with an error code or, failing that, the first line that
/// does not merely pass on another failure. Searches the whole text, up to `REPORTS` error lines.
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

/// Returns the first line at or after `from` that reports an error, and the offset of the end of that line.
fn report(text: &str, from: usize) -> Option<(&str, usize)> {
    let mut from = from;
    while let Some(hit) = errors()?.find(text.get(from..)?) {
        let at = from + hit.start();
        let start = memchr::memrchr(b'\n', text.as_bytes().get(..at)?).map_or(0, |at| at + 1);
        let end = memchr::memchr(b'\n', text.as_bytes().get(at..)?).map_or(text.len(), |more| at + more);
        let line = text.get(start..end)?.trim();
        // The last line of a traceback says what is wrong.
        if line.starts_with("Traceback") {
            let after = text.get(end..).unwrap_or_default().lines().skip(1).take(60);
            let last = after
                .take_while(|line| !line.trim().is_empty())
                .filter(|line| !line.starts_with(' '))
                .find(|line| line.contains(':'));
            return Some((last.unwrap_or(line), end));
        }
        // `0 errors` and `no error` mean that nothing is wrong. Lines of more than 1,000 bytes are data rather than
        // messages.
        let is_fine = ["0 error", "no error", "errors: 0", "0 failed"].iter().any(|fine| line.contains(fine));
        // Error-handling code, warnings, diff lines, and commits that corrected an error do not report an error.
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

/// Strips the number that a program shows before a line of code, for example: `1480: except ValueError as error:`.
fn without_number(line: &str) -> &str {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.strip_prefix(':').filter(|_| rest.len() < line.len()).map_or(line, str::trim_start)
}

/// Returns whether the result of a service says that nothing was done. An `error` member without a value does not
/// count.
pub(super) fn is_refusal(text: &str) -> bool {
    let text = text.trim_start();
    let begun = WORDS.refusals.iter().find_map(|word| text.strip_prefix(word.as_str()));
    begun.is_some_and(|rest| {
        !["null", "false", "\"\"", "0"].iter().any(|nothing| rest.trim_start().starts_with(nothing))
    })
}

/// Returns the line in which `git commit` reports its commit, or in which a subsequent log names that commit. The
/// other lines of the log are about other commits.
pub(super) fn commit_line<'t>(text: &'t str, command: &str) -> Option<&'t str> {
    let is_hash = |word: &str| word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let names_it = |line: &str| {
        line.split_once(' ').is_some_and(|(hash, subject)| {
            is_hash(hash) && subject.contains(' ') && command.contains(subject.trim())
        })
    };
    text.lines().find(|line| line.starts_with('[') && line.contains("] ") || names_it(line))
}

/// Returns whether a search found nothing. A search that finds nothing exits with 1 and prints nothing, which is not
/// a failure.
pub(super) fn found_nothing(what: &str, text: &str, outcome: &Outcome) -> bool {
    SEARCHES.contains(&shell::read(what).last.as_str())
        && outcome.failed
        && outcome.exit.as_deref().is_none_or(|code| code == "1")
        && error_line(text).is_none()
}

/// Programs that search.
const SEARCHES: [&str; 5] = ["grep", "egrep", "rg", "ag", "ack"];

/// Maximum number of bytes in an answer that is quoted.
const ANSWER: usize = 100;

/// Returns the answer of a service if it is short or, for a search, the line that says how much was found.
pub(super) fn short_answer(text: &str) -> Option<&str> {
    let (first, more) = text.trim().split_once('\n').unwrap_or((text.trim(), ""));
    let is_whole = more.is_empty() || first.starts_with("Found ");
    Some(first.trim_end_matches(':')).filter(|first| is_whole && (1..=ANSWER).contains(&first.len()))
}

/// Reads a result. If `shows` is set, the text is content and says nothing about the outcome unless the call failed.
pub(super) fn read(text: &str, failed: bool, shows: bool) -> Outcome {
    let tail = tail(text);
    let exit = if shows && !failed {
        None
    } else {
        exit_code(tail).or_else(|| exit_code(text.get(..super::plain::cut(text, 400)).unwrap_or_default()))
    };
    let bad_exit = exit.as_deref().is_some_and(|code| code != "0");
    let report = if failed || bad_exit || !shows { error_line(text) } else { None };
    // A stated exit code overrides error lines.
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

/// Returns the place that a compiler names on the line below its message, for example: ` --> src/a.rs:3:7`.
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
