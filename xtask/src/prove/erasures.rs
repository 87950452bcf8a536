//! Erasures beside everything that makes something from the erased content.

use super::random::{Random, delay};
use super::record::{MarkedRecord, TranscriptFile, file};
use super::report::AttackReport;
use super::scan;
use crate::program::{ChoreResult, Sandbox};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::Duration;

/// Range of the moments of an erasure, from the start of the work beside it.
const WHOLE: Duration = Duration::from_millis(160);
/// Exit status of a program that gave way to another one.
const BUSY: i32 = 3;

/// Work beside an erasure.
const WORK: [&str; 7] = ["context", "compact", "index", "import", "hook", "restore", "rebuild"];

pub(super) fn run(count: u64, seed: u64, binary: &Path, folder: &Path) -> ChoreResult<AttackReport> {
    let mut report = AttackReport::new("erasures beside other work");
    let mut random = Random::new(seed ^ 0x0e7a_5e00);
    let mut outcomes: BTreeMap<String, u64> = BTreeMap::new();
    for number in 0..count {
        let home = tempfile::tempdir_in(folder)?;
        let program = Sandbox::new(binary, home.path())?;
        let work = WORK.get(random.below(WORK.len())).copied().unwrap_or_default();
        match one(&program, work, &mut random) {
            Ok(ended) => *outcomes.entry(format!("{work}: {ended}")).or_default() += 1,
            Err(error) => report.fail(work, format!("attempt {number}: {error}")),
        }
        report.tried();
    }
    for (outcome, times) in outcomes {
        report.note(format!("{times} × {outcome}"));
    }
    Ok(report)
}

/// Erases a session, a range of it, or a text, while other work on it goes on. Returns how both ended.
fn one(program: &Sandbox, work: &str, random: &mut Random) -> ChoreResult<String> {
    let mut transcript = TranscriptFile::new(random);
    let count = 200 + random.below(600);
    transcript.grow(random, count);
    program.write("file.jsonl", file(&transcript.records))?;
    program.text(&["import", "file.jsonl", "--no-index", "-q"])?;
    if work == "restore" {
        program.bytes(&["backup", "before.db"])?;
    }
    let known = transcript.records.len();
    transcript.grow(random, 100);
    let session = transcript.session.clone();
    let messages: Vec<&MarkedRecord> = transcript.records.iter().take(known).collect();
    let (erase, gone) = erasure(program, &session, &messages, random)?;
    let begun = start(program, work, &session, &file(&transcript.records))?;
    std::thread::sleep(delay(random, WHOLE));
    let mut erasing = program.command(&erase.iter().map(String::as_str).collect::<Vec<_>>());
    let erased = erasing.stdin(Stdio::null()).output()?;
    let beside = begun.wait_with_output()?;
    let ended = |done: &Output| done.status.code().map_or("killed".to_owned(), |code| code.to_string());
    let outcome = format!("erase {}, {work} {}", ended(&erased), ended(&beside));
    for (name, done) in [("erase", &erased), (work, &beside)] {
        let said = String::from_utf8_lossy(&done.stderr);
        let is_told = ["was replaced", "has no messages yet"].iter().any(|told| said.contains(told));
        if !matches!(done.status.code(), Some(0 | BUSY)) && !is_told {
            return Err(format!("{name} ended with {}: {}", ended(done), said.trim()).into());
        }
    }
    if erased.status.success() {
        is_gone(program, &session, &gone)?;
    }
    Ok(outcome)
}

/// Returns the arguments of an erasure, and the words that it erases.
fn erasure(
    program: &Sandbox,
    session: &str,
    records: &[&MarkedRecord],
    random: &mut Random,
) -> ChoreResult<(Vec<String>, Vec<String>)> {
    let all = || records.iter().map(|record| record.marker.clone()).collect();
    let words = |args: &[&str]| args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>();
    let messages: Vec<&&MarkedRecord> = records.iter().filter(|record| record.id.is_some()).collect();
    Ok(match random.below(3) {
        0 => (words(&["erase", session, "--yes"]), all()),
        1 => {
            // The opening event has position 1.
            let first = random.below(messages.len() / 2);
            let last = first + random.below(messages.len() - first);
            let marked = |word: &String| find(program, session, word);
            let gone: Vec<String> = messages
                .get(first..=last)
                .into_iter()
                .flatten()
                .map(|record| record.marker.clone())
                .collect();
            let ends: Vec<u64> =
                gone.first().into_iter().chain(gone.last()).map(marked).collect::<ChoreResult<_>>()?;
            let (from, to) = (ends.iter().min().copied(), ends.iter().max().copied());
            let range = format!("{session}#{}-{}", from.unwrap_or(2), to.unwrap_or(2));
            (words(&["erase", &range, "--yes"]), gone)
        }
        _ => {
            let record = records.get(random.below(records.len())).ok_or("no record")?;
            (words(&["erase", "--text", &record.marker, "--yes"]), vec![record.marker.clone()])
        }
    })
}

/// Returns the position of the message that contains a word.
fn find(program: &Sandbox, session: &str, word: &str) -> ChoreResult<u64> {
    let found = program.lines(&["grep", word, "--session", session, "--json"])?;
    let seqs = found.iter().filter_map(|hit| hit.get("seq").and_then(serde_json::Value::as_u64));
    seqs.min().ok_or_else(|| format!("{word} is not found").into())
}

fn start(program: &Sandbox, work: &str, session: &str, whole: &[u8]) -> ChoreResult<Child> {
    let spawn = |args: &[&str]| -> ChoreResult<Child> {
        let mut command = program.command(args);
        Ok(command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?)
    };
    match work {
        "context" => spawn(&["context", session, "--window", "8000", "--out", "beside.json", "-q"]),
        "compact" => spawn(&["compact", session, "--window", "8000", "-q"]),
        "index" => spawn(&["search", "word", "-q"]),
        "rebuild" => spawn(&["doctor", "--rebuild", "-q"]),
        "restore" => spawn(&["restore", "before.db", "--replace", "-q"]),
        "import" => {
            program.write("file.jsonl", whole)?;
            spawn(&["import", "file.jsonl", "-q"])
        }
        _ => {
            program.write("file.jsonl", whole)?;
            let mut child = spawn(&["hook", "claude-code"])?;
            let input = json!({
                "session_id": session, "transcript_path": program.path("file.jsonl"),
                "cwd": "/home/dev/wunderblock", "hook_event_name": "Stop",
            });
            if let Some(mut stdin) = child.stdin.take() {
                stdin.write_all(input.to_string().as_bytes())?;
            }
            Ok(child)
        }
    }
}

/// Checks that no answer, no later request and no byte of the ledger has the words.
fn is_gone(program: &Sandbox, session: &str, gone: &[String]) -> ChoreResult<()> {
    program.text(&["doctor", "-q"]).map_err(|error| format!("doctor: {error}"))?;
    program.run(&[
        "context",
        session,
        "--window",
        "60000",
        "--lane",
        "after",
        "--out",
        "after.json",
        "-q",
    ])?;
    let request = std::fs::read(program.path("after.json")).unwrap_or_default();
    let exported = program.run(&["export", session])?.stdout;
    let original = program.run(&["export", session, "--original"])?.stdout;
    let answers = [(exported, "the export"), (original, "the original"), (request, "a later request")];
    for (answer, name) in answers {
        let answer = String::from_utf8_lossy(&answer);
        if let Some(word) = gone.iter().find(|word| answer.contains(word.as_str())) {
            return Err(format!("{word} is in {name}").into());
        }
    }
    match scan::found(&program.path("ledger.db"), gone)?.first() {
        Some(found) => Err(found.clone().into()),
        None => Ok(()),
    }
}
