//! Calls of an agent's hook: processor time and wall time of whole processes, in a session of 100,000 events.

use crate::bench::figure::Figure;
use crate::bench::measure::{Durations, SEED, children_cpu, note};
use crate::program::{ChoreResult, Sandbox};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::Stdio;
use wunderblock_testkit::generate::{self, Random};

/// Length of the session in events.
const EVENTS: usize = 100_000;
/// Number of calls. The system counts processor time in hundredths of a second, so only their sum is exact.
const CALLS: usize = 60;
/// Length in bytes of the output that each call finds in the transcript.
const OUTPUT: usize = 15_000;

pub(in crate::bench) fn run(program: &Path, folder: &Path) -> ChoreResult<Vec<Figure>> {
    note("  hooks");
    let sandbox = Sandbox::new(program, folder)?;
    let transcript = sandbox.path("session.jsonl");
    let mut out = BufWriter::new(File::create(&transcript)?);
    let mut last = String::new();
    for line in generate::claude_code_lines(EVENTS, SEED) {
        writeln!(out, "{line}")?;
        last = line;
    }
    let (mut last, mut random): (Value, _) = (serde_json::from_str(&last)?, Random::new(SEED));
    out.flush()?;
    let path = transcript.display().to_string();
    sandbox.bytes(&["import", &path, "--quiet", "--no-index"])?;
    let input = json!({
        "hook_event_name": "PostToolUse", "session_id": last.get("sessionId"), "transcript_path": path, "tool_name": "Bash",
        "tool_input": { "command": "make" }, "tool_response": { "stdout": "x".repeat(OUTPUT) },
    })
    .to_string();
    let (mut calls, before) = (Durations::default(), children_cpu());
    for _ in 0..CALLS {
        add_output(&transcript, &mut last, &mut random)?;
        calls.take(|| hook(&sandbox, &input))?;
    }
    let spent = children_cpu().saturating_sub(before);
    let before = children_cpu();
    for _ in 0..CALLS {
        sandbox.bytes(&["--version"])?;
    }
    let started = children_cpu().saturating_sub(before);
    let each = |total: std::time::Duration| total.as_secs_f64() * 1e3 / CALLS as f64;
    Ok(vec![
        Figure::millis(EVENTS, "hook with 15 KB of new output: processor time", each(spent)).at_most(8.0),
        Figure::millis(EVENTS, "start of the program alone: processor time", each(started)),
        Figure::millis(EVENTS, "hook with 15 KB of new output, p50", calls.percentile(50)),
        Figure::millis(EVENTS, "hook with 15 KB of new output, p95", calls.percentile(95)).at_most(15.0),
    ])
}

/// Adds the output of a tool to the transcript, as its agent does before it calls the hook. The output hardly
/// compresses. The record follows `last`, and replaces it.
fn add_output(transcript: &Path, last: &mut Value, random: &mut Random) -> ChoreResult<()> {
    let mut output = String::with_capacity(OUTPUT + 20);
    while output.len() < OUTPUT {
        output.push_str(&format!("{:016x} ok\n", random.next_u64()));
    }
    let fields = last.as_object_mut().ok_or("a record is not an object")?;
    let parent = fields.insert("uuid".to_owned(), json!(format!("{:016x}-hook", random.next_u64())));
    let message = json!({
        "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "call", "content": output }],
    });
    let own = [("parentUuid", json!(parent)), ("type", json!("user")), ("message", message)];
    fields.extend(own.map(|(name, value)| (name.to_owned(), value)));
    Ok(writeln!(File::options().append(true).open(transcript)?, "{last}")?)
}

fn hook(sandbox: &Sandbox, input: &str) -> ChoreResult<()> {
    let mut child = sandbox.command(&["hook", "claude-code"]).stdin(Stdio::piped()).spawn()?;
    child.stdin.take().ok_or("the hook has no input")?.write_all(input.as_bytes())?;
    let ended = child.wait()?;
    if ended.success() { Ok(()) } else { Err(format!("the hook ended with {ended}").into()) }
}
