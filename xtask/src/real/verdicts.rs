//! Verdicts of summaries (*fixed*, *ok later*, *open when last checked*) against the recorded outcome of the check that
//! the claim names by its position.
//!
//! The judgement reads the recorded output with signs of its own (`verdicts.toml`), follows a process through its polls
//! to its end, and looks for a later run of the same command. What it cannot tell it says: *no sign*.

use super::corpus::{FreshLedger, RealSession};
use super::requests::events;
use crate::program::ChoreResult;
use futures_executor::block_on;
use regex::{Regex, RegexSet};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use wunderblock::ContextOptions;
use wunderblock::core::event::{Event, Fact};
use wunderblock::core::id::CallId;
use wunderblock::core::message::Part;
use wunderblock::core::ports::Bodies;
use wunderblock::core::units::{Seq, Tokens};

/// Signs in outputs; `verdicts.toml` describes each list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignLists {
    failed: Vec<String>,
    passed: Vec<String>,
    harmless: Vec<String>,
    running: Vec<String>,
}

struct Signs {
    failed: RegexSet,
    passed: RegexSet,
    harmless: RegexSet,
    running: Vec<Regex>,
    claim: Regex,
    colour: Regex,
}

impl Signs {
    fn read() -> ChoreResult<Self> {
        let lists: SignLists = toml::from_str(include_str!("verdicts.toml"))?;
        Ok(Self {
            failed: RegexSet::new(lists.failed)?,
            passed: RegexSet::new(lists.passed)?,
            harmless: RegexSet::new(lists.harmless)?,
            running: lists.running.iter().map(|sign| Regex::new(sign)).collect::<Result<_, _>>()?,
            claim: Regex::new(r"→ (fixed|ok later|open when last checked).*?((?: #\d+)+)$")?,
            colour: Regex::new("\u{1b}?\\[[0-9;]+m")?,
        })
    }

    /// Returns what an output shows: a failure if any line does.
    fn of(&self, output: &str) -> Outcome {
        let output = self.colour.replace_all(output, "");
        let is_failure = |line: &str| self.failed.is_match(line) && !self.harmless.is_match(line);
        if output.lines().any(is_failure) {
            Outcome::Failed
        } else if output.lines().any(|line| self.passed.is_match(line)) {
            Outcome::Passed
        } else {
            Outcome::NoSign
        }
    }
}

/// What the record shows of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Passed,
    Failed,
    NoSign,
    /// No call with a result stands at the position.
    NoCheck,
}

/// Verdict of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum Claim {
    Fixed,
    OkLater,
    Open,
}

impl Claim {
    const fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::OkLater => "ok later",
            Self::Open => "open when last checked",
        }
    }
}

/// A claim with what the record shows.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct VerdictRow {
    session: String,
    claim: Claim,
    /// Position of the check that the claim names.
    check: u64,
    outcome: Outcome,
    /// Position of a later run of the same command that passed; only for open claims.
    passed_later: Option<u64>,
    /// Last position that the summary with the claim covers.
    through: u64,
}

impl VerdictRow {
    /// Returns whether the record contradicts the claim.
    fn is_wrong(&self) -> bool {
        match self.claim {
            Claim::Fixed | Claim::OkLater => self.outcome == Outcome::Failed,
            Claim::Open => {
                self.outcome == Outcome::Passed || self.passed_later.is_some_and(|at| at <= self.through)
            }
        }
    }

    /// Returns whether an open claim was true in its range, but the command passed after it.
    fn is_stale(&self) -> bool {
        !self.is_wrong() && self.passed_later.is_some()
    }
}

/// A call with its result.
#[derive(Default)]
struct Check {
    input: String,
    /// Positions of the call and of its result.
    at: (Seq, Seq),
    output: String,
    failed: bool,
}

/// Holds the claims in a session's summaries against its record. `say` receives the claims that it contradicts.
pub(crate) fn rows(session: &RealSession, window: u64, say: &dyn Fn(&str)) -> ChoreResult<Vec<VerdictRow>> {
    let signs = Signs::read()?;
    let ledger = FreshLedger::open()?;
    let own = ledger.import_whole(session)?;
    let options = ContextOptions { window: Some(Tokens(window)), ..ContextOptions::default() };
    // A refused request has no summaries.
    let Ok(_) = block_on(own.context(options)) else { return Ok(Vec::new()) };
    let events = events(&own)?;
    let bodies = block_on(ledger.engine.bodies(&events))?;
    let checks = checks(&events, &bodies);
    let mut seen = BTreeSet::new();
    let mut rows = Vec::new();
    for (claim, place, (line, through)) in claims(&events, &bodies, &signs) {
        if !seen.insert((claim, place)) {
            continue;
        }
        let at = checks.iter().position(|check| check.at.0 == place || check.at.1 == place);
        let check = at.and_then(|at| Some((at, checks.get(at)?)));
        let shown = check.map_or(Outcome::NoCheck, |(at, _)| outcome(&checks, at, &signs));
        let later = check.filter(|_| claim == Claim::Open).and_then(|(at, check)| {
            let same = |later: &usize| checks.get(*later).is_some_and(|other| other.input == check.input);
            let mut runs = (at + 1..checks.len()).filter(same);
            runs.find(|later| outcome(&checks, *later, &signs) == Outcome::Passed)
        });
        let passed_later = later.and_then(|at| checks.get(at)).map(|check| check.at.1.0);
        let row = VerdictRow {
            session: session.title().to_owned(),
            claim,
            check: place.0,
            outcome: shown,
            passed_later,
            through: through.0,
        };
        if row.is_wrong() {
            let output = check.map_or("", |(_, check)| &check.output);
            let sign = output.lines().find(|line| signs.failed.is_match(line)).unwrap_or_default();
            say(&format!(
                "{} at {window}: {}\n    record: {shown:?} {passed_later:?} {sign}\n",
                row.session,
                line.trim()
            ));
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Returns what the record shows of a check. A process that was still running is followed through its polls.
fn outcome(checks: &[Check], at: usize, signs: &Signs) -> Outcome {
    let Some(check) = checks.get(at) else { return Outcome::NoCheck };
    if check.failed {
        return Outcome::Failed;
    }
    let mut output = check.output.clone();
    let process = |text: &str| {
        let found = signs.running.iter().find_map(|sign| sign.captures(text));
        found.and_then(|found| Some(found.get(1)?.as_str().to_owned()))
    };
    let mut running = process(&output);
    for poll in checks.iter().skip(at + 1) {
        let Some(id) = &running else { break };
        if poll.input.contains(id.as_str()) {
            output = format!("{output}\n{}", poll.output);
            running = process(&poll.output);
        }
    }
    // The chunks before the last may quote failures of tests that are expected; the end of the process decides.
    let ends =
        |code: &str| output.lines().any(|line| line.trim() == format!("Process exited with code {code}"));
    match signs.of(&output) {
        Outcome::Failed if ends("0") && !output.lines().any(|line| line.starts_with("FAIL")) => {
            Outcome::Passed
        }
        outcome => outcome,
    }
}

/// Returns the calls of a session with their results, in the order of the results.
fn checks(events: &[Event], bodies: &impl Bodies) -> Vec<Check> {
    let mut calls: HashMap<&CallId, (Seq, String)> = HashMap::new();
    let mut checks = Vec::new();
    for event in events {
        let Some(Fact::MessageAppended(said)) = &event.fact else { continue };
        for part in &said.message.parts {
            match part {
                Part::ToolCall { call, input, .. } => {
                    calls.insert(call, (event.seq, bodies.of(input).unwrap_or_default().to_owned()));
                }
                Part::ToolResult { call, content, failed, .. } => {
                    let texts = content.iter().flat_map(Part::leaves).filter(|(part, _)| !part.is_data());
                    let output: Vec<&str> = texts.filter_map(|(_, body)| bodies.of(body)).collect();
                    let (asked, input) = calls.get(call).cloned().unwrap_or((event.seq, String::new()));
                    let output = output.join("\n");
                    checks.push(Check { input, at: (asked, event.seq), output, failed: *failed });
                }
                _ => {}
            }
        }
    }
    checks
}

/// Returns the claims in the summaries that the session's lane made, each with the position of its check, its line and
/// the last position that the summary covers.
fn claims(events: &[Event], bodies: &impl Bodies, signs: &Signs) -> Vec<(Claim, Seq, (String, Seq))> {
    let mut found = Vec::new();
    for event in events {
        let (texts, through): (Vec<&str>, Seq) = match &event.fact {
            Some(Fact::SessionCompacted(made)) if made.lane.is_some() => {
                (made.summary.iter().filter_map(|body| bodies.of(body)).collect(), made.to_seq)
            }
            Some(Fact::ContextInjected(injected)) => {
                (injected.items.iter().filter_map(|item| bodies.of(&item.body)).collect(), event.seq)
            }
            _ => continue,
        };
        for line in texts.iter().flat_map(|text| text.lines()) {
            let Some(parts) = signs.claim.captures(line) else { continue };
            let claim = match parts.get(1).map(|word| word.as_str()) {
                Some("fixed") => Claim::Fixed,
                Some("ok later") => Claim::OkLater,
                _ => Claim::Open,
            };
            // The last position is that of the check; those before it are of what it is about.
            let places = parts.get(2).map_or("", |places| places.as_str());
            let last = places.rsplit('#').next().and_then(|place| place.trim().parse().ok());
            found.extend(last.map(|place| (claim, Seq(place), (line.to_owned(), through))));
        }
    }
    found
}

/// Returns the totals as Markdown.
pub(crate) fn totals(rows: &[VerdictRow]) -> ChoreResult<String> {
    let mut out = String::from(
        "| claim | claims | the record agrees | contradicts | passed after the range | no sign | no check there |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut by: BTreeMap<Claim, Vec<&VerdictRow>> = BTreeMap::new();
    for row in rows {
        by.entry(row.claim).or_default().push(row);
    }
    for (claim, rows) in by {
        let count = |is: &dyn Fn(&VerdictRow) -> bool| rows.iter().filter(|row| is(row)).count();
        let wrong = count(&VerdictRow::is_wrong);
        let stale = count(&VerdictRow::is_stale);
        let is_other = |row: &VerdictRow| !row.is_wrong() && !row.is_stale();
        let unknown = count(&|row| is_other(row) && row.outcome == Outcome::NoSign);
        let absent = count(&|row| is_other(row) && row.outcome == Outcome::NoCheck);
        let agrees = rows.len() - wrong - stale - unknown - absent;
        writeln!(
            out,
            "| {} | {} | {agrees} | {wrong} | {stale} | {unknown} | {absent} |",
            claim.name(),
            rows.len()
        )?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(at: u64, input: &str, output: &str) -> Check {
        Check {
            input: input.to_owned(),
            at: (Seq(at), Seq(at + 1)),
            output: output.to_owned(),
            failed: false,
        }
    }

    #[test]
    fn an_output_shows_a_failure_behind_a_pipe_and_success_in_spite_of_quoted_errors() {
        let signs = Signs::read().unwrap();
        assert_eq!(signs.of("--- FAIL: TestRetry (0.1s)\nexit code 0"), Outcome::Failed);
        assert_eq!(signs.of("ok  \texample.org/retry\t0.4s\n0 failed"), Outcome::Passed);
        assert_eq!(signs.of("(pass) reports 3 failed uploads\n12 passed"), Outcome::Passed);
        assert_eq!(signs.of("done"), Outcome::NoSign);
    }

    #[test]
    fn a_process_is_followed_to_its_end() {
        let signs = Signs::read().unwrap();
        let checks = [
            check(
                1,
                "{\"cmd\":\"run tests\"}",
                "Process running with session ID 4711\nOutput:\n1 failed attempt is retried",
            ),
            check(3, "{\"session_id\":4711}", "Process exited with code 0\nOutput:\n12 passed"),
        ];
        assert_eq!(outcome(&checks, 0, &signs), Outcome::Passed);
    }
}
