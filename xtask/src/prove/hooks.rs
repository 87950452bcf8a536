//! Live sessions of an agent, several at a time on one ledger, whose hooks are killed at random moments.

use super::random::{Random, delay};
use super::record::{TranscriptFile, file};
use super::report::AttackReport;
use crate::program::{ChoreResult, Sandbox};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Number of sessions per ledger, and of sessions at a time.
const EACH: u64 = 40;
const AT_A_TIME: u64 = 4;
/// Maximum time for a hook, which normally takes about 15 ms.
const PATIENCE: Duration = Duration::from_secs(60);
/// Range of the moments of kills.
const WHOLE: Duration = Duration::from_millis(40);

/// Events between the start and the end of a session.
const EVENTS: [&str; 6] =
    ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SubagentStop", "PreCompact"];

/// A session that has ended.
struct EndedSession {
    id: String,
    transcript: Vec<u8>,
    /// Number of messages in the transcript.
    messages: usize,
    /// Number of hooks, and of those that were killed before they ended.
    hooks: (u64, u64),
    /// Whether the last hook ended by itself, so that the session must be in the ledger.
    is_captured: bool,
}

pub(super) fn run(count: u64, seed: u64, binary: &Path, folder: &Path) -> ChoreResult<AttackReport> {
    let mut report = AttackReport::new("live sessions");
    let (mut hooks, mut killed, mut captured) = (0, 0, 0);
    for first in (0..count).step_by(EACH as usize) {
        let home = tempfile::tempdir_in(folder)?;
        let program = Sandbox::new(binary, home.path())?;
        std::fs::create_dir_all(program.path("projects"))?;
        let numbers: Vec<u64> = (first..count.min(first + EACH)).collect();
        let share = numbers.len().div_ceil(AT_A_TIME as usize);
        let sessions: Vec<Result<EndedSession, String>> = std::thread::scope(|scope| {
            let threads = numbers.chunks(share).map(|numbers| {
                let program = &program;
                scope.spawn(move || {
                    let live =
                        |number: &u64| live(program, &mut Random::new(seed ^ 0x00a9_e217 ^ (number << 32)));
                    numbers
                        .iter()
                        .map(|number| live(number).map_err(|error| error.to_string()))
                        .collect::<Vec<_>>()
                })
            });
            let threads: Vec<_> = threads.collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
        });
        let mut ended = Vec::new();
        for session in sessions {
            match session {
                Ok(session) => ended.push(session),
                Err(error) => report.fail("a session", error),
            }
            report.tried();
        }
        for session in &ended {
            hooks += session.hooks.0;
            killed += session.hooks.1;
            captured += u64::from(session.is_captured);
        }
        for (kind, failure) in check(&program, &ended)? {
            report.fail(kind, format!("sessions from {first}: {failure}"));
        }
    }
    report.note(format!("{hooks} hooks, {killed} of them killed; {captured} sessions needed no import"));
    Ok(report)
}

/// Runs a session as an agent does: it appends to the transcript and calls hooks.
fn live(program: &Sandbox, random: &mut Random) -> ChoreResult<EndedSession> {
    let mut transcript = TranscriptFile::new(random);
    let path = program.path(&format!("projects/{}.jsonl", transcript.session));
    let mut hooks = (0, 0);
    let mut call = |event: &str, random: &mut Random, session: &str| -> ChoreResult<bool> {
        let input = json!({
            "hook_event_name": event, "session_id": session, "transcript_path": path, "cwd": program.path(""),
            "source": "startup", "prompt": "go on", "trigger": "auto", "reason": "other",
            "tool_name": "Read", "tool_input": {}, "tool_use_id": "t",
        });
        let ended = hook(program, &input, random)?;
        hooks = (hooks.0 + 1, hooks.1 + u64::from(!ended));
        Ok(ended)
    };
    call("SessionStart", random, &transcript.session)?;
    let mut written = 0;
    let write = |bytes: &[u8]| -> ChoreResult<()> {
        Ok(OpenOptions::new().create(true).append(true).open(&path)?.write_all(bytes)?)
    };
    for _ in 0..1 + random.below(6) {
        let steps = 1 + random.below(6);
        transcript.grow(random, steps);
        let whole = file(&transcript.records);
        // Sometimes a hook is called while a line is being written, and sometimes no hook is called.
        if random.chance(20) {
            let half = written + random.below(whole.len() - written);
            write(whole.get(written..half).unwrap_or_default())?;
            written = half;
            call("Notification", random, &transcript.session)?;
        }
        write(whole.get(written..).unwrap_or_default())?;
        written = whole.len();
        if random.chance(80)
            && let Some(event) = EVENTS.get(random.below(EVENTS.len()))
        {
            call(event, random, &transcript.session)?;
        }
    }
    let is_captured = call("SessionEnd", random, &transcript.session)?;
    let messages = transcript.records.iter().filter(|record| record.id.is_some()).count();
    let (id, transcript) = (transcript.session.clone(), file(&transcript.records));
    Ok(EndedSession { id, transcript, messages, hooks, is_captured })
}

/// Calls the hook, and kills half of the calls. Returns whether the program ended by itself.
fn hook(program: &Sandbox, input: &Value, random: &mut Random) -> ChoreResult<bool> {
    let mut command = program.command(&["hook", "claude-code"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that is killed early does not read its input.
        let _ = stdin.write_all(input.to_string().as_bytes());
    }
    let limit = if random.chance(50) { Some(delay(random, WHOLE)) } else { None };
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            let said = child.wait_with_output()?.stderr;
            let is_quiet = status.success() && said.is_empty();
            return if is_quiet {
                Ok(true)
            } else {
                Err(format!("a hook: {status}: {}", String::from_utf8_lossy(&said)).into())
            };
        }
        if begun.elapsed() >= limit.unwrap_or(PATIENCE) {
            child.kill()?;
            child.wait()?;
            return if limit.is_some() { Ok(false) } else { Err("a hook does not end".into()) };
        }
        std::thread::sleep(Duration::from_micros(300));
    }
}

/// Checks that no process is left, and that the ledger contains each transcript once: before an import where the last
/// hook ended by itself, and after an import everywhere.
fn check(program: &Sandbox, sessions: &[EndedSession]) -> ChoreResult<Vec<(&'static str, String)>> {
    let mut failures = Vec::new();
    let left = left_behind(&program.path(""));
    if !left.is_empty() {
        failures.push(("processes are left", format!("{left:?}")));
    }
    let is_whole = |session: &EndedSession| {
        let stored = program.bytes(&["export", &session.id, "--original"]);
        stored.is_ok_and(|stored| stored == session.transcript)
    };
    for session in sessions.iter().filter(|session| session.is_captured && !is_whole(session)) {
        let log =
            std::fs::read_to_string(program.path(".local/state/wunderblock/hook.log")).unwrap_or_default();
        failures
            .push(("the last hook ended, but the session is not captured", format!("{}; {log}", session.id)));
    }
    program.bytes(&["import", "projects", "-q"])?;
    for session in sessions {
        if !is_whole(session) {
            failures.push(("the original differs", session.id.clone()));
        }
        let events = program.lines(&["export", &session.id])?;
        let messages =
            events.iter().filter(|event| event.get("kind").is_some_and(|kind| kind == "message.appended"));
        let ids: Vec<String> = messages.filter_map(|event| Some(event.get("id")?.to_string())).collect();
        let distinct = ids.iter().collect::<BTreeSet<_>>().len();
        if (ids.len(), distinct) != (session.messages, session.messages) {
            let told =
                format!("{}: {} messages, {distinct} ids, not {}", session.id, ids.len(), session.messages);
            failures.push(("messages are lost or doubled", told));
        }
    }
    program.bytes(&["doctor"])?;
    Ok(failures)
}

/// Returns the ids of processes that still run with this home folder, where the system lists processes as files.
fn left_behind(home: &Path) -> Vec<String> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let home = format!("HOME={}", home.display());
    let is_left = |entry: &std::fs::DirEntry| {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == home.trim_end_matches('/').as_bytes())
    };
    let left = processes.flatten().filter(is_left);
    left.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}
