//! Several programs that import the same file at the same time.

use super::random::Random;
use super::record::message;
use super::report::AttackReport;
use crate::program::{ChoreResult, Sandbox};
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Maximum time for one program, which normally takes about a second.
const PATIENCE: Duration = Duration::from_secs(60);
const SESSION: &str = "many-at-once";

/// Plan of one run.
struct ImporterRun {
    /// Number of messages in the file.
    messages: usize,
    /// Number of messages imported before the run; 0 if the ledger is new.
    known: usize,
    /// Start time of each program, and whether it builds a request instead of importing.
    starts: Vec<(Duration, bool)>,
}

pub(super) fn run(count: u64, seed: u64, binary: &Path, folder: &Path) -> ChoreResult<AttackReport> {
    let mut report = AttackReport::new("runs of several importers");
    let mut random = Random::new(seed ^ 0x1397);
    let mut programs = 0;
    for number in 0..count {
        let home = tempfile::tempdir_in(folder)?;
        let program = Sandbox::new(binary, home.path())?;
        let run = any_run(&mut random);
        programs += run.starts.len();
        if let Err(error) = one(&program, &run) {
            let kind: String = error.to_string().split(['"', '\n']).next().unwrap_or_default().to_owned();
            let kind: String = kind.chars().filter(|c| !c.is_ascii_digit()).take(90).collect();
            let starts: Vec<String> = run
                .starts
                .iter()
                .map(|(at, builds)| {
                    format!("{} at {} ms", if *builds { "context" } else { "import" }, at.as_millis())
                })
                .collect();
            let told = format!(
                "run {number}: {} of {} messages known, {}: {error}",
                run.known,
                run.messages,
                starts.join(", ")
            );
            report.fail(&kind, told);
        }
        report.tried();
    }
    report.note(format!("{programs} programs"));
    Ok(report)
}

fn any_run(random: &mut Random) -> ImporterRun {
    // Most files exceed one batch (2,000 events) and one chunk (1 MB).
    let messages =
        [600, 3_000, 5_000, 9_000].get(random.below(4)).copied().unwrap_or(600) + random.below(400);
    let known = if random.below(3) == 0 { random.below(messages) } else { 0 };
    let whole = 40 + messages / 12;
    let starts = (0..2 + random.below(3))
        .map(|place| {
            let at = if place == 0 { 0 } else { random.below(whole) };
            (Duration::from_millis(at as u64), random.below(4) == 0)
        })
        .collect();
    ImporterRun { messages, known, starts }
}

fn transcript(messages: usize) -> String {
    let mut out = String::new();
    for number in 0..messages {
        let parent = (number > 0).then(|| format!("r{}", number - 1));
        let role = if number % 2 == 0 { "user" } else { "assistant" };
        let said = format!("message {number} of many, {}", "with some words in it ".repeat(3));
        out.push_str(&message(SESSION, &format!("r{number}"), parent.as_deref(), role, &said));
        out.push('\n');
    }
    out
}

fn one(program: &Sandbox, run: &ImporterRun) -> ChoreResult<()> {
    let whole = transcript(run.messages);
    if run.known > 0 {
        program.write("file.jsonl", transcript(run.known))?;
        program.text(&["import", "file.jsonl", "--no-index", "-q"])?;
    }
    program.write("file.jsonl", &whole)?;
    let begun = Instant::now();
    let mut running: Vec<(usize, Child)> = Vec::new();
    let mut starts: Vec<_> = run.starts.iter().enumerate().collect();
    starts.sort_by_key(|(_, (at, _))| *at);
    for (place, (at, builds)) in starts {
        std::thread::sleep(at.saturating_sub(begun.elapsed()));
        let lane = format!("lane-{place}");
        let args: &[&str] = if *builds {
            &["context", "file.jsonl", "--window", "8000", "--lane", &lane, "--out", "/dev/null", "-q"]
        } else {
            &["import", "file.jsonl", "--no-index", "-q"]
        };
        let mut command = program.command(args);
        // The output fits into a pipe, so it need not be read before the program ends.
        running.push((place, command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?));
    }
    let mut wrong = Vec::new();
    for (place, child) in running {
        if let Err(error) = ends(child) {
            wrong.push(format!("program {place}: {error}"));
        }
    }
    let exported = limited(program, &["export", SESSION, "--original"])?;
    if exported != whole.as_bytes() {
        wrong.push(format!("the original has {} bytes, not {}", exported.len(), whole.len()));
    }
    let again = limited(program, &["import", "file.jsonl", "--json", "--no-index"])?;
    let again: Value = serde_json::from_slice(&again)?;
    if again.get("unchanged") != Some(&Value::Bool(true)) {
        wrong.push("a repeated import reports new content".to_owned());
    }
    let events = String::from_utf8(limited(program, &["export", SESSION])?)?;
    let said = events.lines().filter(|line| line.contains(r#""kind":"message.appended""#)).count();
    if said != run.messages {
        wrong.push(format!("{said} messages, not {}", run.messages));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ").into()) }
}

/// Waits until a program ends. If the program failed, the error contains its output.
fn ends(mut child: Child) -> ChoreResult<()> {
    let begun = Instant::now();
    loop {
        if child.try_wait()?.is_some() {
            let done = child.wait_with_output()?;
            if done.status.success() {
                return Ok(());
            }
            return Err(format!("{}: {}", done.status, String::from_utf8_lossy(&done.stderr).trim()).into());
        }
        if begun.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Err("it does not end".into());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Returns the output of a program, or an error if it does not end in time.
fn limited(program: &Sandbox, args: &[&str]) -> ChoreResult<Vec<u8>> {
    let out = program.path("out");
    let mut command = program.command(args);
    let child = command.stdout(std::fs::File::create(&out)?).stderr(Stdio::piped()).spawn()?;
    ends(child).map_err(|error| format!("{}: {error}", args.first().copied().unwrap_or_default()))?;
    Ok(std::fs::read(out)?)
}
