//! Determines from the result of a call how the call ended.

use super::check::Check;
use crate::extract::language::plain::head;
use aho_corasick::AhoCorasick;
use regex::Regex;
use serde::Deserialize;
use std::collections::HashSet;
use std::sync::{LazyLock, OnceLock};
use wunderblock_core::literal::{LiteralKind, literals};

/// How a call ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ending {
    #[default]
    Ok,
    Failed,
    /// The call is a search without a match.
    NothingFound,
    /// Nothing proves how the call ended.
    Unknown,
}

/// Outcome of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) ending: Ending,
    /// Whether the checks of a failed call are known to have failed, rather than another command of the call.
    pub(in crate::extract) blames_checks: bool,
    /// Exit code of the program, if the result states it.
    pub(crate) exit: Option<String>,
    /// The line that says most about the outcome.
    pub(crate) telling: Option<String>,
}

impl Outcome {
    /// Returns the outcome of a call of which nothing is known.
    pub(in crate::extract) fn unknown() -> Self {
        Self { ending: Ending::Unknown, ..Self::default() }
    }

    pub(crate) fn failed(&self) -> bool {
        self.ending == Ending::Failed
    }

    /// Returns whether something proves that the call ended well.
    pub(crate) fn is_ok(&self) -> bool {
        self.ending == Ending::Ok
    }
}

/// A call, as far as it decides how its result is read.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::extract) struct CallTraits<'c> {
    /// Whether the result is content, which says nothing about the outcome unless the call failed.
    pub(in crate::extract) shows: bool,
    /// Checks that the call runs.
    pub(in crate::extract) checks: &'c [Check],
    /// Last program of the call, which has the exit code.
    pub(in crate::extract) last: &'c str,
    /// Whether only the output can show how the call ended.
    pub(in crate::extract) is_typed: bool,
    /// Whether a success of the call is one of all its commands.
    pub(in crate::extract) is_proved: bool,
}

/// Words that classify results; `outcome.toml` explains each list.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutcomeWords {
    errors: Vec<String>,
    refusals: Vec<String>,
    not_run: Vec<String>,
    exits: Vec<String>,
    noise: Vec<String>,
    progress: Vec<String>,
    fails: Vec<String>,
    prints: Vec<String>,
    shell: Vec<String>,
    passes: Vec<String>,
    partly: Vec<String>,
    passing: Vec<String>,
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
pub(in crate::extract) fn error_line(text: &str) -> Option<&str> {
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
        // In prose, "Exception: …" says what is left out of a rule.
        let is_prose =
            line.trim_start_matches(['*', '>', ' ']).starts_with("Exception:") && !text.contains("Traceback");
        // Error-handling code, warnings, diff lines, and commits that corrected an error do not report an error.
        let is_code = ["except ", "except:", "catch", "raise ", "throw ", "Commit ", "Warning:", "+", "- "]
            .iter()
            .any(|begin| without_number(line).starts_with(begin));
        if !is_fine && !is_prose && !is_code && line.len() <= 1_000 {
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
pub(in crate::extract) fn is_refusal(text: &str) -> bool {
    let text = text.trim_start();
    let begun = WORDS.refusals.iter().find_map(|word| text.strip_prefix(word.as_str()));
    begun.is_some_and(|rest| {
        !["null", "false", "\"\"", "0"].iter().any(|nothing| rest.trim_start().starts_with(nothing))
    })
}

/// Returns whether a result says that the call was not carried out.
pub(in crate::extract) fn was_not_run(text: &str) -> bool {
    WORDS.not_run.iter().any(|words| text.trim_start().starts_with(words.as_str()))
}

/// Returns the line in which `git commit` reports its commit, or in which a subsequent log names that commit. The
/// other lines of the log are about other commits.
pub(in crate::extract) fn commit_line<'t>(text: &'t str, command: &str) -> Option<&'t str> {
    let is_hash = |word: &str| word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let names_it = |line: &str| {
        line.split_once(' ').is_some_and(|(hash, subject)| {
            is_hash(hash) && subject.contains(' ') && command.contains(subject.trim())
        })
    };
    text.lines().find(|line| line.starts_with('[') && line.contains("] ") || names_it(line))
}

/// Programs that search.
const SEARCHES: [&str; 5] = ["grep", "egrep", "rg", "ag", "ack"];

/// Maximum number of bytes in an answer that is quoted.
const ANSWER: usize = 100;

/// Returns the answer of a service if it is short or, for a search, the line that says how much was found.
pub(in crate::extract) fn short_answer(text: &str) -> Option<&str> {
    let (first, more) = text.trim().split_once('\n').unwrap_or((text.trim(), ""));
    let is_whole = more.is_empty() || first.starts_with("Found ");
    Some(first.trim_end_matches(':')).filter(|first| is_whole && (1..=ANSWER).contains(&first.len()))
}

/// Reads a result. `failed` is the statement of the harness. `last` is the end of the text that states how a process
/// ended, after earlier parts of its output.
pub(in crate::extract) fn read(text: &str, last: &str, failed: bool, call: CallTraits<'_>) -> Outcome {
    let (tail, shows) = (tail(text), call.shows);
    let exit = if shows && !failed { None } else { exit_code(last) };
    let bad_exit = exit.as_deref().is_some_and(|code| code != "0");
    let stated = if failed || bad_exit { Some(false) } else { exit.as_ref().map(|_| true) };
    let report = if stated == Some(false) || !shows { error_line(text) } else { None };
    let is_search = SEARCHES.contains(&call.last) && exit.as_deref().is_none_or(|code| code == "1");
    let shown = if call.checks.is_empty() { Shown::Unclear } else { Shown::of(text, call.checks.len() == 1) };
    // A check that runs twice may have failed once and passed then.
    let families: HashSet<&str> = call.checks.iter().map(|check| check.family.as_str()).collect();
    let is_repeated = families.len() < call.checks.len() && stated != Some(false);
    let (ending, blames_checks) = match stated {
        _ if shown == Shown::Fails && is_repeated => (Ending::Unknown, false),
        _ if shown == Shown::Fails => (Ending::Failed, true),
        // A search that finds nothing exits with 1 and prints nothing, which is not a failure.
        Some(false) if is_search && report.is_none() => (Ending::NothingFound, false),
        Some(false) => (Ending::Failed, call.checks.iter().all(|check| check.proof.fails)),
        _ if !call.checks.is_empty() => (passing(call.checks, shown), false),
        None if report.is_some() && call.is_typed => (Ending::Failed, false),
        _ if report.is_some() || !call.is_proved => (Ending::Unknown, false),
        _ => (Ending::Ok, false),
    };
    // A stated success of checks overrides lines that look like failures.
    let is_stated = stated == Some(true) && call.checks.iter().all(|check| check.proof.passes);
    let ending = if is_stated && !call.checks.is_empty() { Ending::Ok } else { ending };
    let telling = match ending {
        Ending::NothingFound => None,
        Ending::Unknown if call.checks.is_empty() && shows => report,
        Ending::Failed | Ending::Unknown if call.checks.is_empty() => report.or_else(|| last_line(tail)),
        Ending::Failed => failing_line(text, report).or_else(|| last_line(tail)),
        _ if shows => None,
        _ => telling_line(tail, &patterns().passes)
            .or_else(|| telling_line(tail, &patterns().partly))
            .filter(|_| !call.checks.is_empty())
            .or_else(|| last_line(tail)),
    };
    let telling = telling.map(|line| format!("{}{}", head(line.trim(), LINE_MAX), place(text, line)));
    Outcome { ending, blames_checks, exit, telling }
}

/// Returns how checks ended whose call did not fail. If the exit code of the call is not theirs, only the output
/// proves that they passed, and the output of a filter only if it contains the sum of all results.
fn passing(checks: &[Check], shown: Shown) -> Ending {
    let is_seen = checks.iter().all(|check| !check.is_filtered);
    let is_ok = checks.iter().all(|check| check.proof.passes)
        || shown == Shown::Passes
        || is_seen && matches!(shown, Shown::PassesPartly | Shown::Nothing);
    if is_ok { Ending::Ok } else { Ending::Unknown }
}

/// What the output of checks says about their outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// A line reports a failure.
    Fails,
    /// A line sums up the results, and nothing failed.
    Passes,
    /// Some parts passed.
    PassesPartly,
    /// The checks printed nothing.
    Nothing,
    /// The output says neither.
    Unclear,
}

impl Shown {
    /// `is_single` is whether one check printed all of the text.
    fn of(text: &str, is_single: bool) -> Self {
        let Patterns { fails, prints, shell, passes, partly, passing } = patterns();
        let has = |pattern: &Option<Regex>, line: &str| {
            pattern.as_ref().is_some_and(|pattern| pattern.is_match(line))
        };
        let lines = || text.lines().map(str::trim).filter(|line| line.len() <= 1_000 && !is_noise(line));
        let sum = lines().enumerate().filter(|(_, line)| has(passes, line)).last().map(|(at, _)| at);
        let is_last = |at: usize| sum.is_none_or(|sum| sum < at);
        let is_fail = |at: usize, line: &str| {
            has(fails, line)
                || has(prints, line) && (!is_single || is_last(at))
                || has(shell, line) && is_last(at)
        };
        // The name of a test that passes may contain any words.
        if lines().enumerate().any(|(at, line)| is_fail(at, line) && !has(passing, line)) {
            Self::Fails
        } else if !is_single && lines().any(|line| has(shell, line)) {
            Self::Unclear
        } else if sum.is_some() {
            Self::Passes
        } else if lines().any(|line| has(partly, line) || has(passing, line)) {
            Self::PassesPartly
        } else if lines().all(str::is_empty) {
            Self::Nothing
        } else {
            Self::Unclear
        }
    }
}

/// Patterns of lines in the output of checks. `None` if there are no patterns.
struct Patterns {
    fails: Option<Regex>,
    prints: Option<Regex>,
    shell: Option<Regex>,
    passes: Option<Regex>,
    partly: Option<Regex>,
    passing: Option<Regex>,
}

fn patterns() -> &'static Patterns {
    static FOUND: LazyLock<Patterns> = LazyLock::new(|| {
        let any = |list: &[String]| Regex::new(&list.join("|")).ok().filter(|_| !list.is_empty());
        Patterns {
            fails: any(&WORDS.fails),
            prints: any(&WORDS.prints),
            shell: any(&WORDS.shell),
            passes: any(&WORDS.passes),
            partly: any(&WORDS.partly),
            passing: any(&WORDS.passing),
        }
    });
    &FOUND
}

/// Returns the line of a failed check that says most: an error with a code, the first line that reports a failure, or
/// the line that looks like an error.
fn failing_line<'t>(text: &'t str, report: Option<&'t str>) -> Option<&'t str> {
    let has_code = |line: &&str| literals(line).take(12).any(|literal| literal.kind == LiteralKind::Code);
    let Patterns { fails, prints, shell, passing, .. } = patterns();
    let is_fail = |line: &&str| {
        let has =
            |pattern: &Option<Regex>| pattern.as_ref().is_some_and(|pattern| pattern.is_match(line.trim()));
        is_telling(line) && [fails, prints, shell].into_iter().any(has) && !has(passing)
    };
    report.filter(has_code).or_else(|| text.lines().find(is_fail)).or(report)
}

/// Returns the last line that matches a pattern.
fn telling_line<'t>(text: &'t str, pattern: &Option<Regex>) -> Option<&'t str> {
    let pattern = pattern.as_ref()?;
    text.lines().rev().find(|line| is_telling(line) && pattern.is_match(line.trim()))
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
    text.get(crate::extract::language::plain::cut_after(text, text.len() - TAIL)..).unwrap_or_default()
}

/// Returns the exit code that a harness states in the first or the last lines of a result. Other lines may be about the
/// exit codes of other programs.
fn exit_code(result: &str) -> Option<String> {
    let is_said = |line: &&str| !line.trim().is_empty();
    let last = result.lines().rev().filter(is_said).take(3);
    let first = result.lines().filter(is_said).take(6).take_while(|line| line.len() < 200);
    last.chain(first).find_map(|line| {
        let at = WORDS.exits.iter().filter_map(|mark| line.rfind(mark).map(|at| at + mark.len())).max()?;
        let rest = line.get(at..)?.trim_start();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        rest.get(..digits).filter(|code| (1..=3).contains(&code.len())).map(str::to_owned)
    })
}

/// Returns whether a line is printed regardless of the outcome.
fn is_noise(line: &str) -> bool {
    let is_exit = WORDS.exits.iter().any(|mark| line.contains(mark)) && line.len() < 60;
    is_exit
        || WORDS.noise.iter().any(|noise| line.starts_with(noise))
        || WORDS.progress.iter().any(|part| line.contains(part))
}

fn is_telling(line: &str) -> bool {
    let line = line.trim();
    let letters = line.chars().filter(|c| c.is_alphabetic()).count();
    // Borders, brackets and lines of data say nothing.
    letters >= 2 && !is_noise(line) && line.len() <= 1_000 && (line.contains(' ') || line.len() <= 60)
}

fn last_line(text: &str) -> Option<&str> {
    text.lines().rev().take(LAST_LINES).find(|line| is_telling(line))
}
